#!/bin/sh
# Tests what `cmake --install` installs, in other interpreters: stock.sh BUILD PROGRAM. LuaJIT runs stock.lua through
# the C module and must print what PROGRAM prints for it. Lua 5.1 must get an error, because it has no compiler.
set -eu
build=$1 program=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cmake --install "$build" --prefix "$tree/usr" >"$tree/install.log" || { cat "$tree/install.log"; exit 1; }
export LUA_CPATH="$tree/usr/lib/lua/5.1/?.so" LUA_PATH='' LUA_INIT=''
unset ROOFLUA_HOME
passed=0 failed=0
check() { # NAME STATUS
  if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; fi
}

if command -v luajit >/dev/null 2>&1; then
  status=0
  luajit -e 'require "rooflua"' || status=$?
  check 'require "rooflua"' $status
  status=0
  luajit tests/script/stock.lua >"$tree/stock" 2>&1 || status=$?
  check "luajit tests/script/stock.lua" $status
  [ $status -eq 0 ] || cat "$tree/stock"
  "$program" lua tests/script/stock.lua >"$tree/own" 2>&1 || true
  status=0
  cmp "$tree/own" "$tree/stock" || status=$?
  check "both print the same" $status
else
  echo "SKIPPED: the C module in a stock LuaJIT: there is no luajit here (Debian: luajit2 or luajit)"
fi

if command -v lua5.1 >/dev/null 2>&1; then
  status=0
  lua5.1 -e 'require "rooflua"' >"$tree/plain" 2>&1 && status=1
  grep -q 'rooflua: it needs LuaJIT.* this interpreter is Lua 5.1' "$tree/plain" || status=1
  check "Lua 5.1 is told that LuaJIT is needed" $status
  [ $status -eq 0 ] || cat "$tree/plain"
else
  echo "SKIPPED: the C module in Lua 5.1: there is no lua5.1 here"
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
