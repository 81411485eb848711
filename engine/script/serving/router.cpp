#include "script/serving/router.h"

#include <string>

#include "base/error.h"

namespace rooflua::script {

LuaRouter::LuaRouter(Asking& asking, ServeBorder& border) : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  if (!has_field(L, "route")) throw Error("router", "it has no route(request, replicas) method");
  lua_getfield(L, -1, "staleness_s");
  staleness_s_ = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  lua_getfield(L, -1, "refuses");
  may_refuse_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  const LuaReference instance(L);
  route_ = made_function(L, "rooflua.border.routing", "route_of", {&instance});
}

std::int32_t LuaRouter::route(const Request&, const RouteView& view) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its router (route)");
  const BorderScope scope(*border_, 2);
  const Requests& requests = view.source->requests();
  border_->requests = requests.data();
  border_->slots = requests.slots();
  border_->view = nullptr;
  border_->replica = nullptr;
  border_->route = &view;
  border_->holders = nullptr;
  border_->holder_count = -1;
  route_.push(L);
  if (lua_pcall(L, 0, 1, 0) != 0) rethrow(L, "router, " + seconds_text(view.now_s));
  const auto replica = static_cast<std::int32_t>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return replica;
}

}  // namespace rooflua::script
