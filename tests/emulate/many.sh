#!/usr/bin/env bash
# Many clients of an emulated server: 4,000 streams at once from one process, and 20,000 connections that never send a
# whole request.
#   many.sh PROGRAM FOLDER   ROOFLUA_MEMORY_MB: what the server may take, 70
# Status 4: SKIPPED, because Node.js is missing, or a process may not open 9,000 files.
set -u
. "$(dirname -- "$0")/server.sh"
command -v node >/dev/null 2>&1 || skip "node is not installed"
ulimit -n 9000 2>/dev/null || skip "a process may open $(ulimit -n) files only"
own() { pgrep -P "$server" | head -1; } # behind timeout
files() { find "/proc/$(own)/fd" -type l | wc -l; }
has_left() { # FILES: within 5 s it has no more open than that
  for _ in $(seq 50); do [ "$(files)" -le "$1" ] && return 0; sleep 0.1; done
  echo "$(files) files are open, $1 were"
  return 1
}

start --speed 0.02 --set replicas=4 --set scheduler.max_num_seqs=1024
before=$(files)
timeout 100 node "$here/clients/load.mjs" "$url" 4000 2000 16 8 > load.txt
check "every client has its tokens: $(cat load.txt)" [ $? -eq 0 ]
check "4,000 streams were open at once" grep -q '"at_once":4000,' load.txt
memory=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$(own)/status")
check "the server took $memory MiB" [ "$memory" -lt "${ROOFLUA_MEMORY_MB:-70}" ]
check "no connection stays open" has_left "$before"
check "TERM ends it with status 0" stop

start --request-seconds 3
before=$(files)
timeout 100 node "$here/clients/half_open.mjs" "$url" 20000 8000 > half_open.txt
check "20,000 half-open connections keep no client out: $(cat half_open.txt)" [ $? -eq 0 ]
check "none of them stays open" has_left "$before"
check "TERM ends it with status 0" stop
exit "$failed"
