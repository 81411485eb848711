#!/bin/sh
# Same inputs, same bytes: [--quick] PROGRAM [OTHER PROGRAM]... Runs every scenario with every kind of output and every
# router on 80 replicas, prices steps, draws from every distribution, validates a few measured cases where there are
# any. Programs of other compilers and build types must write what the first writes. A program alone must write the same
# again: interpreted, and with 2 and 4 jobs. --quick runs a few scenarios, one of them with drafts and short answers.
set -eu
files='scenarios/*.lua' quick='' sent=1000
if [ "$1" = --quick ]; then
  files='scenarios/02_*.lua scenarios/13_*.lua scenarios/22_*.lua'
  quick=1 sent=300
  shift
fi
first=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
truth=../shared/data/truth
tables=../shared/data/tables/infersim/bench_data
[ $# -eq 1 ] || [ -d "$truth" ] || echo "SKIPPED: measured cases: $truth is not there"
[ $# -eq 1 ] || [ -d "$tables" ] || echo "SKIPPED: scenarios with InferSim's tables: $tables is not there"

# Runs a command; its output, its complaints and its exit status are files NAME.*
keep() { # NAME COMMAND...
  name=$1
  shift
  status=0
  "$@" >"$name.out" 2>"$name.err" || status=$?
  echo "$status" >"$name.status"
}

scenarios() { # PROGRAM DIR [OPTION]...
  program=$1 out=$2
  shift 2
  mkdir -p "$out"
  for scenario in $files; do
    to=$out/$(basename "$scenario" .lua)
    set_tables='' shorter=''
    case $quick$to in
      1*/22_*) shorter='--set workload.output_tokens=100' ;;
      */06_*)
        [ -d "$tables" ] || continue
        set_tables="--set mfu.path=$tables --set mfu.layout=infersim --set mfu.lookup=infersim_head" ;;
    esac
    case $(sed -n 's/^  kind = "\([a-z]*\)".*/\1/p' "$scenario") in
      price) outputs=--explain ;;
      plan | search | static) outputs='' ;;
      *) outputs="--explain --requests $to.csv --trace $to.trace.json" ;;
    esac
    # shellcheck disable=SC2086  # options and their values, or nothing
    keep "$to" "$program" run "$scenario" --quiet $set_tables $shorter "$@" --json "$to.json" --html "$to.html" $outputs
  done
  for file in scripts/routers/*.lua; do
    router=$(basename "$file" .lua)
    keep "$out/cluster.$router" "$program" run tests/bench/cluster.lua --quiet "$@" --set router="$router" \
      --set replicas=80 --set workload.rate_per_s=1600 --set workload.num_requests=$sent \
      --set workload.prefix_tokens=64 --set workload.prefix_groups=20 --json "$out/cluster.$router.json"
  done
  keep "$out/vllm" "$program" run scenarios/12_replay.lua --quiet "$@" --requests "$out/vllm.json"
  keep "$out/why" "$program" run scenarios/12_replay.lua --quiet "$@" --why 17
}

steps() { # PROGRAM DIR
  mkdir -p "$2"
  for model in llama-3.1-8b qwen3-30b-a3b deepseek-v3 mixtral-8x7b; do
    for hardware in h100-sxm h20 a100-sxm-80gb l40s; do
      for steps in kernels infersim roofline_v1 roofline_v2; do
        keep "$2/$model.$hardware.$steps" "$1" step --model $model --hardware $hardware --tp 2 --steps $steps \
          --prefill 0+777,3000+129 --decode 1013x7,88x61 --explain --json -
      done
    done
  done
  keep "$2/streams" "$1" lua tests/laws/streams.lua
}

validated() { # PROGRAM DIR
  [ -d "$truth" ] || return 0
  mkdir -p "$2"
  for only in T16-mixtral S2R-60 AIC; do
    keep "$2/$only" "$1" validate "$truth/cases.csv" --only $only --json "$2/$only.json" --html "$2/$only.html"
  done
}

passed=0 failed=0
compare() { # WHAT DIR DIR
  # Commands name the file that they wrote.
  for each in "$2" "$3"; do
    grep -rl '"build": "' "$each" | while read -r file; do sed -i 's/"build": "[^"]*"/"build": "masked"/' "$file"; done
    grep -rlF "$folder" "$each" | while read -r file; do sed -i "s#$folder/[a-z0-9_]*/##g" "$file"; done
  done
  if diff -rq "$2" "$3" >"$folder/differences"; then
    passed=$((passed + 1))
    echo "ok $1: $(find "$2" -type f | wc -l) files, $(cat "$2"/* | wc -c) bytes"
  else
    failed=$((failed + 1))
    echo "FAIL $1: $(wc -l <"$folder/differences") of $(find "$2" -type f | wc -l) files differ"
    head -20 "$folder/differences"
    name=$(sed -n 's/^Files \(.*\) and .* differ$/\1/p' "$folder/differences" | head -1)
    [ -z "$name" ] || diff "$name" "$3/$(basename "$name")" | head -10 | cut -c1-300
  fi
}

scenarios "$first" "$folder/scenarios1"
for status in "$folder"/scenarios1/*.status; do
  [ "$(cat "$status")" -eq 0 ] || { echo "FAIL exit status $(cat "$status"): ${status##*/}"; failed=$((failed + 1)); }
done
shift
if [ $# -eq 0 ]; then
  for way in --no-jit "--jobs 2" "--jobs 4"; do
    # shellcheck disable=SC2086  # an option and its value
    scenarios "$first" "$folder/way" $way
    compare "scenarios with $way" "$folder/scenarios1" "$folder/way"
    rm -r "$folder/way"
  done
else
  steps "$first" "$folder/steps1"
  validated "$first" "$folder/validated1"
fi
number=1
for other in "$@"; do
  number=$((number + 1))
  scenarios "$other" "$folder/scenarios$number"
  compare "scenarios of $other" "$folder/scenarios1" "$folder/scenarios$number"
  steps "$other" "$folder/steps$number"
  compare "steps and streams of $other" "$folder/steps1" "$folder/steps$number"
  if [ -d "$truth" ]; then
    validated "$other" "$folder/validated$number"
    compare "validation of $other" "$folder/validated1" "$folder/validated$number"
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
