#!/bin/sh
# A campaign on GNU parallel.
. "$(dirname "$0")/lib.sh"
needs parallel
scenario 12 5
"$rooflua" campaign submit "$top/s.lua" --on parallel --shards 4 --dir "$top/c" >"$top/said" 2>&1
check "parallel runs four shards and merges" timeout 120 sh "$top/c/submit.sh"
check "merged shards are the run on one machine" same_as_alone 12
rm "$top/c/results.sqlite" "$top/c/results/shard-002-of-004.sqlite"
sed -i '/shard 2\/4/d' "$top/c/logs/joblog"
check "the same line does a missing shard again" timeout 120 sh "$top/c/submit.sh"
check "and the result is the same" same_as_alone 12
"$rooflua" campaign run "$top/s.lua" --on parallel --shards 3 --dir "$top/r" >"$top/run.txt" 2>"$top/run.err"
"$rooflua" run "$top/s.lua" >"$top/alone.txt" 2>/dev/null
check "campaign run submits, waits, merges and prints the report of one machine" cmp "$top/run.txt" "$top/alone.txt"
mkdir "$top/r2"
printf '#!/bin/sh\ncase "$*" in *"--shard 1/3"*) exit 1;; esac\nexec %s "$@"\n' "$rooflua" >"$top/fails"
chmod +x "$top/fails"
printf 'program = "%s"\n' "$top/fails" >"$top/site.toml"
if "$rooflua" campaign run "$top/s.lua" --on parallel --shards 3 --dir "$top/r2" --site "$top/site.toml" >"$top/said" 2>&1
then echo "FAIL a shard that never succeeds was not told"; failures=1; fi
check "a shard that fails again and again is told, and nothing loops" has "$top/said" "gave none of them"
finish
