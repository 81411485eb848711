#!/bin/sh
# Installs a build into an empty tree, and builds and runs there a program in C, by pkg-config and by find_package of
# CMake, and one in Python. Their prices are those of the command `step`, and the results of their runs those of `run`.
#   installed.sh BUILD_FOLDER
set -eu
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
for each in cc cmake pkg-config python3; do
  command -v "$each" >/dev/null 2>&1 && continue
  echo "SKIPPED: $each is not installed"
  exit 4
done
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
unset ROOFLUA_HOME ROOFLUA_LIBRARY || true

cmake --install "$build" --prefix "$top/first" >"$top/log" 2>&1 || { tail -5 "$top/log"; exit 1; }
mv "$top/first" "$top/tree" # it may be moved
tree=$top/tree
libraries=$(dirname "$(find "$tree" -name librooflua.so)")
model='"model": "llama-3.1-8b", "hardware": "h200-sxm", "engine": "vllm 0.19"'
expected=$("$tree/bin/rooflua" step --model llama-3.1-8b --hardware h200-sxm --engine "vllm 0.19" --prefill 0+512 \
  --decode 2048x63 --json - | python3 -c 'import json,sys; print(repr(json.load(sys.stdin)["variants"][0]["price"][0]["time_s"]))')

cd "$top"
cp "$here/price.c" .
PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # the flags are several words
cc -std=c11 -Wall -Wextra -Werror -pedantic price.c -o by_pkg_config $(pkg-config --cflags --libs rooflua)
found=$(LD_LIBRARY_PATH=$libraries ./by_pkg_config "{$model}")
[ "$found" = "$expected" ] || { echo "by pkg-config: $found, step says $expected"; exit 1; }

# A run: what rooflua.run says of the same scenario.
load='"workload": {"name": "poisson", "rate_per_s": 20, "num_requests": 60, "prompt_tokens": 300, "output_tokens": 20}'
cp "$here/simulate.c" .
# shellcheck disable=SC2046 # the flags are several words
cc -std=c11 -Wall -Wextra -Werror -pedantic simulate.c -o simulate $(pkg-config --cflags --libs rooflua)
LD_LIBRARY_PATH=$libraries ./simulate "{$model, $load}" >simulated.json
PYTHONPATH=$("$tree/bin/rooflua" --python-path) PYTHONDONTWRITEBYTECODE=1 python3 - <<PYTHON || { echo "a run differs"; exit 1; }
import json
import rooflua

keys = {$model, $load}
expected = rooflua.run(**keys).document["variants"]
with rooflua.open(**keys) as simulation:
    simulation.step(20)
    assert simulation.run().document["variants"] == expected
with open("simulated.json") as file:
    assert json.load(file)["variants"] == expected
PYTHON

mkdir project
cp price.c project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(price LANGUAGES C)
find_package(rooflua 0.1 REQUIRED)
add_executable(price price.c)
target_link_libraries(price PRIVATE rooflua::rooflua)
CMAKE
cmake -S project -B made -DCMAKE_PREFIX_PATH="$tree" >"$top/log" 2>&1 && cmake --build made >>"$top/log" 2>&1 ||
  { tail -20 "$top/log"; exit 1; }
found=$(made/price "{$model}")
[ "$found" = "$expected" ] || { echo "by CMake: $found, step says $expected"; exit 1; }

found=$(PYTHONPATH=$("$tree/bin/rooflua" --python-path) PYTHONDONTWRITEBYTECODE=1 python3 - <<PYTHON
import rooflua
with rooflua.Pricer(**{$model}) as pricer:
    print(repr(pricer.price(prefills=[(512, 0)], contexts=[2048] * 63)))
PYTHON
)
[ "$found" = "$expected" ] || { echo "Python: $found, step says $expected"; exit 1; }
left=$(nm -D --defined-only "$libraries/librooflua.so" 2>/dev/null | grep -vc ' rooflua_[a-z_]*$' || true)
[ "$left" = 0 ] || { echo "the library shows more than its functions"; exit 1; }
echo "a program in C, by pkg-config and by CMake, and one in Python agree with step and run: $expected s"
