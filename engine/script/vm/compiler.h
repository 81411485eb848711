#pragma once
// Sets up LuaJIT's compiler before any script runs in a state: tests for one known fault and avoids
// it, and raises the limits of compiled code.

#include <string>

struct lua_State;

namespace rooflua::script {

/// Whether the interpreter is LuaJIT. Every other Lua lacks the compiler and the FFI.
bool is_luajit(lua_State* L);

/// LuaJIT before May 2022 compiles the length of a table wrongly if the table grew through another
/// reference. Where a compiled loop finds this fault, or where none could be compiled, load
/// forwarding is turned off. Returns the warning, which names the file of LuaJIT; "" if all is well.
/// `loop` is a chunk that returns whether lengths were right and whether it was compiled; "" is the
/// loop for this fault.
std::string mend_lengths(lua_State* L, const std::string& loop = "");

/// Mends lengths, with the warning on stderr. Then the limits on compiled code are raised, so that
/// a whole simulation fits.
void prepare_compiler(lua_State* L);

}  // namespace rooflua::script
