#pragma once
// LuaJIT's compiler, before anything of ours runs in a state: the one fault that is worked around,
// and the room it gets.

struct lua_State;

namespace rooflua::script {

/// Whether this is LuaJIT at all: every other Lua lacks its compiler and the FFI.
bool is_luajit(lua_State* L);

/// Tests for the known miscompilation of LuaJIT before May 2022 (turning load forwarding off, with
/// a warning, where it is found) and gives the compiler room for a whole simulation.
/// @returns false if the fault was found
bool prepare_compiler(lua_State* L);

}  // namespace rooflua::script
