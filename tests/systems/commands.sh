#!/bin/sh
# Both commands of the README, and the .deb, on a system where nothing is installed: from the top of a clone, as root.
# run.sh runs this in a tree of its own.
set -eu
started=$(date +%s)
elapsed() {
  now=$(date +%s)
  printf '%d:%02d' $(((now - started) / 60)) $(((now - started) % 60))
  started=$now
}

./scripts/rooflua run scenarios/01_hello.lua >/tmp/hello.txt
echo "the first command: $(elapsed)"
scripts/rooflua run scenarios/01_hello.lua --quiet --explain | diff - tests/golden/01_hello.txt
echo "$(c++ --version | head -n 1); $(cmake --version | head -n 1); Catch2 $(dpkg-query -W -f '${Version}' catch2)"

status=0
./scripts/test >/tmp/test.txt || status=$?
tail -n 100 /tmp/test.txt | grep -vE '^ *[0-9]+/[0-9]+ Test .* Passed' || true
echo "the second command: $(elapsed)"
[ "$status" -eq 0 ] || exit 1

apt-get install -y -qq lintian dpkg-dev file >/dev/null 2>&1
sh tests/package/deb.sh build/release
cpack --config build/release/CPackConfig.cmake -G DEB -B /work/packages >/tmp/cpack.txt
echo "the package: $(elapsed)"
