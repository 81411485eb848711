#!/bin/sh
# A new op, metric, number format, figure of a model, scenario key, release, option, engine, kind of policy, axis of a
# plan, column of a measured set and part of a run each cost one declaration: adds one of each to a copy of the source
# tree, builds the program there, and checks that everything which should follow from the declaration does.
#   tests/declared/run.sh PROGRAM BUILD_FOLDER      from the source tree
set -eu
program=$1
mkdir -p "$2/declared/tree"
folder=$(cd "$2/declared" && pwd)
# Unchanged files keep their times, so that a second run builds little.
for each in CMakeLists.txt README.md engine scripts scenarios bench_data docs; do
  cp -a "$each" "$folder/fresh.$$"
  rm -rf "${folder:?}/tree/$each"
  mv "$folder/fresh.$$" "$folder/tree/$each"
done
mkdir -p "$folder/tree/tests/declared"
cp -a tests/declared/scenario.lua tests/declared/starts.csv "$folder/tree/tests/declared/"
"$program" lua tests/declared/add.lua "$folder/tree"
cp tests/declared/sample_scan_bf16.csv tests/declared/sample_gemm_bf16.csv "$folder/tree/bench_data/h200-sxm/"
cp tests/declared/sample_engine.lua "$folder/tree/scripts/engines/"
mkdir -p "$folder/tree/tests/reference"
cp -a tests/generated.lua tests/schema_of_parts.lua tests/shipped_tables.lua "$folder/tree/tests/"
cp -a tests/reference/engines "$folder/tree/tests/reference/"
build() {
  cmake -S "$folder/tree" -B "$folder/build" -G Ninja -DROOFLUA_TESTS=OFF -DROOFLUA_EMULATE=OFF \
    -DROOFLUA_PRECOMPILED=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 &&
    cmake --build "$folder/build" --target rooflua
}
if ! build >"$folder/build.log" 2>&1; then
  tail -40 "$folder/build.log"
  echo "FAIL the program with the additions does not build"
  exit 1
fi
built=$folder/build/bin/rooflua
here=$(pwd)
cd "$folder/tree"
ROOFLUA_HOME=$(pwd) "$built" lua "$here/tests/declared/check.lua" "env ROOFLUA_HOME=$(pwd) $built"
