#!/bin/sh
# Which LuaJIT scripts/rooflua installs, and what it says where it may not install: with stand-ins for apt-get, id and sudo.
#   luajit_choice.sh SOURCES
set -u
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir -p "$top/scripts" "$top/bin"
cp "$1/scripts/bootstrap.sh" "$top/scripts"
cat >"$top/scripts/ask" <<'ASK'
set -eu
. "$(dirname -- "$(readlink -f -- "$0")")/bootstrap.sh"
missing_packages() { printf 'luajit zlib1g-dev '; }
ensure_packages
ASK
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$top/bin/$1"; chmod +x "$top/bin/$1"; }
stand_in apt-cache 'exit 0'
stand_in sudo "exit \$(cat $top/sudo)"
stand_in id "cat $top/user"
stand_in apt-get "case \"\$*\" in *--simulate*) exit \$(cat $top/removes) ;; esac; echo \"\$*\" >>$top/installed"
asked() { # USER SUDO REMOVES: who asks, the status of sudo, and of a trial of libluajit2
  echo "$1" >"$top/user"; echo "$2" >"$top/sudo"; echo "$3" >"$top/removes"; : >"$top/installed"
  PATH=$top/bin:$PATH sh "$top/scripts/ask" >"$top/said" 2>&1
}
wrong() { echo "FAILED: $*"; cat "$top/said" "$top/installed"; exit 1; }

asked 0 1 0 || wrong "root cannot install"
grep -q -- '--no-remove.* libluajit2-5.1-dev' "$top/installed" || wrong "libluajit2 fits, and another one is installed"
asked 0 1 100 || wrong "root cannot install where libluajit2 removes another package"
grep -q -- '--no-remove.* libluajit-5.1-dev' "$top/installed" || wrong "libluajit2 removes another package, and is installed"
asked 1000 1 0 && wrong "without root nothing can be installed, and the status is 0"
[ ! -s "$top/installed" ] || wrong "without root something is installed"
grep -q '^  sudo apt-get update && sudo apt-get install -y --no-remove libluajit2-5.1-dev zlib1g-dev' "$top/said" ||
  wrong "without root the one command is not said"
echo "libluajit2 where it takes no package's place, and without root one command"
