#pragma once
// Opens the library in a Lua state: the natives (C functions and the FFI table) and a searcher for
// the Lua files of scripts/lib/rooflua. Works in any state of LuaJIT, also in another program.

struct lua_State;

namespace rooflua::script {

struct LibraryOptions;  // library_options.h

/// After this call `require "rooflua"` works in the state. May raise Lua errors.
void open_library(lua_State* L, const LibraryOptions& options);

}  // namespace rooflua::script
