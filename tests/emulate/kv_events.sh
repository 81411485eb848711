#!/usr/bin/env bash
# KV events of an emulated server, read by ZeroMQ and msgpack of Python.
#   kv_events.sh PROGRAM FOLDER
# Status 4: SKIPPED, because Python's packages are missing, or the program has no KV events.
set -u
program=$1 folder=$2 here=$(cd "$(dirname -- "$0")" && pwd)
skip() { echo "SKIPPED: $*"; exit 4; }
python3 -c 'import zmq, msgpack' 2>/dev/null || skip "python3-zmq and python3-msgpack are not installed"
mkdir -p "$folder" && cd "$folder" || exit 1
cat > served.lua <<'LUA'
return { rooflua = 1, title = "served", seed = 7, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.24",
  deployment = { kv_blocks = 400, max_model_len = 4096 } }
LUA
timeout 200 "$program" emulate served.lua --port 0 --drain 3 --kv-events 0 --kv-events-replay tcp://127.0.0.1:0 \
  --kv-events-topic kv@pod-%replica@m --kv-events-seed 7 > out.txt 2> err.txt &
server=$!
trap 'kill -KILL "$server" 2>/dev/null' EXIT
for _ in $(seq 300); do grep -q '^KV events of' out.txt && break; kill -0 "$server" 2>/dev/null || break; sleep 0.2; done
grep -q 'built without libzmq' err.txt && skip "this program has no KV events"
url=$(sed -n 's/^listening on \(http:[^, ]*\).*/\1/p' out.txt)
addresses=$(sed -n 's/^KV events of replica 1 on \([^, ]*\), again on \([^, ]*\),.*/\1 \2/p' out.txt)
[ -n "$addresses" ] || { cat out.txt err.txt; echo "FAILED: it does not listen"; exit 1; }
timeout 150 python3 "$here/clients/kv_events.py" "$url" $addresses
failed=$?
kill -TERM "$server"
wait "$server" || { cat err.txt; echo "FAILED: TERM ends it with status $?"; failed=1; }
trap - EXIT
[ "$(grep -c 'a prompt is text' err.txt)" = 1 ] || { cat err.txt; echo "FAILED: stderr says once that text has no events"; failed=1; }
grep -q '1 prompts were text: no KV event' out.txt || { cat out.txt; echo "FAILED: the report says it, too"; failed=1; }
grep -q 'messages told of blocks' out.txt || { echo "FAILED: the report counts messages"; failed=1; }
"$program" emulate served.lua --port 0 --kv-events-topic a > out.txt 2> err.txt && { echo "FAILED: a topic of nothing is taken"; failed=1; }
for wrong in "--kv-events ipc:///tmp/x" "--kv-events 0 --engine vllm-0.9" "--kv-events 0 --set deployment.prefix_caching=false"; do
  timeout 60 "$program" emulate served.lua --port 0 ${wrong/vllm-/vllm@} > out.txt 2> err.txt && { echo "FAILED: $wrong is taken"; failed=1; }
  grep -q -e 'kv-events' err.txt || { cat err.txt; echo "FAILED: $wrong: the error names the option"; failed=1; }
done
exit "$failed"
