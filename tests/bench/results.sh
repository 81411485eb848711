#!/bin/bash
# Seconds, user CPU and wall, to list, export, merge and read 20,000 results.
# usage: tests/bench/results.sh PROGRAM [FILE of results, made where it is not there]
set -eu
rooflua=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
file=${2:-$top/many.sqlite}
TIMEFORMAT='%U %R'
measured() { # WHAT, COMMAND...
  local what=$1 seconds
  shift
  seconds=$({ time "$@" >"$top/out" 2>"$top/err"; } 2>&1)
  printf '%-34s %6s s CPU %6s s\n' "$what" $seconds
}
[ -s "$file" ] || measured "run them" "$rooflua" run "$here/results.lua" --quiet --jobs 2 --results "$file"
build=$("$rooflua" --version)
"$rooflua" results list "$file" --build "${build#rooflua }" >"$top/out" || { echo "make $file with this build"; exit 1; }
measured "results list" "$rooflua" results list "$file"
measured "results list --missing 16" "$rooflua" results list "$file" --missing 16
for format in csv json jsonl prometheus llm-d; do
  measured "results export --format $format" "$rooflua" results export "$file" --format "$format"
done
measured "results merge" "$rooflua" results merge "$top/merged.sqlite" "$file"
measured "run, all of them there" "$rooflua" run "$here/results.lua" --quiet --results "$file"
for python in /usr/bin/python3 python3; do
  "$python" -c 'import pandas' 2>/dev/null || continue
  measured "python3 with pandas starts" "$python" -c 'import pandas, sqlite3, json'
  measured "rooflua.results(...).frame" env PYTHONPATH="$("$rooflua" --python-path)" "$python" -c \
    "import rooflua, sys; assert len(rooflua.results('$file').frame) == 20000"
  exit 0
done
measured "rooflua.results(...).rows" env PYTHONPATH="$("$rooflua" --python-path)" python3 -c \
  "import rooflua; assert len(rooflua.results('$file').rows) == 20000"
