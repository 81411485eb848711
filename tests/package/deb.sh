#!/bin/sh
# Makes the .deb of a build folder, asks lintian, installs it into an empty tree, uses it there, and removes it again.
#   deb.sh BUILD_FOLDER
# dpkg works on the tree alone (its own database, no root needed), so that nothing of this machine changes.
set -eu
build=$(realpath "$1")
sources=$(realpath "$(dirname "$0")/../..")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
failures=0
wrong() { echo "wrong: $*"; failures=1; }

for each in dpkg dpkg-deb dpkg-shlibdeps cpack; do
  command -v "$each" >/dev/null 2>&1 && continue
  echo "SKIPPED: $each is not installed"
  exit 4
done
case "$(ldd "$build/bin/rooflua" 2>/dev/null)" in
*libasan* | *libubsan* | *libtsan*)
  echo "SKIPPED: a build with sanitizers is no package"
  exit 4 ;;
esac

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$top/made" >"$top/cpack.txt" 2>&1 || { cat "$top/cpack.txt"; exit 1; }
deb=$(ls "$top"/made/rooflua_*.deb)
libraries=$(ls "$top"/made/librooflua0_*.deb "$top"/made/librooflua-dev_*.deb)

if command -v lintian >/dev/null 2>&1; then
  # shellcheck disable=SC2086 # several files
  lintian --allow-root --fail-on error,warning "$deb" $libraries || wrong "lintian complains"
else
  echo "lintian is not installed: not asked"
fi

tree=$top/tree
mkdir -p "$tree/var/lib/dpkg/info" "$tree/var/lib/dpkg/updates" "$tree/var/log"
: >"$tree/var/lib/dpkg/status"
in_tree() { dpkg --root="$tree" --force-not-root --force-bad-path --force-depends --log="$top/log" "$@" >"$top/dpkg.txt" 2>&1; }
in_tree --install "$deb" || { cat "$top/dpkg.txt"; exit 1; }

program=$tree/usr/bin/rooflua
cd "$top"
"$program" --version | grep -q "^rooflua " || wrong "--version"
"$program" run "$tree/usr/share/rooflua/scenarios/01_hello.lua" >hello.txt || wrong "run of the first scenario"
grep -q "step" hello.txt || wrong "the report of the first scenario has no step"
"$program" new mine >/dev/null && "$program" check mine.lua >/dev/null || wrong "new, then check"
"$program" help routers >/dev/null || wrong "help routers"
python=$("$program" --python-path)
case "$python" in "$tree"/*) ;; *) wrong "--python-path is outside of the tree: $python" ;; esac
gzip -t "$tree/usr/share/man/man1/rooflua.1.gz" || wrong "the manual page"
for each in bash-completion/completions/rooflua zsh/vendor-completions/_rooflua fish/vendor_completions.d/rooflua.fish; do
  [ -s "$tree/usr/share/$each" ] || wrong "there is no $each"
done

# The library and what programs are compiled with, unpacked: their scripts would run ldconfig of this machine.
all=$top/all
for each in "$deb" $libraries; do dpkg-deb -x "$each" "$all"; done
found=$(dirname "$(find "$all/usr/lib" -name librooflua.so)")
if command -v cc >/dev/null 2>&1; then
  cc "$sources/tests/library/price.c" -I"$all/usr/include" -L"$found" -lrooflua -o price || wrong "a program in C"
  LD_LIBRARY_PATH=$found ./price '{"model": "llama-3.1-8b", "hardware": "h200-sxm"}' >price.txt || wrong "the price in C"
fi
if command -v python3 >/dev/null 2>&1; then
  PYTHONPATH=$all/usr/share/rooflua/scripts/python PYTHONDONTWRITEBYTECODE=1 python3 -c 'import rooflua
print(rooflua.Pricer(model="llama-3.1-8b", hardware="h200-sxm").price(64, 131072))' >python.txt || wrong "the price in Python"
fi

in_tree --purge rooflua || { cat "$top/dpkg.txt"; wrong "purge"; }
left=$(find "$tree" -type f -not -path "$tree/var/*")
[ -z "$left" ] || wrong "left behind: $left"
[ "$failures" = 0 ] && echo "the package is well made, runs, and leaves nothing behind"
exit "$failures"
