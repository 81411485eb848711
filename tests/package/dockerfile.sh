#!/bin/bash
# Runs docs/package/Dockerfile without a container engine: each stage is a tree made by debootstrap, in which the RUN
# lines are run as they stand, COPY copies, and the ENTRYPOINT is run as the USER. It takes as long as a whole build,
# so it is run by hand:
#
#     tests/package/dockerfile.sh [FOLDER]      trees and logs go to FOLDER (default: a temporary one, removed)
#
# SKIPPED (exit status 4) where debootstrap is missing or the user is not root. Where packages come from:
# tests/systems/tree.sh.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
dockerfile=$source_dir/docs/package/Dockerfile
# shellcheck source=tests/systems/tree.sh
. "$source_dir/tests/systems/tree.sh"
in_private "${1:-}" "$0" "$@"

# The tree of an image "debian:12-slim": a release's number is the suite that apt knows by its name.
make_base() {
  case $1 in
    debian:12-slim) base=$top/bookworm ;;
    *) echo "FAIL: FROM $1: no tree is known for it"; exit 1 ;;
  esac
  make_tree "${base##*/}" "$base"
}

# A command in the tree of the stage, in its WORKDIR, as its USER.
in_stage() { inside "$stage" "$user" "$workdir" "$@"; }

declare -A stages
stage='' workdir=/ user=0 number=0 entry='[]'

run_line() {
  local word=$1 rest=$2
  echo "== $word $rest" | cut -c 1-110
  case $word in
    FROM)
      number=$((number + 1)) workdir=/ user=0
      make_base "${rest%% *}"
      stage=$top/stage$number
      rm -rf "$stage"
      cp -a "$base" "$stage"
      mount_in "$stage"
      case $rest in *" AS "*) stages[${rest##* }]=$stage ;; esac
      ;;
    RUN)
      in_stage /bin/sh -c "$rest" > "$top/stage$number.log" 2>&1 ||
        { tail -30 "$top/stage$number.log"; echo "FAIL: $word $rest"; exit 1; }
      ;;
    COPY)
      local from=$source_dir words to
      case $rest in --from=*)
        from=${rest#--from=}
        from=${stages[${from%% *}]}
        rest=${rest#* }
        ;;
      esac
      words=${rest% *} to=$stage${rest##* }
      if [ "$from" = "$source_dir" ] && [ "$words" = . ]; then
        mkdir -p "$to"
        sed 's|^|./|' "$source_dir/.dockerignore" > "$top/ignored"
        tar -C "$source_dir" --anchored --exclude-from="$top/ignored" -c . | tar -x -C "$to"
      else
        # shellcheck disable=SC2086 # the words are patterns
        cp -a "$from"$words "$to"
      fi
      ;;
    WORKDIR)
      workdir=$rest
      mkdir -p "$stage$workdir"
      ;;
    USER) user=$rest ;;
    ENTRYPOINT) entry=$rest ;;
    *) echo "FAIL: this script does not know the instruction $word"; exit 1 ;;
  esac
}

text=$(grep -v '^#' "$dockerfile" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta')
while IFS= read -r line; do
  [ -z "$line" ] || run_line "${line%% *}" "$(echo "${line#* }" | tr -s ' ')"
done <<< "$text"

# What a user does with the image: a scenario from the current folder, as the user of the image.
program=$(echo "$entry" | tr -d '[]", ')
cat > "$stage/work/mine.lua" <<'SCENARIO'
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
  workload = require "workloads.poisson" { rate_per_s = 2, num_requests = 20, prompt_tokens = 300, output_tokens = 20 } }
SCENARIO
version=$(in_stage "$program" --version)
echo "$version"
in_stage "$program" run /work/mine.lua --quiet | grep -q "20 of 20 completed" || { echo "FAIL: run"; exit 1; }
in_stage "$program" list models > /dev/null || { echo "FAIL: list"; exit 1; }
[ "$(in_stage id -u)" = "$user" ] || { echo "FAIL: USER $user"; exit 1; }
[ ! -e "$stage/source" ] || { echo "FAIL: the sources are in the image"; exit 1; }
echo "passed: the image is $(du -smx "$stage" | cut -f 1) MB, $(($(du -smx "$stage" | cut -f 1) - $(du -smx "$base" | cut -f 1))) MB more than $(basename "$base")"
