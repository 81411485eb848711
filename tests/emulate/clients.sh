#!/usr/bin/env bash
# An emulated server and clients that others wrote, on loopback: the SDKs of OpenAI and Anthropic and autocannon, curl,
# clients that behave badly; then the recorded requests are replayed and must give the same rows.
#   clients.sh PROGRAM FOLDER   the folder keeps the packages of npm between runs
# Status 4: SKIPPED, because Node.js or the packages are missing. Everything is bounded in time.
set -u
. "$(dirname -- "$0")/server.sh"
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || skip "node and npm are not installed"
command -v curl >/dev/null 2>&1 || skip "curl is not installed"
cp -r "$here"/package.json "$here"/package-lock.json "$here"/clients . || exit 1
[ -d node_modules/openai ] && [ node_modules/.package-lock.json -nt package-lock.json ] ||
  timeout 120 npm ci --no-audit --no-fund --silent || skip "npm ci: the packages cannot be had"
sed 's/workload = .*/workload = require "workloads.trace" { path = "recorded.jsonl", hash_block_tokens = 16 } }/; /prompt_tokens/d; /output_tokens/d' \
  served.lua > replayed.lua

start --admin --requests live.csv --record recorded.jsonl
check "the SDKs and autocannon" timeout 150 node clients/sdks.mjs "$url"
chunks=$(curl -sN "$url/v1/completions" -d '{"prompt": "a", "max_tokens": 30, "ignore_eos": true, "stream": true}' | grep -c '"text":" a"')
check "curl gets a chunk for every token" [ "$chunks" -eq 30 ]
check "curl sets a scheduler's parameter" \
  [ "$(curl -s -o /dev/null -w '%{http_code}' "$url/admin/set" -d '{"scheduler.max_num_seqs": 1000}')" = 200 ]
check "curl is told of a misspelt one" grep -q max_num_seqs <(curl -s "$url/admin/set" -d '{"scheduler.max_num_seq": 4}')
answered=$(curl -s "$url/metrics" | sed -n 's/^vllm:e2e_request_latency_seconds_count{[^}]*} //p')
check "TERM ends it with status 0" stop
"$program" run replayed.lua --quiet --requests replayed.csv > /dev/null 2> replay.txt
check "what was recorded replays to the same requests ($(($(wc -l < live.csv) - 1)))" cmp live.csv replayed.csv
check "the series count as many requests as completed ($answered)" \
  [ "$answered" -eq "$(grep -c ',completed,' live.csv)" ]

start --admin --request-seconds 2
check "clients that behave badly" timeout 200 node clients/rough.mjs "$url" "${ROOFLUA_ROUGH_CASES:-300}"
curl -sN "$url/v1/completions" -d '{"prompt": "a", "max_tokens": 100000, "ignore_eos": true, "stream": true}' > cut.txt &
client=$!
sleep 1
check "TERM while a client streams ends it within the drain" stop
wait "$client"
check "and the stream has no end" sh -c '! grep -q DONE cut.txt && grep -q text cut.txt'


start --admin --ports each --set replicas=2
curl -s "$second/v1/completions" -d '{"prompt": "a", "max_tokens": 5}' > /dev/null
check "a port per replica: the second one served it" grep -q '^vllm:generation_tokens_total{engine="1".* 5$' <(curl -s "$second/metrics")
check "and the first one shows its own series only" \
  sh -c "curl -s $url/metrics | grep -v 'engine=\"1\"' | grep -q '^vllm:generation_tokens_total{engine=\"0\".* 0$'"
curl -s "$url/admin/fail" -d '{"replica": 2}' > /dev/null
check "a replica that fails is not healthy, and the other one is" [ "$(curl -s -o /dev/null -w '%{http_code}' "$second/health")$(
  curl -s -o /dev/null -w '%{http_code}' "$url/health")" = 503200 ]
check "its requests get 503" [ "$(curl -s -o /dev/null -w '%{http_code}' "$second/v1/completions" -d '{"prompt": "a"}')" = 503 ]
stop
exit "$failed"
