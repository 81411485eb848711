#!/usr/bin/env bash
# KV events of an emulated server, read by ZeroMQ and msgpack of Python.
#   kv_events.sh PROGRAM FOLDER
# Status 4: SKIPPED, because Python's packages are missing, or the program has no KV events.
set -u
. "$(dirname -- "$0")/server.sh"
for python in python3 /usr/bin/python3 ""; do
  [ -n "$python" ] || skip "python3-zmq and python3-msgpack are not installed"
  "$python" -c 'import zmq, msgpack' 2>/dev/null && break
done
cat > served.lua <<'LUA'
return { rooflua = 1, title = "served", seed = 7, model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.24",
  deployment = { kv_blocks = 400, max_model_len = 4096 } }
LUA
refuses() { # OPTION...: with an error that names --kv-events
  ! timeout 60 "$program" emulate served.lua --port 0 "$@" > refused.txt 2>&1 && grep -q -e --kv-events refused.txt
}

start --admin --kv-events 0 --kv-events-replay tcp://127.0.0.1:0 --kv-events-topic kv@pod-%replica@m --kv-events-seed 7
addresses=
for _ in $(seq 50); do
  addresses=$(sed -n 's/^KV events of replica 1 on \([^, ]*\), again on \([^, ]*\),.*/\1 \2/p' out.txt)
  [ -n "$addresses" ] && break
  sleep 0.1
done
# shellcheck disable=SC2086 # two addresses
check "what is told is what is cached" timeout 150 "$python" "$here/clients/kv_events.py" "$url" $addresses
check "TERM ends it with status 0" stop
check "stderr says once that text has no events" [ "$(grep -c 'a prompt is text' err.txt)" = 1 ]
check "the report says it, too" grep -q '1 prompts were text: no KV event' out.txt
check "and counts messages" grep -q 'messages named blocks' out.txt
check "and says what of the release is assumed" grep -q 'KV events of 0.24.* is assumed in part' out.txt
check "a release whose names of blocks only Python can compute is refused" refuses --kv-events 0 --engine "vllm 0.9"
check "a topic without events is refused" refuses --kv-events-topic a
check "another transport is refused" refuses --kv-events ipc:///tmp/x
check "a cache without prefixes is refused" refuses --kv-events 0 --set deployment.prefix_caching=false
exit "$failed"
