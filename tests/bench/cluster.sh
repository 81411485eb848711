#!/bin/bash
# What one more request costs at 16 and at 1,024 replicas, for each router, and what a process with 1,024 replicas and
# 2,000 requests takes. User CPU time and medians over processes. The two sizes take turns, so that other work on the
# machine meets both.
#   tests/bench/cluster.sh [REPEATS] [PROGRAM]        from the source tree, after a release build
set -eu
cd "$(dirname -- "$0")/../.."
repeats=${1:-3}
program=${2:-build/release/bin/rooflua}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# seconds REPLICAS REQUESTS ARGUMENTS...: user CPU seconds and MB of one process.
seconds() {
  local replicas=$1 requests=$2; shift 2
  /usr/bin/time -f '%U %M' -o "$scratch/time" "$program" run tests/bench/cluster.lua --quiet \
    --set replicas=$replicas --set workload.rate_per_s=$((20 * replicas)) --set workload.num_requests=$requests \
    "$@" >/dev/null
  tail -n 1 "$scratch/time"
}

median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

# slope ROUTER ARGUMENTS...: microseconds of one more request between two lengths of a run.
slope() {
  local router=$1; shift
  rm -f "$scratch"/slope.*
  for _ in $(seq "$repeats"); do
    for replicas in 16 1024; do
      read -r low _ < <(seconds $replicas 100000 --set router="$router" "$@")
      read -r high _ < <(seconds $replicas 300000 --set router="$router" "$@")
      awk -v low="$low" -v high="$high" 'BEGIN { print (high - low) / 200000 * 1e6 }' >>"$scratch/slope.$replicas"
    done
  done
  awk -v router="$router" -v few="$(median "$scratch/slope.16")" -v many="$(median "$scratch/slope.1024")" 'BEGIN {
    printf "%-18s %6.2f us per request at 16 replicas, %6.2f at 1,024: %5.2f times\n", router, few, many, many / few }'
}

for _ in $(seq "$repeats"); do seconds 1024 2000; done | sort -n >"$scratch/start"
awk '{ user[NR] = $1; memory[NR] = $2 } END { m = int((NR + 1) / 2)
  printf "1,024 replicas, 2,000 requests: %.2f s, %.0f MB\n", user[m], memory[m] / 1024 }' "$scratch/start"
for router in round_robin least_outstanding power_of_two; do slope $router; done
slope prefix_affinity --set workload.prefix_tokens=64 --set workload.prefix_groups=200
