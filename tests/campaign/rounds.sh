#!/bin/sh
# Searches whose rounds are divided among shards: without an engine, then on GNU parallel where it is there.
. "$(dirname "$0")/lib.sh"
cat >"$top/s.lua" <<'END'
return { rooflua = 1, title = "Capacity", kind = "search", model = "llama-3.1-8b", hardware = "h200-sxm",
  workload = require "workloads.poisson" { num_requests = 40, prompt_tokens = 600, output_tokens = 30 },
  vary = { hardware = { "h200-sxm", "l40s" } },
  search = { goal = "rate", slo = { ttft_s_p99 = 0.3 }, min = 1, max = 200, tolerance = 0.2, seeds = 2,
    points_per_round = 3 } }
END
"$rooflua" run "$top/s.lua" --json "$top/alone.json" --quiet >"$top/alone.txt"
all="$top/all.sqlite"
shard() { # NUMBER
  "$rooflua" run "$top/s.lua" --shard "$1/3" --results "$top/r/" --round "$all" --quiet >"$top/out" 2>"$top/err.$1"
}
all_rounds() { # WHAT IS SAID AT THE END
  rounds=0
  until [ "$rounds" -gt 0 ] && has "$top/err.0" "$1" >"$top/check.log"; do
    rounds=$((rounds + 1))
    [ "$rounds" -lt 30 ] || { echo "FAIL  the search has no end"; exit 1; }
    for i in 0 1 2; do shard "$i" || { cat "$top/err.$i"; exit 1; }; done
    # A shard that is done again does nothing that was done.
    [ "$rounds" -gt 2 ] || shard 1
    "$rooflua" results merge "$all" "$top/r" >"$top/merge.log" || { cat "$top/merge.log"; exit 1; }
  done
  echo "      $rounds rounds"
}
all_rounds "0 of 2 searches need"
check "rounds have several points" test "$rounds" -gt 3 -a "$rounds" -lt 10
check "no shard prints a report" test ! -s "$top/out"
runs_of() { "$rooflua" results list "$1" | tail -n 1; }
before=$(runs_of "$all")
"$rooflua" run "$top/s.lua" --results "$all" --json "$top/merged.json" --quiet >"$top/merged.txt"
check "the report is that of one process, byte for byte" cmp "$top/alone.txt" "$top/merged.txt"
check "and the document" cmp "$top/alone.json" "$top/merged.json"
check "no run was done for it" test "$before" = "$(runs_of "$all")"
"$rooflua" run "$top/s.lua" --results "$top/one.sqlite" --quiet >"$top/one.txt"
check "shards did the runs of one process and no others" test "$before" = "$(runs_of "$top/one.sqlite")"

refused() { # WHAT IT SAYS, ARGUMENTS...
  part=$1
  shift
  if "$rooflua" run "$@" >"$top/said" 2>&1; then echo "was not refused"; return 1; fi
  has "$top/said" "$part"
}
check "--round without --shard" refused "needs --shard I/N" "$top/s.lua" --results "$top/r/" --round "$all"
check "--round with a report" refused "gives no report" "$top/s.lua" --shard 0/2 --results "$top/r/" --round "$all" \
  --json "$top/x.json"
check "points_per_round that are none" refused "points_per_round" "$top/s.lua" --set search.points_per_round=0
scenario 4 3
mv "$top/s.lua" "$top/sweep.lua"
check "--round of a sweep" refused "is for searches and plans" "$top/sweep.lua" --shard 0/2 --results "$top/r/" --round "$all"

# A plan: every candidate, replicate and largest load is a piece of work of its own.
rm -rf "$top/r" "$all"
cat >"$top/plan.lua" <<'END'
return { rooflua = 1, title = "Which GPU", kind = "plan", model = "llama-3.1-8b",
  workload = require "workloads.presets" { preset = "chatbot" },
  plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.02 }, requests = 1000, replicates = 10,
    gpus = { { "h100-sxm", most = 8, price_per_hour = 3 }, { "l40s", most = 16, price_per_hour = 1 } },
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 32, 64 },
      max_num_batched_tokens = { 512, 2048 } } } }
END
cp "$top/plan.lua" "$top/s.lua"
"$rooflua" run "$top/s.lua" --json "$top/alone.json" --quiet >"$top/alone.txt"
all_rounds "0 of 1 plans need"
before=$(runs_of "$all")
"$rooflua" run "$top/s.lua" --results "$all" --json "$top/merged.json" --quiet >"$top/merged.txt"
check "the answer of a plan is that of one process, byte for byte" cmp "$top/alone.txt" "$top/merged.txt"
check "and its document" cmp "$top/alone.json" "$top/merged.json"
check "no piece of it was done again" test "$before" = "$(runs_of "$all")"
"$rooflua" run "$top/s.lua" --results "$top/plan.sqlite" --quiet >"$top/one.txt"
check "its shards did the pieces of one process and no others" test "$before" = "$(runs_of "$top/plan.sqlite")"
for i in 0 1 2; do "$rooflua" results list "$top/r/shard-00$i-of-003.sqlite"; done >"$top/parts"
check "each shard did a part" test "$(grep -c '^[2-9][0-9]* runs' "$top/parts")" -eq 3
"$rooflua" plan "$top/s.lua" --results "$top/r/" --quiet >"$top/plan.txt"
check "rooflua plan reads the shards as they are" test "$(grep "^1 " "$top/plan.txt")" = "$(grep "^1 " "$top/alone.txt")"

command -v parallel >/dev/null 2>&1 || { echo "SKIPPED: parallel is not installed: no rounds on an engine"; finish; }
cat >"$top/s.lua" <<'END'
return { rooflua = 1, title = "Capacity", kind = "search", model = "llama-3.1-8b", hardware = "h200-sxm",
  workload = require "workloads.poisson" { num_requests = 30, prompt_tokens = 600, output_tokens = 30 },
  search = { goal = "rate", slo = { ttft_s_p99 = 0.3 }, min = 1, max = 200, tolerance = 0.2, points_per_round = 4 } }
END
"$rooflua" run "$top/s.lua" >"$top/alone.txt" 2>/dev/null
"$rooflua" campaign run "$top/s.lua" --on parallel --shards 3 --dir "$top/c" >"$top/run.txt" 2>"$top/run.err" ||
  cat "$top/run.err"
check "campaign run does a search round by round" cmp "$top/run.txt" "$top/alone.txt"
check "in several rounds" has "$top/run.err" "the next round is submitted"
check "with several shards" test "$(ls "$top/c/results" | wc -l)" -eq 3
sed 's/  search = /  vary = { hardware = { "h200-sxm", "l40s" } }, search = /' "$top/s.lua" >"$top/v.lua"
"$rooflua" campaign run "$top/v.lua" --on parallel --shards 2 --dir "$top/v" >"$top/run.txt" 2>"$top/run.err" ||
  cat "$top/run.err"
"$rooflua" run "$top/v.lua" >"$top/alone.v" 2>/dev/null
check "campaign run does a search of several variants" cmp "$top/run.txt" "$top/alone.v"
check "and no line of it is an error" sh -c "! grep -i 'say which' '$top/run.err'"
check "nor does its README ask what no file can tell" sh -c "! grep -e --missing '$top/v/README.md' '$top/v/merge.sh'"
"$rooflua" run "$top/plan.lua" --quiet >"$top/alone.plan"
"$rooflua" campaign run "$top/plan.lua" --on parallel --shards 2 --dir "$top/p" >"$top/run.plan" 2>"$top/run.err" ||
  cat "$top/run.err"
check "campaign run does a plan round by round" cmp "$top/run.plan" "$top/alone.plan"
rm "$top/c/results.sqlite" "$top/c/results/shard-001-of-003.sqlite"
"$rooflua" campaign run "$top/s.lua" --on parallel --shards 3 --dir "$top/c" >"$top/run.txt" 2>"$top/run.err"
check "started again it goes on from what is there" cmp "$top/run.txt" "$top/alone.txt"
printf 'image = "example/rooflua:1"\n' >"$top/site.toml"
if "$rooflua" campaign run "$top/s.lua" --on kubernetes --shards 3 --dir "$top/k" --site "$top/site.toml" \
  >"$top/said" 2>&1; then echo "FAIL  rounds in pods were not refused"; failures=1; fi
check "rounds in pods are refused" has "$top/said" "pods do not see"
# A program that does no run: the loop ends.
printf '#!/bin/sh\ncase "$*" in *--shard*) exit 1;; esac\nexec %s "$@"\n' "$rooflua" >"$top/fails"
chmod +x "$top/fails"
printf 'program = "%s"\n' "$top/fails" >"$top/site.toml"
if timeout 100 "$rooflua" campaign run "$top/s.lua" --on parallel --shards 2 --dir "$top/f" --site "$top/site.toml" \
  >"$top/said" 2>&1; then echo "FAIL  shards that always fail were not told"; failures=1; fi
check "shards that always fail are told, and nothing loops" has "$top/said" "gave none of them"
finish
