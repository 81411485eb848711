#include "tests/reference/lua_schedulers.h"

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

LuaSchedulers::LuaSchedulers() : vm_(options()) {}

std::unique_ptr<SchedulerPolicy> LuaSchedulers::make(const std::string& name,
                                                     const std::string& parameters) {
  return make_from("return require('schedulers." + name + "') { " + parameters + " }");
}

std::unique_ptr<SchedulerPolicy> LuaSchedulers::make_from(const std::string& text) {
  std::unique_ptr<SchedulerPolicy> scheduler;
  vm_.protect([&](lua_State* L) {
    if (luaL_loadstring(L, text.c_str()) != 0) throw Error("scheduler", lua_tostring(L, -1));
    lua_call(L, 0, 1);
    scheduler = std::make_unique<script::LuaScheduler>(L, script::serve_state(L).border);
  });
  return scheduler;
}

}  // namespace rooflua::reference
