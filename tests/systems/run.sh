#!/bin/bash
# Both commands of the README and the package on a system that people have, from a clean clone of the last commit, in a
# tree that debootstrap makes. For arm64 the tree cross-compiles, and goldens and laws run by qemu-user. It takes as long
# as builds and tests do, so it is run by hand, for a release:
#
#     tests/systems/run.sh debian-12|debian-13|arm64 [FOLDER]    trees and logs go to FOLDER (default: a temporary one)
#
# With CCACHE_DIR=FOLDER the compiler's results are kept there: the times are then not those of a first build. Measured
# data beside the checkout, ../shared, is seen in the tree. SKIPPED (exit status 4) where debootstrap is missing or the
# user is not root.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
case ${1:-} in
  debian-12) suite=bookworm ;;
  debian-13 | arm64) suite=trixie ;;
  *) sed -n '/^#  /s/^# *//p' "$0"; exit 2 ;;
esac
# shellcheck source=tests/systems/tree.sh
. "$source_dir/tests/systems/tree.sh"
in_private "${2:-}" "$0" "$@"

make_tree "$suite" "$top/$suite"
tree=$top/$1
rm -rf --one-file-system "$tree"
cp -a "$top/$suite" "$tree"
mount_in "$tree"
inside "$tree" 0 / apt-get update -qq
if [ -n "${CCACHE_DIR:-}" ]; then
  inside "$tree" 0 / apt-get install -y -qq ccache > /dev/null 2>&1
  mkdir -p "$CCACHE_DIR" "$tree/ccache"
  mount --bind "$CCACHE_DIR" "$tree/ccache"
fi
[ -z "$(git -C "$source_dir" status --porcelain)" ] || echo "note: what is not committed is not tested"
git -c safe.directory='*' clone --quiet --depth 1 "file://$source_dir" "$tree/work/rooflua"
if [ -d "$source_dir/../shared" ]; then
  mkdir "$tree/work/shared"
  mount --bind -o ro "$source_dir/../shared" "$tree/work/shared"
fi

if [ "$1" = arm64 ]; then
  inside "$tree" 0 /work/rooflua sh tests/systems/arm64_build.sh
  # A user namespace has formats of programs of its own, since Linux 6.7: this machine stays as it is.
  unshare --user --map-root-user --mount bash -c '
    . "$0/tests/systems/tree.sh"
    mount -t binfmt_misc binfmt_misc "$1/proc/sys/fs/binfmt_misc" 2> /dev/null || true
    inside "$1" 0 /work/rooflua sh tests/systems/arm64_test.sh' "$source_dir" "$tree"
  exit
fi

inside "$tree" 0 /work/rooflua sh tests/systems/commands.sh
# The package in a tree that has nothing of the build.
installed=$top/$1-installed
rm -rf --one-file-system "$installed"
cp -a "$top/$suite" "$installed"
mount_in "$installed"
cp "$tree"/work/packages/rooflua_*.deb "$installed/tmp/rooflua.deb"
inside "$installed" 0 / apt-get update -qq
inside "$installed" 0 / apt-get install -y -qq --no-install-recommends /tmp/rooflua.deb > "$top/$1-install.log" 2>&1 ||
  { tail -n 20 "$top/$1-install.log"; echo "FAIL: the package does not install"; exit 1; }
inside "$installed" 65534 /tmp rooflua run /usr/share/rooflua/scenarios/01_hello.lua --quiet --explain |
  diff - "$tree/work/rooflua/tests/golden/01_hello.txt" || { echo "FAIL: the installed program says other things"; exit 1; }
inside "$installed" 0 / apt-get purge -y -qq rooflua > /dev/null 2>&1
[ ! -e "$installed/usr/share/rooflua" ] || { echo "FAIL: purge leaves files behind"; exit 1; }
echo "$1: the package installs, runs for a user, and is removed"
