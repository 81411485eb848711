#include "emulate/bind.h"

#include <memory>

#include "base/error.h"
#include "emulate/server.h"
#include "http/refused.h"
#include "script/serving/policy_call.h"
#include "script/serving/run.h"
#include "script/vm/context.h"
#include "script/vm/stack.h"
#include "script/vm/vm.h"

namespace rooflua::emulate {
/// A server that Lua holds.
struct ServerBox {
  std::unique_ptr<Server> server;
};
}  // namespace rooflua::emulate

namespace rooflua::script {
template <>
struct TypeName<emulate::ServerBox> {
  static constexpr const char* value = "rooflua.Server";
  static constexpr const char* article = "a Server";
};
}  // namespace rooflua::script

namespace rooflua::emulate {

namespace {

using http::Refused;
using script::Run;

/// Counts by the function in argument 3: (kind, width, height, seconds) -> tokens, or nil and why
/// not. Empty where it is nil.
ItemTokens item_tokens(lua_State* L, Run& run) {
  if (lua_isnoneornil(L, 3)) return {};
  lua_pushvalue(L, 3);
  const auto function = std::make_shared<script::LuaReference>(L);
  return [function, &run](const Item& item) {
    lua_State* now = run.asking.L;
    function->push(now);
    lua_pushstring(now, item.kind == Item::Kind::image ? "image" : "audio");
    lua_pushnumber(now, item.width);
    lua_pushnumber(now, item.height);
    lua_pushnumber(now, item.seconds);
    if (lua_pcall(now, 4, 2, 0) != 0) script::rethrow(now, "the processor of items");
    const bool counted = lua_isnumber(now, -2) != 0;
    const double found = counted ? lua_tonumber(now, -2) : 0;
    const auto tokens = static_cast<std::int64_t>(found >= 0 && found < 1e9 ? found : 1e9);
    const char* why = counted ? nullptr : lua_tostring(now, -1);
    const std::string text = why == nullptr ? "" : why;
    lua_pop(now, 2);
    if (!counted) throw Refused(400, text, "messages");
    return tokens;
  };
}

/// emulate_open(run, options, counts items) -> server, its ports, {events, replay}: where it sends
/// events of KV caches
int emulate_open(lua_State* L, Run& run) {
  const Json given = script::to_json(L, 2, "emulate");
  auto box = std::make_shared<ServerBox>();
  ServerOptions options = server_options(given);
  options.prompts.item_tokens = item_tokens(L, run);
  box->server = std::make_unique<Server>(run, std::move(options));
  Json ports = Json::array();
  for (const int port : box->server->ports()) ports.push_back(port);
  script::push_object<ServerBox>(L, box);
  script::push_json(L, ports, false);
  script::push_json(L, box->server->kv_addresses(), false);
  return 3;
}

Server& server_at(lua_State* L) {
  return *script::check_object<ServerBox>(L, 2, "server")->server;
}

/// emulate_serve(run, server) -> {path, body} that Lua answers; nil: it is over
int emulate_serve(lua_State* L, Run&) {
  return script::push_json(L, server_at(L).serve(), false);
}

/// emulate_answer(run, server, status, text)
int emulate_answer(lua_State* L, Run&) {
  const auto status = static_cast<int>(script::check_number(L, 3, "status"));
  server_at(L).answer_admin(status, script::check_text(L, 4, "text"));
  return 0;
}

/// emulate_finish(run, server) -> {streams, left, refused, dropped, late_s, most_late_s, clock_s}.
/// Where requests had not ended, the run is one that was stopped.
int emulate_finish(lua_State* L, Run& run) {
  const Json told = server_at(L).finish();
  if (told.find("streams")->integer() > 0) {
    Json why = Json::object();
    why["stopped_by"] = "interrupt";
    why["clock_s"] = run.simulation->now_s();
    run.stop(why);
  }
  return script::push_json(L, told, false);
}

void add_natives(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "rooflua.native");
  script::set_function(L, "emulate_open", script::on_run<"emulate", emulate_open>);
  script::set_function(L, "emulate_serve", script::on_run<"emulate", emulate_serve>);
  script::set_function(L, "emulate_answer", script::on_run<"emulate", emulate_answer>);
  script::set_function(L, "emulate_finish", script::on_run<"emulate", emulate_finish>);
  lua_pop(L, 2);
}

}  // namespace

void bind_emulate(script::Vm& vm) {
  vm.protect(add_natives);
}

}  // namespace rooflua::emulate
