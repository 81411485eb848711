#!/bin/sh
# A new op, metric, number format, figure of a model, scenario key, release, option, engine, kind of policy, kind of
# layers, axis of a plan, column of a measured set and part of a run each cost one declaration: adds one of each to a
# copy of the source tree, builds the program there, and checks that everything which should follow from it does.
#   tests/declared/run.sh PROGRAM BUILD_FOLDER      from the source tree
set -eu
program=$1
mkdir -p "$2/declared"
folder=$(cd "$2/declared" && pwd)
. tests/declared/tree.sh
copy CMakeLists.txt README.md engine scripts scenarios bench_data docs
mkdir -p "$folder/tree/tests/declared"
cp -a tests/declared/scenario.lua tests/declared/starts.csv "$folder/tree/tests/declared/"
"$program" lua tests/declared/add.lua "$folder/tree"
cp tests/declared/sample_scan_bf16.csv tests/declared/sample_gemm_bf16.csv "$folder/tree/bench_data/h200-sxm/"
cp tests/declared/sample_engine.lua "$folder/tree/scripts/engines/"
mkdir -p "$folder/tree/tests/reference"
cp -a tests/generated.lua tests/generated_engines.lua tests/schema_of_parts.lua tests/shipped_tables.lua "$folder/tree/tests/"
cp -a tests/reference/engines "$folder/tree/tests/reference/"
build "with the additions"
here=$(pwd)
cd "$folder/tree"
ROOFLUA_HOME=$(pwd) "$built" lua "$here/tests/declared/check.lua" "env ROOFLUA_HOME=$(pwd) $built"
