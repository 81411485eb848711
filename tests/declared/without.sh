#!/bin/sh
# What is added by a row can be taken out: removes a part of a run from a copy of the source tree, builds the program
# there, and checks that runs without the part are as before, and that a run which asks for it is an error.
#   tests/declared/without.sh gate|clients|encoder|experts|adapters|tiers|stations BUILD_FOLDER      from the source tree
set -eu
part=$1
case $part in
  gate) policy=admission asks=scenarios/37_gates.lua tag=gates ;;
  clients) policy=client asks=scenarios/39_retries.lua tag=clients ;;
  encoder) policy=encoder asks=scenarios/50_encoder_pool.lua tag=gates ;;
  experts) policy=experts asks=scenarios/47_expert_drift.lua tag=experts ;;
  adapters) policy='' asks=scenarios/45_adapters.lua tag=adapters ;;
  tiers) policy='' asks=scenarios/26_host_memory.lua tag=tiers ;;
  stations) policy='' asks=scenarios/48_front_end.lua tag=gates ;;
  *) echo "without.sh: there is no part '$part'" >&2; exit 2 ;;
esac
mkdir -p "$2/without"
folder=$(cd "$2/without" && pwd)
. tests/declared/tree.sh
copy CMakeLists.txt README.md engine scripts scenarios bench_data docs tests
cd "$folder/tree"

# Its folder, its policy from Lua and the rows that name it: at most six lines in files that are not its own.
changed=0
drop() { # FILE PATTERN: lines that name the part go
  count=$(grep -cE "$2" "$1" || true)
  [ "$count" -gt 0 ] || { echo "FAIL $1: no line of $part"; exit 1; }
  changed=$((changed + count))
  sed -i -E "\#$2#d" "$1"
}
cut() { # FILE TEXT: the part's word on a line of several parts
  grep -qF "$2" "$1" || { echo "FAIL $1: no $2"; exit 1; }
  changed=$((changed + 1))
  sed -i "s#$2##" "$1"
}
rm -r "engine/serve/parts/$part"
drop engine/serve/CMakeLists.txt "parts/$part/"
drop engine/serve/parts/list.cpp "make_$part(,|\}|\()"
if [ -n "$policy" ]; then
  rm "engine/script/surroundings/$policy.cpp"
  drop engine/script/CMakeLists.txt "surroundings/$policy\."
  drop engine/script/surroundings/surroundings.cpp "read_$policy(;|\},)"
fi
case $part in
  tiers) figures=tiers ;; # its figures are asked of the part
  stations) figures=frontend ;;
  *) figures='' ;;
esac
if [ -n "$figures" ]; then
  rm "engine/measure/parts/$figures.cpp"
  cut engine/measure/CMakeLists.txt " parts/$figures.cpp"
  cut engine/measure/parts/list.cpp " ${figures}_part,"
  cut engine/measure/parts/list.cpp " &${figures}_part,"
fi
echo "$part: $changed lines in files that are not its own"
[ "$changed" -le 6 ] || { echo "FAIL more than 6 lines name $part"; exit 1; }

build "without $part"
export ROOFLUA_HOME="$folder/tree" ROOFLUA_PROGRAM="$built"

if "$built" run "$asks" --quiet >"$folder/asked" 2>&1; then
  echo "FAIL $asks runs without $part"
  exit 1
fi
grep -qE "this program (has no part|is built without)|unknown key '$part'" "$folder/asked" || { cat "$folder/asked"; echo "FAIL no word of $part"; exit 1; }
failed=0 ran=0
for test in tests/scripts/serving/*_test.lua tests/scripts/fleets/*_test.lua tests/scripts/plays/*_test.lua \
  tests/scripts/workloads/*_test.lua tests/scripts/"$tag"/*_test.lua; do
  [ -e "$test" ] || continue
  [ "${test##*/}" != fork_law_test.lua ] || continue # it asks every shipped policy, those of the part, too
  ! grep -qwE "${policy:-$part}|$part|${figures:-$part}" "$test" || continue # its own, and others that ask for it
  ran=$((ran + 1))
  "$built" lua "$test" >"$folder/test.log" 2>&1 || { tail -5 "$folder/test.log"; echo "FAIL $test"; failed=1; }
done
[ "$ran" -ge 10 ] || { echo "FAIL only $ran tests ask nothing of $part"; exit 1; }
exit $failed
