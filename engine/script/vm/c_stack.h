#pragma once
// The room that is left on the C stack of this thread. LuaJIT counts the slots of its own stack
// alone.

#include <cstddef>

struct lua_State;

namespace rooflua::script {

/// Raises "stack overflow" where less than 1 MB is left. C functions with large frames that call
/// Lua functions ask it first: a recursion through them fills the C stack before Lua's.
void check_c_stack(lua_State* L);

}  // namespace rooflua::script
