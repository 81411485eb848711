#!/bin/bash
# Speed of the simulator, measured from outside: user CPU time (the best of several processes, because other
# work on a machine only adds time, and the median, because processes differ). From the best: requests and
# steps per second, ns per step, the share of time in Lua (compiled or interpreted, by perf if it is
# installed), memory, and aborted traces.
#   tests/bench/report.sh [REPEATS]        from the source tree, after a release build
set -eu
cd "$(dirname -- "$0")/../.."
repeats=${1:-5}
program=build/release/bin/rooflua
traces=../shared/data/traces
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT=%3U

# timed ARGUMENTS...: the least and the median user CPU seconds of `rooflua run ARGUMENTS`; its report in
# $scratch/out.
timed() {
  for _ in $(seq "$repeats"); do
    { time "$program" run "$@" --quiet >"$scratch/out" 2>"$scratch/err"; } 2>&1
  done | sort -n | awk '{ all[NR] = $1 } END { print all[1], (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2 }'
}

# field NAME: the number after NAME in the report, without its commas.
field() { sed -n "s/^\(.* \)\{0,1\}$1  *\([0-9][0-9,]*\).*/\2/p" "$scratch/out" | head -n 1 | tr -d ,; }

lua_share() {
  command -v perf >/dev/null || { echo '-'; return; }
  perf record -q -F 2000 -e cpu-clock:u -o "$scratch/perf" "$program" run "$@" --quiet >/dev/null 2>&1 || true
  perf report -i "$scratch/perf" --no-children --stdio --sort dso 2>/dev/null |
    awk '/^ .*%/ && (/luajit/ || /JIT/) { sum += $1 } END { printf "%.0f %%", sum }'
}

# Traces aborted while the compiler looked for them; in a steady state there are none (serving_compiled_test.lua).
aborts() {
  "$program" run "$@" --quiet --jit-log 2>&1 >/dev/null | sed -n 's/.*(\([0-9]*\) times)$/\1/p' |
    awk '{ sum += $1 } END { print sum + 0 }'
}

report() {
  local name=$1; shift
  local best median requests steps
  read -r best median < <(timed "$@")
  requests=$(field requests) steps=$(field steps:)
  /usr/bin/time -f %M -o "$scratch/memory" "$program" run "$@" --quiet >/dev/null 2>&1
  awk -v name="$name" -v best="$best" -v median="$median" -v requests="$requests" -v steps="$steps" \
    -v lua="$(lua_share "$@")" -v memory="$(tail -n 1 "$scratch/memory")" -v aborts="$(aborts "$@")" 'BEGIN {
      printf "%-18s %7.3f s (median %7.3f)  %9.0f requests/s  %9.0f steps/s  %5.0f ns/step  Lua %s  %6.1f MB  %d aborts\n",
        name, best, median, requests / best, steps / best, best / steps * 1e9, lua, memory / 1024, aborts }'
}

# slope NAME SMALL LARGE COUNT ARGUMENTS...: the time of one more of COUNT.
slope() {
  local name=$1 small=$2 large=$3 count=$4; shift 4
  local low low_median high high_median
  read -r low low_median < <(timed "$@" --set "$small")
  read -r high high_median < <(timed "$@" --set "$large")
  awk -v name="$name" -v low="$low" -v high="$high" -v count="$count" -v low_median="$low_median" \
    -v high_median="$high_median" 'BEGIN {
      printf "%-18s %7.3f s, %7.3f s: %8.1f ns each (medians %.3f s, %.3f s: %.1f ns)\n", name, low, high,
        (high - low) / count * 1e9, low_median, high_median, (high_median - low_median) / count * 1e9 }'
}

for count in 10000 100000 1000000 10000000; do
  report "saturated $count" tests/bench/saturated_1m.lua --set workload.num_requests=$count
done
report "sparse 1000000" tests/bench/sparse_1m.lua
for seats in 16 256 4096; do
  slope "decode at $seats" workload.output_tokens=1000 workload.output_tokens=100000 495000 tests/bench/decode_steps.lua \
    --set scheduler.max_num_seqs=$seats --set workload.clients=$seats --set workload.num_requests=$((5 * seats))
done
if [ -e "$traces/blis_chatbot_poisson30_100k.csv" ]; then
  for count in 10k 100k; do
    report "blis $count" tests/bench/race_blis.lua --set workload.path=$traces/blis_chatbot_poisson30_$count.csv
  done
  slope "blis per request" workload.path=$traces/blis_chatbot_poisson30_10k.csv \
    workload.path=$traces/blis_chatbot_poisson30_100k.csv 90000 tests/bench/race_blis.lua
fi
