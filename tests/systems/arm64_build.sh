#!/bin/sh
# Cross-compiles for arm64 on Debian for amd64: installs the compiler, the libraries and qemu-user, and builds the
# program and two programs of tests in build/arm64. From the top of a clone, as root: it adds an architecture to apt.
set -eu
# shellcheck source=scripts/bootstrap.sh
. scripts/bootstrap.sh
dpkg --add-architecture arm64
apt-get update -qq
names='cmake ninja-build pkg-config g++-aarch64-linux-gnu qemu-user qemu-user-binfmt'
for name in $(missing_packages); do
  case $name in
    g++ | cmake | ninja-build | pkg-config) ;;
    luajit) names="$names libluajit-5.1-dev:arm64" ;;
    catch2) names="$names libcatch2-dev:arm64" ;; # the package of that name is of no architecture
    *) # A package of headers alone is of no architecture.
      if apt-cache show "$name" | grep -q '^Architecture: all'; then names="$names $name"; else names="$names $name:arm64"; fi ;;
  esac
done
# shellcheck disable=SC2086  # names
apt-get install -y -qq --no-install-recommends $names >/tmp/install.txt 2>&1 || { tail -n 20 /tmp/install.txt; exit 1; }
cmake --preset arm64 >/tmp/configure.txt 2>&1 || { tail -n 40 /tmp/configure.txt; exit 1; }
ninja -C build/arm64 rooflua test_app test_laws >/tmp/build.txt 2>&1 || { tail -n 60 /tmp/build.txt; exit 1; }
file=build/arm64/bin/rooflua
echo "built for arm64: $(wc -c <$file) bytes"
