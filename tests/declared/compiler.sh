#!/bin/sh
# Compiles as a launcher of CMake does, or copies an object of another build that is listed.
#   tests/declared/compiler.sh LIST BUILD COMPILER [OPTION]...
# A source that names a macro of its own build's folders is compiled. What was copied is stale once the list or the
# other build's object changes.
set -eu
list=$1 build=$2
shift 2
object='' depends='' before='' macros=''
for word in "$@"; do
  case $before in
    -o) object=$word ;;
    -MF) depends=$word ;;
    -c) file=$word ;;
  esac
  case $word in
    -DROOFLUA_*=*/*)
      macro=${word#-D}
      macros="$macros ${macro%%=*}" ;;
  esac
  before=$word
done
same=''
if [ -n "$depends" ] && grep -qxF "$object" "$list"; then
  same=1
  for macro in $macros; do
    ! grep -qw "$macro" "$file" || same=''
  done
fi
if [ -n "$same" ]; then
  cp "$build/$object" "$object"
  printf '%s: %s %s\n' "$object" "$build/$object" "$list" >"$depends"
else
  exec "$@"
fi
