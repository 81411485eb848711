#!/bin/sh
# What is wrong with a folder of results or with what engines say, answered with what to do.
. "$(dirname "$0")/lib.sh"
scenario 6 3
says() { # WHAT IT SAYS, COMMAND... which fails
  part=$1
  shift
  if "$@" >"$top/said" 2>&1; then echo "did not fail"; return 1; fi
  has "$top/said" "$part"
}
shard() { "$rooflua" run "$top/s.lua" --quiet "$@"; }

two="env SLURM_ARRAY_TASK_ID=1 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4"
check "two engines that say different things" says "the environment names two tasks, SLURM_ARRAY_TASK_ID=1 and" \
  $two "$rooflua" run "$top/s.lua" --shard auto/4 --results "$top/d/"
check "and what to do" has "$top/said" "write --shard I/4, with I from 0 to 3"
check "a shard that is written wins over both" $two "$rooflua" run "$top/s.lua" --shard 0/4 --results "$top/d/" --quiet
check "its file is there" test -s "$top/d/shard-000-of-004.sqlite"

rm -r "$top/d"
check "a shard is done" shard --shard 0/2 --results "$top/d/"
echo "my notes" >"$top/d/notes.txt"
: >"$top/d/begun.sqlite"
check "files that are no results do no harm" "$rooflua" results merge "$top/m.sqlite" "$top/d"
echo "my notes" >"$top/d/notes.sqlite"
check "a foreign file in the folder is named, with what to do" says "move it out" \
  "$rooflua" results merge "$top/m2.sqlite" "$top/d"
check "it is that file" has "$top/said" "notes.sqlite"
check "nothing is left of the merge" test ! -e "$top/m2.sqlite"
head -c 3000 "$top/d/shard-000-of-002.sqlite" >"$top/d/notes.sqlite"
check "a damaged file as well" says "is damaged" "$rooflua" results list "$top/d"
check "a run leaves it aside, says so, and has the others" sh -c \
  "'$rooflua' run '$top/s.lua' --results '$top/d' --json '$top/with.json' >'$top/out' 2>'$top/err'"
check "it said so" has "$top/err" "this file is left aside"
check "and took the rows of the shard" has "$top/err" "3 of 6 runs were in"
shard --json "$top/alone.json" >"$top/alone.txt"
check "the result is that of one process" cmp "$top/with.json" "$top/alone.json"

check "a file in place of the folder" says "name a folder" shard --shard 0/2 --results "$top/m.sqlite"
check "the name of a file as well" says "as $top/new/" shard --shard 0/2 --results "$top/new.sqlite"
check "a part that is none" says "I from 0 to N - 1" shard --shard 4/4 --results "$top/d/"
check "an engine's part of nothing" says "say of how many" shard --shard auto --results "$top/d/"
check "no engine" says "no engine has said" shard --shard auto/4 --results "$top/d/"
check "a variable that is unset" says "is empty" shard --shard "" --results "$top/d/"
check "of results as well" says "is empty" shard --results ""
check "more parts than runs are no mistake" shard --shard 7/100 --results "$top/parts/"
check "a folder that cannot be made" says "this folder cannot be made" shard --shard 0/2 --results "$top/s.lua/d/"
check "a folder that is not there" says "there is no folder $top/no" "$rooflua" results merge "$top/no/m.sqlite" "$top/m.sqlite"

# Files of something else are named, read by nothing, and left as they are.
echo hello >"$top/text.txt"
printf '\211PNG\r\n\032\n\000\000' >"$top/picture.png"
cp "$top/m.sqlite" "$top/other.sqlite" # the mark of an application, bytes 68 to 71, is of something else
printf '\001\002\003\004' | dd of="$top/other.sqlite" bs=1 seek=68 conv=notrunc 2>/dev/null
"$rooflua" results export "$top/m.sqlite" --format jsonl | head -n 2 >"$top/lines.jsonl"
{ cat "$top/lines.jsonl"; echo hello; } >"$top/more.jsonl"
head -c "$(($(wc -c <"$top/lines.jsonl") - 100))" "$top/lines.jsonl" >"$top/cut.jsonl"
cat "$top/text.txt" "$top/picture.png" "$top/other.sqlite" >"$top/as_they_were"
while read -r file what; do
  check "$file is merged by nobody" says "$what" "$rooflua" results merge "$top/m3.sqlite" "$top/$file"
  check "nor listed" says "$what" "$rooflua" results list "$top/$file"
  check "nor shown" says "$what" "$rooflua" results show "$top/$file" x
  check "nor exported" says "$what" "$rooflua" results export "$top/$file" --format csv
  check "nor compared" says "$what" "$rooflua" results diff "$top/m.sqlite" "$top/$file"
done <<'END'
text.txt is no file of results
picture.png is no file of results
other.sqlite is an SQLite file of something else
more.jsonl more.jsonl:3: is no line of
cut.jsonl cut.jsonl:2: is cut off or was altered
END
for of in list "export --format csv"; do
  check "a build that no run is of ($of)" says "no run is of this build (there are 0." "$rooflua" results $of "$top/m.sqlite" --build 9
done
cp "$top/m.sqlite" "$top/both.sqlite"
sed 's/seed = 5/seed = 5, scheduler = "vllm_v1"/; s/scheduler = own {},//' "$top/s.lua" >"$top/others.lua"
"$rooflua" run "$top/others.lua" --results "$top/both.sqlite" --quiet >"$top/out" 2>"$top/err"
check "two runs of the same parameters are not compared" says "say which with --set" \
  "$rooflua" results diff "$top/m.sqlite" "$top/both.sqlite"
check "nothing is left of the merges" test ! -e "$top/m3.sqlite"
for file in text.txt picture.png other.sqlite; do
  check "$file is no target" says "name another file" "$rooflua" results merge "$top/$file" "$top/m.sqlite"
  check "nor for a run" says "name another file" shard --results "$top/$file"
done
cat "$top/text.txt" "$top/picture.png" "$top/other.sqlite" >"$top/as_they_are"
check "they are as they were" cmp "$top/as_they_were" "$top/as_they_are"
check "a folder in place of the file" says "name the file" "$rooflua" results merge "$top/d" "$top/m.sqlite"
mkdir "$top/none"
check "a folder without results" says "holds no files of results" "$rooflua" results list "$top/none"

# Root may write everywhere: another user is asked.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 "$top"
  other="setpriv --reuid 4321 --regid 4321 --clear-groups"
  check "a folder that may not be written" says "name a file elsewhere" $other "$rooflua" run "$top/s.lua" --quiet \
    --shard 0/2 --results "$top/d/"
  check "nor by a merge" says "its folder is read-only" $other "$rooflua" results merge "$top/d/m.sqlite" "$top/m.sqlite"
  check "a file that may only be read is read" $other "$rooflua" results list "$top/m.sqlite"
  check "and not written" says "read-only" $other "$rooflua" run "$top/s.lua" --quiet --results "$top/m.sqlite"
fi
[ "$(id -u)" -eq 0 ] && mkdir "$top/small" && mount -t tmpfs -o size=48k tmpfs "$top/small" 2>/dev/null || {
  echo "SKIPPED: no small file system can be made here: a full disk is not tested"
  finish
}
at_end() { umount "$top/small"; rm -rf "$top"; }
check "a full disk under a shard" says "the disk or its quota is full" shard --shard 0/1 --results "$top/small/"
check "what to do" has "$top/said" "the same command runs only the missing ones"
check "under a merge" says "the disk or its quota is full" "$rooflua" results merge "$top/small/m.sqlite" "$top/d/shard-000-of-002.sqlite"
check "under an export" says "No space left on device" "$rooflua" results export "$top/m.sqlite" --format csv -o /dev/full
mount -o remount,size=4m "$top/small"
check "with room the same command goes on" shard --shard 0/1 --results "$top/small/"
check "to the whole" sh -c "'$rooflua' results list '$top/small' --missing 1 2>&1 | grep -q 'no run is missing'"
finish
