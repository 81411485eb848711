# Sourced by scripts/rooflua and scripts/test: packages, configuration, build. Plain shell.
# Defines: rooflua_root, ensure_packages, ensure_configured PRESET, ensure_built PRESET [TARGET].

rooflua_root=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")/.." && pwd -P) # behind links to the script

say() { printf 'rooflua: %s\n' "$*" >&2; }

missing_packages() {
  for command_and_package in c++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config; do
    command -v "${command_and_package%%:*}" >/dev/null 2>&1 || printf '%s ' "${command_and_package#*:}"
  done
  # A quick test for the headers where Debian and Ubuntu install them; find_package decides later.
  [ -e /usr/include/CLI/CLI.hpp ] || printf 'libcli11-dev '
  [ -e /usr/include/nlohmann/json.hpp ] || printf 'nlohmann-json3-dev '
  [ -e /usr/include/spdlog/spdlog.h ] || printf 'libspdlog-dev '
  [ -e /usr/include/fmt/format.h ] || printf 'libfmt-dev '
  [ -e /usr/include/toml++/toml.h ] || [ -e /usr/include/toml++/toml.hpp ] || printf 'libtomlplusplus-dev '
  [ -e /usr/include/nlopt.h ] || printf 'libnlopt-dev '
  [ -e /usr/include/histedit.h ] || printf 'libedit-dev '
  [ -e /usr/include/sqlite3.h ] || printf 'libsqlite3-dev '
  [ -e /usr/include/yaml.h ] || printf 'libyaml-dev '
  [ -e /usr/include/event2/event.h ] || printf 'libevent-dev '
  [ -e /usr/include/zmq.h ] || printf 'libzmq3-dev '
  [ -e /usr/include/openssl/evp.h ] || printf 'libssl-dev '
  [ -e /usr/include/zlib.h ] || printf 'zlib1g-dev '
  [ -d /usr/include/catch2 ] || printf 'catch2 '
  [ -d /usr/include/luajit-2.1 ] || printf 'luajit '
}

# OpenResty's LuaJIT if it installs without removing another package, else the distribution's. The
# program tests at start-up for the one known miscompilation (docs/records/decisions.md).
luajit_package() {
  if $1 apt-get install -y --no-remove --simulate libluajit2-5.1-dev >/dev/null 2>&1; then
    echo libluajit2-5.1-dev
  else
    echo libluajit-5.1-dev
  fi
}

ensure_packages() {
  packages=$(missing_packages)
  [ -n "$packages" ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    say "these packages are missing: $packages"
    say "and there is no apt-get here; install their equivalents, then: cmake --preset release && cmake --build --preset release"
    exit 2
  fi
  as_root=''
  if [ "$(id -u)" -ne 0 ]; then
    if sudo -n true 2>/dev/null; then
      as_root='sudo -n'
    else
      say "these packages are missing, and installing them needs root. Please run:"
      listed=$(printf '%s' "$packages" | sed 's/\bluajit\b/libluajit2-5.1-dev/')
      printf '  sudo apt-get update && sudo apt-get install -y --no-remove %s\n' "$listed" >&2
      exit 2
    fi
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-cache show libcli11-dev >/dev/null 2>&1 || $as_root apt-get update -qq >&2
  case " $packages" in
    *' luajit '*) packages=$(printf '%s' "$packages" | sed 's/\bluajit\b//')$(luajit_package "$as_root") ;;
  esac
  say "installing: $packages"
  # shellcheck disable=SC2086  # a list of package names
  if ! $as_root apt-get install -y -qq --no-remove $packages >/dev/null 2>&1; then
    $as_root apt-get update -qq >&2
    # shellcheck disable=SC2086
    $as_root apt-get install -y -qq --no-remove $packages >&2 || {
      say "the packages could not be installed without removing others; nothing was changed"
      exit 2
    }
  fi
}

ensure_configured() {
  [ -e "$rooflua_root/build/$1/build.ninja" ] && return 0
  ensure_packages
  say "configuring (build/$1)"
  (cd "$rooflua_root" && cmake --preset "$1" ${ROOFLUA_UNIT_BYTES:+-DROOFLUA_UNIT_BYTES="$ROOFLUA_UNIT_BYTES"} >"/tmp/rooflua-configure.$$" 2>&1) || {
    cat "/tmp/rooflua-configure.$$" >&2
    rm -f "/tmp/rooflua-configure.$$"
    exit 2
  }
  rm -f "/tmp/rooflua-configure.$$"
}

# No source file is newer than the last build.
# A folder is newer where a file came or went: every test script of Lua is a test of its own.
is_built() {
  stamp=$rooflua_root/build/$1/.built-${2:-all}
  [ -e "$stamp" ] &&
    [ -z "$(find "$rooflua_root/engine" "$rooflua_root/CMakeLists.txt" "$rooflua_root/tests" -newer "$stamp" -name "[!.]*" \( -name "*.cpp" -o -name "*.h" -o -name CMakeLists.txt -o -type d \) -print -quit 2>/dev/null)" ]
}

# Builds what is stale. A second builder in a folder waits for the first.
ensure_built() {
  is_built "$@" && return 0
  if ! command -v flock >/dev/null 2>&1; then
    build_now "$@"
    return 0
  fi
  mkdir -p "$rooflua_root/build/$1"
  exec 9>"$rooflua_root/build/$1/.lock"
  flock -n 9 || {
    say "another build runs in build/$1; waiting for it"
    flock 9
  }
  is_built "$@" || build_now "$@" 9>&-
  exec 9>&-
}

build_now() {
  ensure_configured "$1"
  say "building (build/$1; the first time takes a few minutes)"
  if [ -t 2 ]; then # ninja writes its progress into one line of a terminal
    NINJA_STATUS='rooflua: %p built, %f of %t in %e s: ' \
      cmake --build "$rooflua_root/build/$1" ${2:+--target "$2"} >&2 || exit 2
  else
    log=$rooflua_root/build/$1/build.log
    cmake --build "$rooflua_root/build/$1" ${2:+--target "$2"} >"$log" 2>&1 || { tail -60 "$log" >&2; exit 2; }
  fi
  touch "$stamp"
}
