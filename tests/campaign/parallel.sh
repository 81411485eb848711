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
finish
