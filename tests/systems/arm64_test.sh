#!/bin/sh
# Goldens and laws of the program that arm64_build.sh built, by qemu-user: from the top of a clone.
set -eu
[ ! -w /proc/sys/fs/binfmt_misc/register ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
build/arm64/bin/rooflua --version || { echo "SKIPPED: this kernel does not give programs for arm64 to qemu-user"; exit 4; }
status=0
build/arm64/tests/app/test_app "[golden]" || status=1
build/arm64/tests/laws/test_laws || status=1
exit $status
