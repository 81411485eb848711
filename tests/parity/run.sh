#!/bin/sh
# One parity script on the reference outputs beside the checkout: PROGRAM SCRIPT GOLDEN TABLES [MORE]
program=$1 script=$2
shift 2
data=../shared/data
for path in "$@"; do
  if [ ! -e "$data/$path" ]; then
    echo "SKIPPED: $data/$path is not there"
    [ "${ROOFLUA_REQUIRE_SHARED:-}" = 1 ] && exit 1
    exit 0
  fi
done
if [ $# -eq 3 ]; then
  exec "$program" lua "tests/parity/$script.lua" "$data/$1" "$data/$2" "$data/$3"
fi
exec "$program" lua "tests/parity/$script.lua" "$data/$1" "$data/$2"
