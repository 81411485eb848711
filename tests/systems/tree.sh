# shellcheck shell=bash disable=SC2016
# Trees of other systems, which debootstrap makes and chroot enters: sourced by run.sh and tests/package/dockerfile.sh.
# debootstrap and apt in a tree take packages from where apt of this machine takes Debian's, by its proxy; MIRROR names
# another place.

# Ends with status 4 and a sentence where no tree can be made. Else runs SCRIPT again where its mounts and processes are
# its own and end with it. There `top` is a folder for trees and logs: FOLDER, or a temporary one.
in_private() { # FOLDER|"" SCRIPT ARGUMENT...
  if [ -n "${ROOFLUA_TREES:-}" ]; then
    top=$ROOFLUA_TREES
    return 0
  fi
  [ "$(id -u)" = 0 ] || { echo "SKIPPED: only root can make and enter such a tree"; exit 4; }
  command -v debootstrap > /dev/null || { echo "SKIPPED: debootstrap is not installed"; exit 4; }
  unshare --mount true 2> /dev/null || { echo "SKIPPED: this machine lets root mount nothing"; exit 4; }
  local folder=${1:-$(mktemp -d)} status=0
  mkdir -p "$folder"
  ROOFLUA_TREES=$(realpath "$folder") unshare --mount --pid --fork --kill-child --mount-proc "${@:2}" || status=$?
  [ -n "$1" ] || rm -rf --one-file-system "$folder"
  exit "$status"
}

# Nothing where apt knows no mirror of Debian: debootstrap then has its own.
mirror() {
  if [ -n "${MIRROR:-}" ]; then echo "$MIRROR"; return; fi
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2> /dev/null |
    head -n 1
}

# A tree with nothing but a minimal Debian; a tree that is there already stays as it is.
make_tree() { # SUITE FOLDER
  [ ! -e "$2.complete" ] || return 0
  rm -rf "$2"
  local proxy=''
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  # shellcheck disable=SC2046 # the mirror, or nothing
  http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase --include=ca-certificates "$1" "$2" $(mirror) \
    > "$2.log" 2>&1 || { tail -n 20 "$2.log"; echo "FAIL: debootstrap $1"; exit 1; }
  apt-config dump | grep -E '^Acquire::(https?|Check|Retries)' > "$2/etc/apt/apt.conf.d/50from-outside" || true
  cp -a /etc/apt/auth.conf* "$2/etc/apt/" 2> /dev/null || true
  touch "$2.complete"
}

# What programs expect in a tree.
mount_in() { # TREE
  mount -t proc proc "$1/proc"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
  mount -t tmpfs tmpfs "$1/dev/shm"
  cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2> /dev/null || true
}

# A command in a folder of a tree, with an environment of its own.
inside() { # TREE USER FOLDER COMMAND...
  local tree=$1 folder=$3 as=()
  [ "$2" = 0 ] || as=(--userspec="$2")
  shift 3
  chroot "${as[@]}" "$tree" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/tmp LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${CCACHE_DIR:+CCACHE_DIR=/ccache} \
    /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
}
