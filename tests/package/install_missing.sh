#!/bin/sh
# Installing builds what a build of the program alone lacks, and nothing where all is there: the first rule of a build
# folder, run on a small project whose targets make files of the same names.
#   install_missing.sh BUILD_FOLDER
set -eu
build=$(realpath "$1")
top=$(realpath "$(mktemp -d)")
trap 'rm -rf "$top"' EXIT
wrong() { echo "FAILED: $*"; exit 1; }

sed -n '/# first: what is missing/,/# then: the rules/p' "$build/cmake_install.cmake" | sed "s|$build|$top/made|g" >"$top/rule.cmake"
program=$top/made/bin/rooflua
library=$(grep -o "$top/made/[^\")]*librooflua[^\")]*" "$top/rule.cmake" | head -n 1)
module=$(grep -o "$top/made/[^\")]*/rooflua\.so" "$top/rule.cmake" | head -n 1)
page=$top/made/documents/rooflua.1.gz
[ -n "$library" ] && [ -n "$module" ] || wrong "the rule names no library or no module"

cat >"$top/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES NONE)
foreach(pair rooflua:$program rooflua_library:$library rooflua_module:$module rooflua_documents:$page)
  string(REPLACE ":" ";" pair \${pair})
  list(GET pair 0 name)
  list(GET pair 1 file)
  get_filename_component(folder \${file} DIRECTORY)
  add_custom_target(\${name} COMMAND \${CMAKE_COMMAND} -E make_directory \${folder} COMMAND \${CMAKE_COMMAND} -E touch \${file}
    COMMAND sh -c "echo \${name} >>$top/built; test ! -e $top/broken" VERBATIM)
endforeach()
CMAKE
cmake -G Ninja -S "$top" -B "$top/made" >"$top/log" 2>&1 || wrong "the small project: $(cat "$top/log")"
install_it() { : >"$top/built"; cmake -P "$top/rule.cmake" >"$top/log" 2>&1; }
built() { sort "$top/built" | tr '\n' ' '; }

cmake --build "$top/made" --target rooflua >"$top/log" 2>&1 || wrong "the small project: $(cat "$top/log")"
install_it || wrong "the program alone was built, and installing ends with an error: $(cat "$top/log")"
for each in "$library" "$module" "$page"; do [ -e "$each" ] || wrong "$each was not built"; done
sleep 0.1
touch "$library" "$module" "$page"
install_it || wrong "installing what is there ends with an error"
[ -z "$(built)" ] || wrong "all was there, and $(built)was built"
rm "$library"
install_it || wrong "the library is missing, and installing ends with an error"
[ -e "$library" ] || wrong "the library was not built"
sleep 0.1
touch "$program"
install_it
[ -n "$(built)" ] || wrong "the library is older than the program, and was not built"
rm "$library"
touch "$top/broken"
if install_it; then wrong "a build that fails is installed"; fi
echo "installing builds what is missing"
