#!/bin/sh
# Medians over processes: user CPU seconds and peak memory of every benchmark.
#   tests/bench/run.sh [REPEATS]        from the source tree, after a release build
set -eu
cd "$(dirname -- "$0")/../.."
repeats=${1:-5}
program=build/release/bin/rooflua

# median NAME ARGUMENTS...: runs `rooflua run ARGUMENTS` and prints the medians.
median() {
  name=$1
  shift
  for _ in $(seq "$repeats"); do
    /usr/bin/time -f '%U %M' -o /tmp/rooflua-bench.$$ "$program" run "$@" --quiet >/dev/null
    cat /tmp/rooflua-bench.$$
  done | sort -n | awk -v name="$name" '
    { user[NR] = $1; memory[NR] = $2 }
    END { m = int((NR + 1) / 2); printf "%-28s %6.2f s user   %7.1f MB\n", name, user[m], memory[m] / 1024 }'
  rm -f /tmp/rooflua-bench.$$
}

median saturated_100k tests/bench/saturated_1m.lua --set workload.num_requests=100000
median saturated_1m tests/bench/saturated_1m.lua
median saturated_10m tests/bench/saturated_1m.lua --set workload.num_requests=10000000
median sparse_1m tests/bench/sparse_1m.lua
traces=../shared/data/traces
if [ -e "$traces/blis_chatbot_poisson30_100k.csv" ]; then
  median blis_10k tests/bench/race_blis.lua --set workload.path=$traces/blis_chatbot_poisson30_10k.csv
  median blis_100k tests/bench/race_blis.lua --set workload.path=$traces/blis_chatbot_poisson30_100k.csv
fi
