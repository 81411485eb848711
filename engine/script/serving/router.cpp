#include "script/serving/router.h"

#include <cstring>
#include <string>

#include "base/error.h"

namespace rooflua::script {

namespace {

/// Whether the router on top of the stack declares this signal; one that declares none may read
/// all.
bool may_read(lua_State* L, const char* signal) {
  lua_getfield(L, -1, "signals");
  bool found = !lua_istable(L, -1);
  for (int i = 1; !found && i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
    lua_rawgeti(L, -1, i);
    found = lua_isstring(L, -1) && std::strcmp(lua_tostring(L, -1), signal) == 0;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return found;
}

/// Whether the router on top of the stack declares that it reads no signal.
bool reads_nothing(lua_State* L) {
  lua_getfield(L, -1, "signals");
  const bool found = lua_istable(L, -1) && lua_objlen(L, -1) == 0;
  lua_pop(L, 1);
  return found;
}

/// The queue of ranks that the router on top of the stack declares.
CommonQueue read_queue(lua_State* L, const RouterIndex& index) {
  lua_getfield(L, -1, "common_queue");
  const std::string name = lua_isstring(L, -1) ? lua_tostring(L, -1) : "none";
  lua_pop(L, 1);
  const auto queue = value_named(common_queue_words, name);
  if (!queue)
    throw Error("router", "common_queue: found '" + name + "'; expected none, arrival or longest");
  if (*queue == CommonQueue::none) return *queue;
  if (!has_field(L, "place"))
    throw Error("router", "it has a common_queue and no place(request, ranks) method");
  if (index.kind == RouterIndex::Kind::sent || index.in_flight || index.speculative_s > 0)
    throw Error("router",
                "it has a common_queue and signals of what it sent, which are not of the ranks "
                "that requests get");
  return *queue;
}

/// What the router on top of the stack wants to know of prefixes and of prompts in flight.
RouterIndex read_index(lua_State* L) {
  library_function(L, "rooflua.border.routing", "knowledge").push(L);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 11, 0) != 0) rethrow(L, "router");
  RouterIndex out;
  out.kind = static_cast<RouterIndex::Kind>(lua_tointeger(L, -11));
  out.block_tokens = static_cast<std::int32_t>(lua_tointeger(L, -10));
  out.capacity_blocks = static_cast<std::int32_t>(lua_tointeger(L, -9));
  out.most_tokens = static_cast<std::int32_t>(lua_tointeger(L, -8));
  out.ttl_s = lua_tonumber(L, -7);
  out.deepest_first = lua_toboolean(L, -6) != 0;
  out.lag_s = lua_tonumber(L, -5);
  out.loss = lua_tonumber(L, -4);
  out.most_holders = static_cast<std::int32_t>(lua_tointeger(L, -3));
  out.speculative_s = lua_tonumber(L, -2);
  out.in_flight = lua_toboolean(L, -1) != 0;
  lua_pop(L, 11);
  return out;
}

}  // namespace

LuaRouter::LuaRouter(Asking& asking, ServeBorder& border) : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  if (!has_field(L, "route")) throw Error("router", "it has no route(request, replicas) method");
  lua_getfield(L, -1, "staleness_s");
  staleness_s_ = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  lua_getfield(L, -1, "load_signals");
  reads_reports_ = lua_isstring(L, -1) && std::strcmp(lua_tostring(L, -1), "reported") == 0;
  lua_pop(L, 1);
  lua_getfield(L, -1, "refuses");
  may_refuse_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  reads_landing_ = may_read(L, "landing_prompts");
  index_ = read_index(L);
  reads_replicas_ = !reads_nothing(L);
  common_queue_ = read_queue(L, index_);
  const LuaReference instance(L);
  route_ = made_function(L, "rooflua.border.routing", "route_of", {&instance});
  if (common_queue_ != CommonQueue::none)
    place_ = made_function(L, "rooflua.border.routing", "place_of", {&instance});
}

std::int32_t LuaRouter::route(const Request&, const RouteView& view) {
  return ask(route_, "its router (route)", view);
}

std::int32_t LuaRouter::place(const Request&, const RouteView& view) {
  return ask(place_, "its router (place)", view);
}

std::int32_t LuaRouter::ask(const LuaReference& method, const char* what, const RouteView& view) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, what);
  const BorderScope scope(*border_, 2);
  show_route(*border_, view);
  method.push(L);
  if (lua_pcall(L, 0, 1, 0) != 0) rethrow(L, "router, " + seconds_text(view.now_s));
  const auto replica = static_cast<std::int32_t>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return replica;
}

}  // namespace rooflua::script
