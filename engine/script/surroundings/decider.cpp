// A decider written in Lua, as the engine sees it.

#include <memory>

#include "base/error.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/policy.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

namespace {

/// scripts/deciders.
class LuaDecider : public Decider, public Surrounding {
 public:
  LuaDecider(Asking& asking, ServeBorder& border);
  bool split(const Request& request, const PairView& view) override;
  void bind(Bindings& bindings) override { bindings.decider = this; }

 private:
  Asking* asking_;
  ServeBorder* border_;
  LuaReference split_;
};

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

}  // namespace

std::unique_ptr<Surrounding> read_decider(lua_State* L, Asking& asking) {
  return std::make_unique<LuaDecider>(asking, serve_state(L).border);
}

}  // namespace rooflua::script
