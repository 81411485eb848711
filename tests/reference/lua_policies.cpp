#include "tests/reference/lua_policies.h"

#include "base/error.h"

namespace rooflua::reference {

namespace {

script::VmOptions options() {
  script::VmOptions options;
  options.home = ROOFLUA_SOURCE_DIR;
  options.trusted = true;
  options.interruptible = false;
  return options;
}

}  // namespace

LuaPolicies::LuaPolicies() : vm_(options()) {}

std::unique_ptr<SchedulerPolicy> LuaPolicies::make(const std::string& name,
                                                   const std::string& parameters) {
  return make_from("return require('schedulers." + name + "') { " + parameters + " }");
}

void LuaPolicies::load(const std::string& text, const std::function<void(lua_State*)>& take) {
  vm_.protect([&](lua_State* L) {
    if (luaL_loadstring(L, text.c_str()) != 0) throw Error("policy", lua_tostring(L, -1));
    lua_call(L, 0, 1);
    asking_.L = L;
    take(L);
  });
}

std::unique_ptr<SchedulerPolicy> LuaPolicies::make_from(const std::string& text) {
  std::unique_ptr<SchedulerPolicy> scheduler;
  load(text, [&](lua_State* L) {
    scheduler = std::make_unique<script::LuaScheduler>(asking_, script::serve_state(L).border);
  });
  return scheduler;
}

std::unique_ptr<Router> LuaPolicies::make_router(const std::string& name,
                                                 const std::string& parameters,
                                                 std::uint64_t seed) {
  const std::string text =
      "local router = require('routers." + name + "') { " + parameters +
      " }\nif router.start then router:start(require('rooflua.random').streams(" +
      std::to_string(seed) + ")) end\nreturn router";
  std::unique_ptr<Router> router;
  load(text, [&](lua_State* L) {
    router = std::make_unique<script::LuaRouter>(asking_, script::serve_state(L).border);
  });
  return router;
}

}  // namespace rooflua::reference
