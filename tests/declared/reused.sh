#!/bin/sh
# Objects of a build that a build of a copy of its source tree would make the same: every file that they were made from
# is the same in both.
#   tests/declared/reused.sh SOURCE BUILD COPY COPY_BUILD     prints paths below BUILD
# Which files those are, ninja knows from the compiler. A file that the copy's build has yet to write counts as another.
set -eu
ninja -C "$2" -t deps 2>/dev/null | awk -v source="$1/" -v build="$2/" -v copy="$3/" -v copy_build="$4/" -v q="'" '
  function other_of(path) {
    if (index(path, build) == 1) return copy_build substr(path, length(build) + 1)
    if (index(path, source) == 1) return copy substr(path, length(source) + 1)
    return ""
  }
  function differs(path, other) {
    if (!(path in known)) {
      other = other_of(path)
      known[path] = other != "" && system("cmp -s " q path q " " q other q) != 0
    }
    return known[path]
  }
  /^[^ ]/ { object = /\.o: .*\(VALID\)$/ ? substr($1, 1, length($1) - 1) : ""; if (object != "") same[object] = 1 }
  /^ / && object != "" { sub(/^ +/, ""); if (differs($0)) delete same[object] }
  END { for (object in same) print object }' | LC_ALL=C sort
