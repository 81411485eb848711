#include "script/serving/lua_reference.h"

#include "script/vm/context.h"

namespace rooflua::script {

LuaReference::LuaReference(lua_State* L)
    : lasting_(context_of(L).lasting), index_(luaL_ref(L, LUA_REGISTRYINDEX)) {}

LuaReference field_reference(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  if (!lua_isnil(L, -1)) return LuaReference(L);
  lua_pop(L, 1);
  return {};
}

LuaReference library_function(lua_State* L, const char* module, const char* name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  LuaReference function(L);
  lua_pop(L, 1);
  return function;
}

LuaReference made_function(lua_State* L, const char* module, const char* name,
                           std::initializer_list<const LuaReference*> values) {
  library_function(L, module, name).push(L);
  for (const LuaReference* value : values) *value ? value->push(L) : lua_pushnil(L);
  lua_call(L, static_cast<int>(values.size()), 1);
  return LuaReference(L);
}

bool has_field(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  const bool there = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return there;
}

}  // namespace rooflua::script
