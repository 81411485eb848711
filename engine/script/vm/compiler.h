#pragma once
// Sets up LuaJIT's compiler before any script runs in a state: tests for one known fault and avoids
// it, and raises the limits of compiled code.

struct lua_State;

namespace rooflua::script {

/// Whether the interpreter is LuaJIT. Every other Lua lacks the compiler and the FFI.
bool is_luajit(lua_State* L);

/// LuaJIT before May 2022 compiles the length of a table wrongly if the table grew through another
/// reference. Where a test finds this fault, load forwarding is turned off, with a warning. Then
/// the limits on compiled code are raised, so that a whole simulation fits.
void prepare_compiler(lua_State* L);

}  // namespace rooflua::script
