#include "script/surroundings/decider.h"

#include "base/error.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

LuaDecider::LuaDecider(Asking& asking, ServeBorder& border) : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  if (!has_field(L, "split")) throw Error("decider", "it has no split(request, pair) method");
  const LuaReference instance(L);
  split_ = made_function(L, "rooflua.border.deciding", "split_of", {&instance});
}

bool LuaDecider::split(const Request&, const PairView& view) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its decider (split)");
  const BorderScope scope(*border_, 2);
  show_route(*border_, view.pool);
  split_.push(L);
  if (lua_pcall(L, 0, 1, 0) != 0) rethrow(L, "decider, " + seconds_text(view.pool.now_s));
  const bool split = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return split;
}

std::unique_ptr<Surrounding> read_decider(lua_State* L, Asking& asking) {
  return std::make_unique<LuaDecider>(asking, serve_state(L).border);
}

}  // namespace rooflua::script
