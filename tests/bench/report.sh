#!/bin/bash
# One table of the benchmarks: what one more request or step takes. README.md here says what the columns mean.
#   tests/bench/report.sh [--only PATTERN] [--processes N] [--record] [PROGRAM [OTHER]]       from the source tree
# With ROOFLUA_HOME=$PWD both programs run the scripts of this tree.
# OTHER is an earlier program to compare with. Without it PROGRAM is compared with the record, docs/records/performance.md.
# The exit status is 1 where PROGRAM's C++ takes 1 % more instructions, or 1 % and 1 MB more memory.
# --record writes the table of PROGRAM there.
set -euo pipefail
cd "$(dirname -- "$0")/../.."
only='' processes=3 record='' recorded=docs/records/performance.md traces=../shared/data/traces
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=$2; shift 2 ;;
    --processes) processes=$2; shift 2 ;;
    --record) record=$recorded; shift ;;
    *) break ;;
  esac
done
programs=("${1:-build/release/bin/rooflua}" ${2:+"$2"})
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
c++ -O1 -shared -fPIC -o "$scratch/steady.so" tests/bench/steady.cpp
TIMEFORMAT=%3U

# instructions OUT PROGRAM SEED ARGUMENTS...: those of C++ and of Lua (LuaJIT and what it compiled), workers included.
instructions() {
  local out=$1 program=$2 seed=$3; shift 3
  ROOFLUA_BENCH_SEED=$seed LD_PRELOAD=$scratch/steady.so valgrind --tool=callgrind --callgrind-out-file="$out.callgrind.%p" \
    "$program" run "$@" --quiet >"$out.report" 2>"$out.err" || { cat "$out.err" >&2; return 1; }
  awk 'FNR == 1 { delete object; skip = 0 }
       /^c?ob=/ { rest = substr($0, index($0, "=") + 1); end = index(rest, ")"); id = substr(rest, 1, end)
                  if (length(rest) > end) object[id] = substr(rest, end + 2)
                  if (/^ob/) at = id }
       /^calls=/ { skip = 1; next }
       /^[-0-9+*]/ { if (!skip) { if (object[at] ~ /luajit/ || object[at] ~ /^(\?\?\?)?$/) lua += $2; else cpp += $2 }
                     skip = 0 }
       END { printf "%.0f %.0f\n", cpp, lua }' "$out".callgrind.* >"$out"
  rm -f "$out".callgrind.*
}

steps_of() { sed -n 's/.*steps: \([0-9,]*\).*/\1/p' "$1" | head -n 1 | tr -d ,; }
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

# numbers I UNIT KEY SMALL LARGE ARGUMENTS...: one line "C++ Lua" per seed, for one of UNIT, into $scratch/I.numbers.
numbers() {
  local i=$1 unit=$2 key=$3 small=$4 large=$5 seed count; shift 5
  : >"$scratch/$i.numbers"
  for seed in $(seq "$processes"); do
    instructions "$scratch/$i.small" "${programs[i]}" "$seed" "$@" --set "$key=$small" &
    instructions "$scratch/$i.large" "${programs[i]}" "$seed" "$@" --set "$key=$large"
    wait $!
    count=$((large - small))
    [ "$unit" != step ] || count=$(($(steps_of "$scratch/$i.large.report") - $(steps_of "$scratch/$i.small.report")))
    paste -d' ' "$scratch/$i.small" "$scratch/$i.large" | awk -v count="$count" \
      '{ print ($3 - $1) / count, ($4 - $2) / count, count }' >>"$scratch/$i.numbers"
  done
}

# native I ARGUMENTS...: user CPU seconds into $scratch/user, the peak of memory in KB into $scratch/memory.
native() {
  local i=$1; shift
  { time /usr/bin/time -f %M -o "$scratch/memory" "${programs[i]}" run "$@" --quiet >/dev/null 2>"$scratch/native.err"; } \
    2>"$scratch/user" || { cat "$scratch/native.err" >&2; return 1; }
}

# times KEY SMALL LARGE ARGUMENTS...: the programs take turns; "small large memory" per turn into $scratch/I.times. Without
# callgrind there is time for a difference that is `longer` times as large.
longer=8
times() {
  local key=$1 small=$2 i large low; shift 2
  large=$((small + longer * ($1 - small))); shift
  rm -f "$scratch"/*.times
  for _ in $(seq $((2 * processes - 1))); do
    for i in "${!programs[@]}"; do
      native "$i" "$@" --set "$key=$small"
      low=$(cat "$scratch/user")
      native "$i" "$@" --set "$key=$large"
      echo "$low $(cat "$scratch/user") $(cat "$scratch/memory")" >>"$scratch/$i.times"
    done
  done
}

# cells I: "C++ Lua ns MB", medians.
cells() {
  local count
  count=$(awk 'NR == 1 { print $3 }' "$scratch/$1.numbers")
  echo "$(cut -d' ' -f1 "$scratch/$1.numbers" | median) $(cut -d' ' -f2 "$scratch/$1.numbers" | median)" \
    "$(awk -v count="$((count * longer))" '{ print ($2 - $1) / count * 1e9 }' "$scratch/$1.times" | median)" \
    "$(awk '{ print $3 / 1024 }' "$scratch/$1.times" | median)"
}

failed=0
# print_row NAME UNIT THOUSANDTHS CELLS: a line of the table from "C++ Lua time MB" of each program; where there is one,
# its line in the record stands for another.
print_row() {
  local name=${1//_/ } unit=$2 per=$3 before; shift 3
  if [ ${#programs[@]} -eq 1 ] && [ -z "$record" ] && before=$(grep -F "| $name | $unit |" "$recorded"); then
    set -- "$@" "$(echo "$before" | awk -F'|' '{ gsub(",", ""); print $4 + 0, $5 + 0, $6 + 0, $7 + 0 }')"
  fi
  echo "$*" | awk -v name="$name" -v unit="$unit" -v per="$per" '
    function count(n, rest) {
      if (n == 0) return "-"
      n = sprintf("%.0f", n)
      for (; length(n) > 3; n = substr(n, 1, length(n) - 3)) rest = "," substr(n, length(n) - 2) rest
      return n rest
    }
    { printf "| %s | %s | %s | %s | %s %s | %.0f MB |", name, unit, count($1), count($2), count($3), per, $4
      if (NF > 4) printf " %s | %s | %s %s | %.0f MB | %.3f |", count($5), count($6), count($7), per, $8, ($5 > 0 ? $1 / $5 : $3 / $7)
      print ""
      exit NF > 4 && ($1 > 1.01 * $5 || sprintf("%.0f", $4) > 1.01 * $8 + 1) }' || failed=1
}

# row NAME UNIT KEY SMALL LARGE ARGUMENTS...: what one more of UNIT takes.
row() {
  local name=$1 unit=$2 i; shift 2
  case $name in *"$only"*) ;; *) return 0 ;; esac
  for i in "${!programs[@]}"; do numbers "$i" "$unit" "$@"; done
  times "$@"
  print_row "$name" "$unit" ns "$(cells 0) $([ ${#programs[@]} -eq 1 ] || cells 1)"
}

# whole NAME COUNTED ARGUMENTS...: what a whole process takes. Of long ones (COUNTED "no") only time and memory.
whole() {
  local name=$1 counted=$2 i cells=''; shift 2
  case $name in *"$only"*) ;; *) return 0 ;; esac
  for i in "${!programs[@]}"; do
    if [ "$counted" = no ]; then echo "0 0" >"$scratch/whole.$i"
    else instructions "$scratch/whole.$i" "${programs[i]}" 1 "$@"
    fi
    for _ in $(seq $((2 * processes - 1))); do
      native "$i" "$@"
      echo "$(cat "$scratch/user") $(cat "$scratch/memory")"
    done >"$scratch/whole.$i.times"
    cells="$cells $(cat "$scratch/whole.$i")"
    cells="$cells $(awk '{ print $1 * 1e3 }' "$scratch/whole.$i.times" | median)"
    cells="$cells $(awk '{ print $2 / 1024 }' "$scratch/whole.$i.times" | median)"
  done
  print_row "$name" process ms "$cells"
}

table() {
  echo "| what | one more | C++ | Lua | time | peak memory |$([ -n "$record" ] || echo ' C++ before | Lua before | time before | memory before | ratio |')"
  echo "|---|---|---|---|---|---|$([ -n "$record" ] || echo '---|---|---|---|---|')"
  local seats turns replicas requests=workload.num_requests
  whole start yes scenarios/01_hello.lua
  whole plan no tests/bench/plan_400.lua --set 'plan.candidates.engines=["vllm"]'
  # After the step at which the step model settles, as nearly all of a million requests are.
  row saturated request $requests 80000 240000 tests/bench/saturated_1m.lua
  row sparse request $requests 5000 15000 tests/bench/sparse_1m.lua
  row a_quiet_day request $requests 1120 4480 tests/bench/quiet_day.lua
  for seats in 16 256 4096; do
    turns=10
    [ $seats -lt 4096 ] || turns=4  # ten would pass the end of the clock
    row "decode_at_$seats" step workload.output_tokens 1000 14000 tests/bench/decode_steps.lua \
      --set scheduler.max_num_seqs=$seats --set workload.clients=$seats --set $requests=$((turns * seats))
  done
  row small_variant variant sweep.n 50 150 tests/bench/variants.lua
  row decodes_with_drafts step workload.output_tokens 2000 12000 tests/bench/drafts.lua
  for replicas in 16 1024; do
    row "${replicas}_replicas" request $requests 10000 30000 tests/bench/cluster.lua --set replicas=$replicas \
      --set workload.rate_per_s=$((20 * replicas))
  done
  row prefix_affinity,_16_replicas request $requests 10000 30000 tests/bench/cluster.lua --set router=prefix_affinity \
    --set workload.prefix_tokens=64 --set workload.prefix_groups=200
  [ -e "$traces/blis_chatbot_poisson30_100k.csv" ] || return 0
  row BLIS_trace request workload.limit 2000 14000 tests/bench/race_blis.lua \
    --set workload.path=$traces/blis_chatbot_poisson30_100k.csv
  row Mooncake_trace request workload.limit 500 1900 tests/bench/mooncake.lua
  row Mooncake_trace_with_stores request workload.limit 500 1900 tests/bench/mooncake_tiers.lua
}

if [ -z "$record" ]; then
  table
  exit "$failed"
fi
mkdir -p "$(dirname "$record")"
{
  echo '# Performance: the current figures'
  echo
  echo "Written by \`tests/bench/report.sh --record\`; \`tests/bench/README.md\` says what the columns mean."
  echo "$("${programs[0]}" --version), $(c++ --version | head -n 1), $(nproc) cores of" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1); seeds of LuaJIT: $processes, processes for times:" \
    "$((2 * processes - 1))."
  echo
  table | tee >(cat >&2) | cut -d'|' -f1-7 | sed 's/$/|/'
} >"$scratch/record"
mv "$scratch/record" "$record"
