#include "script/vm/compiler.h"

#include <string>

#include "base/error.h"
#include "base/log.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

/// Reads the length of a table that grows through another reference. True if LuaJIT is right.
constexpr const char* length_test = R"(
  local grown = {}
  local seen = { list = grown }
  for i = 1, 300 do
    grown[#grown + 1] = i
    if #seen.list ~= i then return false end
  end
  return true
)";

bool lengths_are_right(lua_State* L) {
  if (luaL_loadbuffer(L, length_test, std::char_traits<char>::length(length_test), "=self-test") !=
          0 ||
      lua_pcall(L, 0, 1, 0) != 0) {
    throw Error("LuaJIT", std::string("the start-up self-test failed: ") + lua_tostring(L, -1));
  }
  const bool right = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return right;
}

void set_option(lua_State* L, const char* option) {
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "opt");
  lua_getfield(L, -1, "start");
  lua_pushstring(L, option);
  if (lua_pcall(L, 1, 0, 0) != 0) {
    const std::string message = lua_tostring(L, -1);
    throw Error("LuaJIT", "jit.opt.start(" + std::string(option) + "): " + message);
  }
  lua_pop(L, 2);
}

}  // namespace

bool is_luajit(lua_State* L) {
  lua_getglobal(L, "jit");
  const bool there = lua_type(L, -1) == LUA_TTABLE;
  lua_pop(L, 1);
  return there;
}

void prepare_compiler(lua_State* L) {
  if (!lengths_are_right(L)) {
    set_option(L, "-fwd");
    log::warn(
        "this LuaJIT compiles table lengths wrongly; load forwarding is off, scripts run "
        "slower. libluajit2-5.1-2 does not have the fault.");
  }
  for (const char* option :
       {"maxmcode=8192", "maxtrace=4000", "maxrecord=8000", "tryside=64", "maxside=1000"}) {
    set_option(L, option);
  }
}

}  // namespace rooflua::script
