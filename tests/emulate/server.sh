# Sourced by the tests here: an emulated server of the scenario served.lua in this folder, on ports that are free.
#   $program, $folder, $here   of the test's arguments: PROGRAM FOLDER
#   $beside                    a process that ends with the test, where one is started with timeout --foreground
#   start OPTION...            sets $server (its process), $url, $second (of the second port); out.txt, err.txt are its words
#   stop                       ends it with TERM; its status
#   check SENTENCE COMMAND...  says whether the command succeeds; $failed is 1 where one did not
#   skip WHY                   ends the test with status 4
program=$(realpath "$1") folder=$2 here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
server= beside= url= second= failed=0
skip() { echo "SKIPPED: $*"; exit 4; }
check() { if "${@:2}"; then echo "passed: $1"; else echo "FAILED: $1"; failed=1; fi; }
"$program" emulate --help >/dev/null 2>&1 || skip "this program has no emulate"
mkdir -p "$folder" && cd "$folder" || exit 1
# timeout passes no KILL on: what it runs is killed first
end_all() {
  for each in "$server" "$beside"; do
    [ -n "$each" ] && { pkill -KILL -P "$each"; kill -KILL "$each"; }
  done 2>/dev/null
}
trap end_all EXIT

cat > served.lua <<'LUA'
return { rooflua = 1, title = "served", seed = 7, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.19",
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 200,
    prompt_tokens = { distribution = "uniform", min = 100, max = 900 },
    output_tokens = { distribution = "uniform", min = 16, max = 120 } } }
LUA

start() {
  : > out.txt > err.txt # the words of the server before would be read until the new one has its files
  timeout --foreground 300 "$program" emulate served.lua --port 0 --drain 3 "$@" > out.txt 2> err.txt &
  server=$!
  for _ in $(seq 300); do grep -q '^listening' out.txt && break; kill -0 "$server" 2>/dev/null || break; sleep 0.2; done
  url=$(sed -n 's/^listening on \(http:[^, ]*\).*/\1/p' out.txt | head -1)
  second=$(sed -n 's/^listening on \(http:[^, ]*\).*/\1/p' out.txt | sed -n 2p)
  grep -q 'was built without' err.txt && skip "$(cat err.txt)"
  [ -n "$url" ] || { cat err.txt; echo "FAILED: it does not listen"; exit 1; }
}

stop() {
  kill -TERM "$server"
  wait "$server"
  local status=$?
  server=
  return $status
}
