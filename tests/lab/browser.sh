#!/usr/bin/env bash
# The page of a laboratory in Chromium: drag, type, search, edit, pin, undo, export, reload; the keyboard alone; latency.
#   browser.sh PROGRAM FOLDER [latency]   the folder keeps the package of npm and the screenshots between runs
# Status 4: SKIPPED, because Chromium, Node.js or the package is missing.
set -u
program=$(realpath "$1") folder=$2 here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
skip() { echo "SKIPPED: $*"; exit 4; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || skip "node and npm are not installed"
"$program" lab --help >/dev/null 2>&1 || skip "this program has no lab"
mkdir -p "$folder" && cd "$folder" || exit 1
cp "$here"/package.json "$here"/package-lock.json "$here"/browser.mjs . || exit 1
[ -d node_modules/puppeteer-core ] || timeout 200 npm ci --no-audit --no-fund --silent || skip "npm ci: the package cannot be had"
cat > small.lua <<'LUA'
return { rooflua = 1, title = "A small server", seed = 7, model = "llama-3.1-8b", hardware = "h100-sxm",
  engine = "vllm 0.19", scheduler = require "schedulers.vllm_v1" { max_num_seqs = 64 }, slo = { ttft_s = 0.2 },
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 300,
    prompt_tokens = { distribution = "uniform", min = 100, max = 900 }, output_tokens = 60 } }
LUA
exec timeout "${ROOFLUA_LAB_SECONDS:-400}" node browser.mjs "$program" "$browser" "$here/../.." "${3:-}"
