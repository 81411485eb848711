// A tool of the build: compiles the library's chunks, so that the program need not parse them when
// it starts. Usage: rooflua_pack SCRIPTS OUTPUT

#include <cstdio>
#include <exception>
#include <fstream>

#include "script/vm/compiled_chunks.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const std::string packed = rooflua::script::pack_library(argv[1]);
    std::ofstream out(argv[2], std::ios::binary);
    out.write(packed.data(), static_cast<std::streamsize>(packed.size()));
    out.close();
    if (out) return 0;
    std::fprintf(stderr, "%s cannot be written\n", argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
