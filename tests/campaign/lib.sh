# For the tests of campaigns: a scenario of 40 runs in an empty folder, and checks. Read by the scripts beside it.
set -eu
rooflua=$(realpath "$1")
top=$(mktemp -d)
failures=0
at_end() { rm -rf "$top"; }
trap at_end EXIT

# Without one of these programs the test says SKIPPED.
needs() {
  for each in "$@"; do
    command -v "$each" >/dev/null 2>&1 && continue
    echo "SKIPPED: $each is not installed: this engine is not tested here"
    [ "${ROOFLUA_REQUIRE_ENGINES:-0}" = 1 ] && exit 1
    exit 4
  done
}

check() { # MESSAGE COMMAND...
  message=$1
  shift
  if "$@" >"$top/check.log" 2>&1; then
    echo "ok    $message"
  else
    echo "FAIL  $message"
    head -20 "$top/check.log"
    failures=$((failures + 1))
  fi
}

has() { grep -qF -- "$2" "$1" || { echo "no '$2' in:"; cat "$1"; return 1; }; }

scenario() { # COUNT OF RATES, REQUESTS
  cat >"$top/s.lua" <<END
local own = require "own"
local rates = {}
for i = 1, $1 do rates[i] = i / 10 end
return { rooflua = 1, title = "Rates", seed = 5, model = "llama-3.1-8b", hardware = "h200", scheduler = own {},
  workload = require "workloads.trace" { path = "t.csv", time_scale = 1 },
  vary = { ["workload.time_scale"] = rates } }
END
  cat >"$top/own.lua" <<'END'
local policy = require "rooflua.policy"
return policy.define { name = "own", doc = "As vLLM.", extends = require "schedulers.vllm_v1" }
END
  echo arrival_s,prompt_tokens,output_tokens >"$top/t.csv"
  i=0
  while [ "$i" -lt "$2" ]; do
    echo "$i,100,5" >>"$top/t.csv"
    i=$((i + 1))
  done
}

# The merged results of $top/c are those of a run on this machine, byte for byte.
same_as_alone() { # RUNS
  again="run $top/c/scenario/s.lua --results $top/c/results.sqlite"
  "$rooflua" run "$top/c/scenario/s.lua" --quiet --jobs 2 --json "$top/alone.json" >"$top/alone.txt" &&
    "$rooflua" $again --quiet --json "$top/merged.json" >"$top/merged.txt" &&
    cmp "$top/alone.json" "$top/merged.json" && cmp "$top/alone.txt" "$top/merged.txt" &&
    "$rooflua" $again 2>"$top/merged.err" >/dev/null && has "$top/merged.err" "$1 of $1 runs were in"
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
  exit 0
}
