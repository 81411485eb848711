#include "script/serving/policy_call.h"

#include <cstdio>
#include <new>

#include "base/error.h"

namespace rooflua::script {

std::string seconds_text(double time_s) {
  char text[48];
  std::snprintf(text, sizeof text, "at %.6f s", time_s);
  return text;
}

void rethrow(lua_State* L, const std::string& when) {
  const char* text = lua_tostring(L, -1);
  const std::string message =
      text != nullptr ? text : "an error that is not text but " + describe_value(L, lua_gettop(L));
  lua_pop(L, 1);
  throw Error("", message + " (" + when + ")");
}

std::string policy_name(lua_State* L, const LuaReference& instance, const char* kind) {
  instance.push(L);
  if (lua_istable(L, -1)) lua_getfield(L, -1, "name");
  const char* name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
  const std::string out = name != nullptr ? std::string(kind) + " " + name : kind;
  lua_settop(L, lua_gettop(L) - (lua_istable(L, -1) ? 1 : 2));
  return out;
}

ServeState& serve_state(lua_State* L) {
  static const char key = 0;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  lua_rawget(L, LUA_REGISTRYINDEX);
  auto* state = static_cast<ServeState*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (state != nullptr) return *state;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  state = new (lua_newuserdata(L, sizeof(ServeState))) ServeState();
  lua_rawset(L, LUA_REGISTRYINDEX);
  return *state;
}

}  // namespace rooflua::script
