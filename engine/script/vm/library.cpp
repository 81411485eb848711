#include "script/vm/library.h"

#include <algorithm>

#include "base/error.h"
#include "script/bind/profiles.h"
#include "script/border_text.h"
#include "script/vm/context.h"
#include "script/vm/stack.h"
#include "serve/contract/clock.h"

namespace rooflua::script {

namespace {

constexpr const char* context_key = "rooflua.context";

int collect_context(lua_State* L) {
  // The state is closing: nothing calls a binding after this.
  static_cast<std::shared_ptr<Context>*>(lua_touserdata(L, 1))->reset();
  return 0;
}

void push_context(lua_State* L, const LibraryOptions& options) {
  using Pointer = std::shared_ptr<Context>;
  void* box = push_box(L, context_key, sizeof(Pointer), &collect_context);
  auto* pointer = new (box) Pointer(std::make_shared<Context>());
  (*pointer)->options = options;
  (*pointer)->lasting = lua_newthread(L);  // the library may be opened in a coroutine
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.thread");
  fill_cost_table((*pointer)->cost_table);
  (*pointer)->cost_table.context = pointer->get();
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.context.of");
}

/// Finds the file of a module. "rooflua" is scripts/lib/rooflua/init.lua, "rooflua.cost" is
/// cost.lua beside it, and every other name lies in scripts/: "steps.kernels" is
/// scripts/steps/kernels.lua. Chunks of the library are named "=rooflua.cost": errors skip frames
/// with such a name and report the user's line.
int find_module(lua_State* L) {
  const std::string name = check_text(L, 1, "require");
  constexpr const char* letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (name.find_first_not_of(letters) != std::string::npos) return 0;
  const bool own = name == "rooflua" || name.rfind("rooflua.", 0) == 0;
  std::string file = !own ? name : name == "rooflua" ? "lib.rooflua.init" : "lib." + name;
  std::replace(file.begin(), file.end(), '.', '/');
  const auto path = context_of(L).options.home / "scripts" / (file + ".lua");
  if (!std::filesystem::exists(path)) {
    lua_pushfstring(L, "\n\tno file '%s'", path.c_str());
    return 1;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, "rooflua.load_chunk");
  lua_pushstring(L, path.c_str());
  lua_pushstring(L, own ? ("=" + name).c_str() : ("@scripts/" + file + ".lua").c_str());
  lua_call(L, 2, 1);
  return 1;
}

/// string_methods(methods): from now on ("x"):upper() finds its method in this table.
int string_methods(lua_State* L) {
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  return 0;
}

void add_searcher(lua_State* L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaders");
  const int count = static_cast<int>(lua_objlen(L, -1));
  for (int i = count; i >= 2; --i) {
    lua_rawgeti(L, -1, i);
    lua_rawseti(L, -2, i + 1);
  }
  lua_pushcfunction(L, guarded<find_module>);
  lua_rawseti(L, -2, 2);
  lua_pop(L, 2);
}

/// Natives about this state: its options, the end of the clock, and memory that Lua reads in place.
void bind_state(lua_State* L) {
  Context& context = context_of(L);
  set_function(L, "string_methods", guarded<string_methods>);
  lua_pushstring(L, context.options.home.c_str());
  lua_setfield(L, -2, "home");
  lua_pushboolean(L, context.options.trusted ? 1 : 0);
  lua_setfield(L, -2, "trusted");
  lua_pushnumber(L, latest_s);
  lua_setfield(L, -2, "latest_s");
  lua_pushstring(L, border_text);
  lua_setfield(L, -2, "border");
  lua_pushlightuserdata(L, &context.cost_table);
  lua_setfield(L, -2, "cost_table");
  lua_pushlightuserdata(L, &context.ledger);
  lua_setfield(L, -2, "ledger");
}

void push_natives(lua_State* L) {
  lua_createtable(L, 0, 96);
  bind_state(L);
  bind_messages(L);
  bind_files(L);
  bind_profiles(L);
  bind_loading(L);
  bind_documents(L);
  bind_spec(L);
  bind_mfu(L);
  bind_table_files(L);
  bind_prepared(L);
  bind_trust(L);
  bind_cost(L);
  bind_random(L);
  bind_serve(L);
  bind_fit(L);
  bind_sweep(L);
  bind_declared(L);
}

}  // namespace

Context& context_of(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "rooflua.context.of");
  auto* pointer = static_cast<std::shared_ptr<Context>*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (pointer == nullptr || *pointer == nullptr)
    throw Error("rooflua", "the library is not open here");
  return **pointer;
}

void open_library(lua_State* L, const LibraryOptions& options) {
  push_context(L, options);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaded");
  push_natives(L);
  lua_setfield(L, -2, "rooflua.native");
  lua_pop(L, 2);
  add_searcher(L);
  // The FFI module must stay reachable, because its metatypes are collected together with it.
  lua_getglobal(L, "require");
  lua_pushliteral(L, "ffi");
  lua_call(L, 1, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.ffi");
}

}  // namespace rooflua::script
