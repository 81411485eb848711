#pragma once
// Puts the library into a Lua state: the natives (C functions and the FFI table) and a searcher for
// the Lua side in scripts/lib/rooflua. Works on any state, a stock interpreter's too.

#include <filesystem>

struct lua_State;

namespace rooflua::script {

struct LibraryOptions {
  std::filesystem::path home;
  bool trusted = true;
  bool print_to_stderr = false;
  double load_instructions = 0;
  bool jit = true;
};

/// After this `require "rooflua"` works in the state's globals. May raise Lua errors.
void open_library(lua_State* L, const LibraryOptions& options);

}  // namespace rooflua::script
