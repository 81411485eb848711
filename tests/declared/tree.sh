# A copy of the source tree in a folder, and the program that is built of it. Sourced from the source tree, with:
#   folder  an absolute path; the copy is $folder/tree, the program $built

copy() { # PATH...: what is copied of the source tree; unchanged files keep their times, so that a second run builds little
  mkdir -p "$folder/tree"
  for each in "$@"; do
    cp -a "$each" "$folder/fresh.$$"
    rm -rf "${folder:?}/tree/$each"
    mv "$folder/fresh.$$" "$folder/tree/$each"
  done
}

built=$folder/build/bin/rooflua
# Nobody edits this tree: large units are compiled in less time, and without optimisation Clang takes less than GCC.
compiler=$(command -v clang++ || command -v c++)
build() { # WORDS: the program "with what"; without optimisation
  if ! { cmake -S "$folder/tree" -B "$folder/build" -G Ninja -DROOFLUA_TESTS=OFF -DROOFLUA_EMULATE=OFF \
    -DROOFLUA_PRECOMPILED=ON -DROOFLUA_UNIT_BYTES=150000 -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 &&
    cmake --build "$folder/build" --target rooflua; } >"$folder/build.log" 2>&1; then
    tail -40 "$folder/build.log"
    echo "FAIL the program $1 does not build"
    exit 1
  fi
}
