// Chunks that are compiled already do what their texts say.

#include "script/vm/compiled_chunks.h"

#include <fstream>

#include "script/vm/vm.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::script;
namespace fs = std::filesystem;

namespace {

/// Loads chunks as `rooflua lua` and `require` do.
struct State {
  Vm vm{{.home = test::source_dir(), .trusted = true}};

  /// What the chunk returns, or the message of its error.
  std::string run(const std::string& text, const std::string& name) {
    const fs::path file = test::scratch() / "chunk.lua";
    std::ofstream(file, std::ios::binary) << text;
    return vm.run_text(
        "local native = require 'rooflua.native'\n"
        "local loaded, chunk = pcall(native.load_chunk, '" +
            file.string() + "', '" + name +
            "')\n"
            "return select(2, pcall(loaded and chunk or error, chunk))",
        "=test");
  }
};

fs::path scripts_of(const std::string& name, const std::string& text) {
  const fs::path folder = test::scratch() / name;
  fs::remove_all(folder);
  fs::create_directories(folder / "lib" / "rooflua" / "base");
  fs::create_directories(folder / "steps");
  std::ofstream(folder / "lib" / "rooflua" / "base" / "one.lua") << text;
  std::ofstream(folder / "steps" / "two.lua") << text;
  return folder;
}

}  // namespace

TEST_CASE("a chunk is that of its text and name, in every state") {
  const std::string text = "local given\nreturn given.field";
  for (int round = 0; round < 3; ++round) {
    State state;
    CHECK(state.run(text, "@a.lua") == "a.lua:2: attempt to index local 'given' (a nil value)");
    CHECK(state.run(text, "@b.lua") == "b.lua:2: attempt to index local 'given' (a nil value)");
    CHECK(state.run("return 1 + 1", "@a.lua") == "2");
    CHECK(state.run("return 1 + 2", "@a.lua") == "3");
  }
}

TEST_CASE("a syntax error is told each time, and bytecode in a file is refused") {
  State state;
  for (int round = 0; round < 2; ++round)
    CHECK_THAT(state.run("return (", "@a.lua"), ContainsSubstring("a.lua:1: unexpected"));
  const std::string bytecode =
      state.vm.run_text("return string.dump(function() return 1 end)", "=test");
  CHECK_THAT(state.run(bytecode, "@a.lua"), ContainsSubstring("attempt to load chunk"));
}

TEST_CASE("a packed library answers for the text that it was packed from, and for no other") {
  // Bytecode of another text under the key of this one would show.
  const std::string text = "return 'as it was packed'";
  static const std::string packed = pack_library(scripts_of("packed", text));
  CHECK(packed.find("as it was packed") != std::string::npos);
  CHECK(pack_library(scripts_of("packed", text)).size() == packed.size());
  std::string marked = packed;
  for (std::size_t at = 0; (at = marked.find("as it was", at)) != std::string::npos;)
    marked.replace(at, 9, "as marked");
  static const std::string library = marked;
  use_packed_library(library);
  State state;
  CHECK(state.run(text, "=rooflua.base.one") == "as marked packed");
  CHECK(state.run(text, "@scripts/steps/two.lua") == "as marked packed");
  CHECK(state.run(text, "@scripts/steps/three.lua") == "as it was packed");
  CHECK(state.run(text + " ", "@scripts/steps/two.lua") == "as it was packed");
}

TEST_CASE("a script that cannot be parsed is named when the library is packed") {
  CHECK_THROWS_WITH(pack_library(scripts_of("broken", "return (")),
                    ContainsSubstring("unexpected"));
}
