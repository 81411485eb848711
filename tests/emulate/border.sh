#!/usr/bin/env bash
# What comes from outside an emulated server: HTTP as RFC 9112 has it, requests that want to cost much, who may use
# /admin, the end of the context, ports, a server that drains.
#   border.sh PROGRAM FOLDER [SECONDS OF FUZZ]
# Status 4: SKIPPED, because Python or curl is missing.
set -u
. "$(dirname -- "$0")/server.sh"
command -v python3 >/dev/null 2>&1 || skip "python3 is not installed"
command -v curl >/dev/null 2>&1 || skip "curl is not installed"
status() { curl -s -o answer.txt -w '%{http_code}' "$@"; }
prompt() { # BYTES MORE: a body with a prompt of so many bytes
  printf '{"prompt":"%s",%s}' "$(head -c "$1" /dev/zero | tr '\0' a)" "$2" > body.json
}

start --request-seconds 3
check "rules of HTTP, documents that cost much, and fuzz" timeout 400 python3 "$here/clients/border.py" "$url" "$(pgrep -P "$server" | head -1)" "${3:-10}"
check "/admin is not there without --admin" [ "$(status "$url/admin/state")$(status "$url/admin/fail" -d '{"replica":1}')" = 404404 ]
check "TERM ends it with status 0" stop

start --admin --set deployment.max_model_len=4096
check "/admin answers programs of this machine" [ "$(status "$url/admin/state")$(status -H 'Host: localhost' "$url/admin/state")" = 200200 ]
for header in 'Host: evil.example:8000' 'Host: 10.1.2.3' 'Origin: http://evil.example' 'Origin: null' 'Sec-Fetch-Site: cross-site'; do
  check "/admin and $header: 403" [ "$(status -H "$header" "$url/admin/state")$(status -H "$header" "$url/admin/fail" -d '{"replica":1}')" = 403403 ]
done
check "and nothing has failed" [ "$(status "$url/health")" = 200 ]
check "/admin/fail with a time that the clock does not have: 400" [ "$(status "$url/admin/fail" -d '{"replica":1,"repair_s":1e9}')" = 400 ]
check "/admin/slow with a key that is not known: 400" [ "$(status "$url/admin/slow" -d '{"replica":1,"facter":9}')" = 400 ]
check "and nothing has failed either" [ "$(status "$url/health")" = 200 ]

prompt 16380 '"max_tokens":5,"ignore_eos":true' # 4,095 tokens of 4,096
check "an answer that the context cuts ends with length" \
  [ "$(status "$url/v1/completions" -d @body.json) $(grep -o '"finish_reason":"[a-z]*"' answer.txt)" = '200 "finish_reason":"length"' ]
printf '{"max_tokens":50,"messages":[{"role":"user","content":"%s"}]}' "$(head -c 16330 /dev/zero | tr '\0' a)" > body.json
check "of the messages API with max_tokens" \
  [ "$(status "$url/v1/messages" -d @body.json) $(grep -o '"stop_reason":"[a-z_]*"' answer.txt)" = '200 "stop_reason":"max_tokens"' ]
printf '{"max_output_tokens":4096,"input":"%s"}' "$(head -c 16330 /dev/zero | tr '\0' a)" > body.json
check "of responses as incomplete" \
  [ "$(status "$url/v1/responses" -d @body.json) $(grep -o '"status":"incomplete"' answer.txt | head -1)" = '200 "status":"incomplete"' ]
check "the series count them" [ "$(curl -s "$url/metrics" | sed -n 's/^vllm:request_success_total{.*finished_reason="length".*} //p')" = 3 ]
check "max_tokens that the context cannot hold: 400" [ "$(status "$url/v1/completions" -d '{"prompt":"hi","max_tokens":4097}')" = 400 ]
check "or with a prompt of tokens" [ "$(status "$url/v1/completions" -d '{"prompt":[1,2,3],"max_tokens":4094}')" = 400 ]
check "one less is served" [ "$(status -m 60 "$url/v1/completions" -d '{"prompt":[1,2,3],"max_tokens":4093,"temperature":0.5}')" = 200 ]

curl -sN "$url/v1/completions" -d '{"prompt":"a","max_tokens":3000,"ignore_eos":true,"stream":true}' > stream.txt &
client=$!
sleep 0.5
exec 3<>"/dev/tcp/127.0.0.1/${url##*:}" # a kept connection
kill -TERM "$(pgrep -P "$server" | head -1)"
sleep 1
check "a server that drains refuses new connections" [ "$(status -m 2 "$url/health")" = 000 ]
printf 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3
timeout 2 cat <&3 > kept.txt
check "and tells kept ones, which it closes" grep -q '^HTTP/1.1 503' kept.txt
exec 3>&-
wait "$server"
check "TERM ends it with status 0" [ $? = 0 ]
server=
wait "$client"
check "the report names fields that change nothing" grep -q 'temperature (1)' out.txt

refused() { # WORDS OPTION...: before anything listens
  timeout 60 "$program" emulate served.lua --set replicas=3 "${@:2}" > out.txt 2> err.txt
  [ $? = 1 ] && grep -q -- "$1" err.txt && ! grep -q '^listening' out.txt
}
check "ports above 65535 are refused" refused 'replica 2 would have port 65536' --ports each --port 65535
check "those of KV events too" refused 'replica 3 would have port 65536' --port 0 --kv-events 65534
start --host ::1
check "an address of IPv6 can be used as it is printed ($url)" [ "$(status -g "$url/health")" = 200 ]
stop
exit "$failed"
