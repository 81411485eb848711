#!/usr/bin/env bash
# HAProxy in front of two replicas of an emulated server: streams go through it, and its health checks follow faults.
#   haproxy.sh PROGRAM FOLDER
# Status 4: SKIPPED, because HAProxy or curl is missing.
set -u
. "$(dirname -- "$0")/server.sh"
haproxy=$(PATH=$PATH:/usr/sbin command -v haproxy) || skip "haproxy is not installed"
command -v curl >/dev/null 2>&1 || skip "curl is not installed"

start --admin --ports each --set replicas=2
cat > haproxy.cfg <<CFG
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
frontend clients
  bind unix@$PWD/clients.sock
  default_backend replicas
frontend statistics
  bind unix@$PWD/statistics.sock
  stats enable
  stats uri /
backend replicas
  balance roundrobin
  option httpchk GET /health
  server first ${url#http://} check inter 100ms fall 1 rise 1
  server second ${second#http://} check inter 100ms fall 1 rise 1
CFG
timeout --foreground 120 "$haproxy" -f haproxy.cfg -db > haproxy.txt 2>&1 &
beside=$!
state_of() { curl -s --unix-socket statistics.sock 'http://haproxy/;csv' | sed -n "s/^replicas,$1,\([^,]*,\)\{15\}\([^,]*\),.*/\2/p"; }
is() { # NAME STATE: within 10 s
  for _ in $(seq 100); do
    case "$(state_of "$1")" in "$2"*) return 0 ;; esac
    sleep 0.1
  done
  echo "$1 is '$(state_of "$1")'"
  return 1
}
ask() { curl -sN --max-time 30 --unix-socket clients.sock "http://haproxy/v1/completions" "$@"; }
body='{"prompt": "a", "max_tokens": 60, "ignore_eos": true, "stream": true}'
served_by() { curl -s "$1/metrics" | awk '/^vllm:generation_tokens_total\{/ { sum += $2 } END { print sum + 0 }'; }

check "both replicas are up" eval 'is first UP && is second UP'
for i in $(seq 30); do ask -d "$body" > "stream$i.txt" & streams[i]=$!; done
wait "${streams[@]}"
whole=0
for i in $(seq 30); do
  [ "$(grep -c '"text":" a"' "stream$i.txt")" -eq 60 ] && grep -q 'data: \[DONE\]' "stream$i.txt" && whole=$((whole + 1))
done
check "all tokens of 30 streams arrive: $whole of them are whole" [ "$whole" -eq 30 ]
check "each replica served half of them" [ "$(served_by "$url") $(served_by "$second")" = "900 900" ]

curl -s "$url/admin/fail" -d '{"replica": 1, "repair_s": 4}' > /dev/null
check "a replica that fails is taken out" is first DOWN
statuses=$(for _ in $(seq 8); do ask -o /dev/null -w '%{http_code} ' -d '{"prompt": "a", "max_tokens": 3, "ignore_eos": true}'; done)
check "and the other one serves all: $statuses" [ "$statuses" = "200 200 200 200 200 200 200 200 " ]
check "alone" [ "$(served_by "$url") $(served_by "$second")" = "900 924" ]
check "when it is repaired it is back" is first UP
curl -s "$url/admin/fail" -d '{"replica": 2}' > /dev/null
check "the one that stays lost is not" is second DOWN
check "and clients do not see it" [ "$(ask -o /dev/null -w '%{http_code}' -d '{"prompt": "a", "max_tokens": 3}')" = 200 ]
check "TERM ends it with status 0" stop
exit "$failed"
