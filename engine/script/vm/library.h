#pragma once
// Opens the library in a Lua state: the natives (C functions and the FFI table) and a searcher for
// the Lua files of scripts/lib/rooflua. Works in any state of LuaJIT, also in another program.

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

/// After this call `require "rooflua"` works in the state. May raise Lua errors.
void open_library(lua_State* L, const LibraryOptions& options);

}  // namespace rooflua::script
