// A tool of the build: compiles the library's chunks and reads its documents, so that the program
// need not parse them when it starts.
// Usage: rooflua_pack library OUTPUT SCRIPTS, or rooflua_pack documents OUTPUT FILE...

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/gzip.h"
#include "base/packed/documents.h"
#include "base/toml.h"
#include "script/vm/compiled_chunks.h"

namespace {

std::string pack_files(char** first, char** last) {
  std::vector<std::pair<std::string, rooflua::Json>> out;
  for (; first != last; ++first) {
    std::string text = rooflua::read_text(*first);
    rooflua::Json document = rooflua::parse_toml(text, *first);
    out.emplace_back(std::move(text), std::move(document));
  }
  return rooflua::pack_documents(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    const std::string packed = std::string_view(argv[1]) == "documents"
                                   ? pack_files(argv + 3, argv + argc)
                                   : rooflua::script::pack_library(argv[3]);
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
