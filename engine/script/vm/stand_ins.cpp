// Replacements for functions that LuaJIT has and Lua 5.1 lacks. Without them Lua 5.1 could not load
// the C module ("undefined symbol"), and the module could not report what is wrong. In LuaJIT its
// own functions are used: the interpreter's symbols are found before those of a module.

#include "script/vm/stack.h"

namespace {

int refuse(lua_State* L) {
  return luaL_error(L, "rooflua needs LuaJIT");
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int luaJIT_setmode(lua_State* L, int, int) {
  return refuse(L);
}

STAND_IN void luaJIT_profile_start(lua_State* L, const char*, luaJIT_profile_callback, void*) {
  refuse(L);
}

STAND_IN void luaJIT_profile_stop(lua_State* L) {
  refuse(L);
}

STAND_IN int luaL_loadbufferx(lua_State* L, const char*, std::size_t, const char*, const char*) {
  return refuse(L);
}

STAND_IN void luaL_traceback(lua_State* L, lua_State*, const char*, int) {
  refuse(L);
}
