#!/bin/sh
# A shard that is killed with -9 at any moment and done again: nothing is lost, nothing is done twice.
. "$(dirname "$0")/lib.sh"
count=240
scenario "$count" 1500
shard() { "$rooflua" run "$top/s.lua" --shard "$1/2" --results "$top/r/" >"$top/out.$1" 2>"$top/err.$1"; }
first="$top/r/shard-000-of-002.sqlite"
rows() { "$rooflua" results list "$1" | sed -n 's/ runs$//p'; }
kept() { "$rooflua" results export "$1" --format jsonl | LC_ALL=C sort; }

# A group of its own, so that a kill takes the workers too.
kills=0 before=0 lost=0 size=0
: >"$top/before"
while [ "$kills" -lt 4 ]; do
  setsid sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$top/pid" "$rooflua" run "$top/s.lua" --shard 0/2 \
    --results "$top/r/" --quiet >"$top/out.0" 2>"$top/err.0" &
  waiting=$!
  timeout 60 sh -c "until [ -s '$first' ] && [ \$(stat -c %s '$first') -gt $((size + 20000)) ]; do sleep 0.02; done"
  ms=$(($(od -An -N2 -tu2 /dev/urandom) % 100))
  sleep "0.$(printf %03d "$ms")"
  kill -9 "-$(cat "$top/pid")" 2>/dev/null || { echo "      the shard ended before it was killed"; break; }
  wait "$waiting" 2>/dev/null || true
  kills=$((kills + 1))
  there=$(rows "$first")
  echo "      killed $ms ms after the next runs: $there runs are there, $before before"
  kept "$first" >"$top/now"
  # What was kept before is there still, with the same bytes.
  LC_ALL=C comm -23 "$top/before" "$top/now" >"$top/gone"
  [ ! -s "$top/gone" ] || lost=1
  mv "$top/now" "$top/before"
  before=$there
  size=$(stat -c %s "$first")
done
check "it was killed in the middle" test "$kills" -gt 0 -a "$before" -gt 0 -a "$before" -lt $((count / 2))
check "a run that was kept is never lost or changed" test "$lost" -eq 0
check "the shard is done again" shard 0
check "it did only what was missing" has "$top/err.0" "$before of $((count / 2)) runs were in"
check "and all of that" test "$(rows "$first")" -eq $((count / 2))
kept "$first" >"$top/once"
check "the other shard is done" shard 1
check "a shard that was done is done again" shard 0
check "it says that everything is there" has "$top/err.0" "$((count / 2)) of $((count / 2)) runs were in"
kept "$first" >"$top/twice"
check "it added nothing" cmp "$top/once" "$top/twice"
check "the shards are merged" "$rooflua" results merge "$top/all.sqlite" "$top/r"
"$rooflua" results merge "$top/all.sqlite" "$top/r" >"$top/said"
check "merged again, nothing is new" has "$top/said" "$count runs, 0 of them new"
mkdir -p "$top/c/scenario"
cp "$top/s.lua" "$top/own.lua" "$top/t.csv" "$top/c/scenario"
mv "$top/all.sqlite" "$top/c/results.sqlite"
check "merged shards are the run on one machine" same_as_alone "$count"
finish
