// Experts that move, written in Lua, as the engine sees them.

#include <memory>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/experts.h"

namespace rooflua::script {

namespace {

/// rooflua.machine.experts.running, which asks scripts/balancers.
class LuaExperts : public ExpertPolicy, public Surrounding {
 public:
  explicit LuaExperts(Asking& asking);
  ExpertPeriod next(std::int32_t engine, double now_s, std::int64_t steps, double tokens) override;
  void bind(Bindings& bindings) override { bindings.experts = this; }

 private:
  Asking* asking_;
  LuaReference next_;
};

LuaExperts::LuaExperts(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  const LuaReference instance(L);
  next_ = made_function(L, "rooflua.machine.experts.running", "next_of", {&instance});
}

ExpertPeriod LuaExperts::next(std::int32_t engine, double now_s, std::int64_t steps,
                              double tokens) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its balancer (place)");
  next_.push(L);
  lua_pushnumber(L, engine + 1);
  lua_pushnumber(L, now_s);
  lua_pushnumber(L, static_cast<double>(steps));
  lua_pushnumber(L, tokens);
  if (lua_pcall(L, 4, 5, 0) != 0) rethrow(L, "experts, " + seconds_text(now_s));
  ExpertPeriod period;
  period.steps = static_cast<std::int32_t>(lua_tointeger(L, -5));
  period.load = lua_tonumber(L, -4);
  period.stall_s = lua_tonumber(L, -3);
  period.moved_bytes = lua_tonumber(L, -2);
  period.rebalanced = lua_toboolean(L, -1);
  lua_pop(L, 5);
  return period;
}

}  // namespace

std::unique_ptr<Surrounding> read_experts(lua_State*, Asking& asking) {
  return std::make_unique<LuaExperts>(asking);
}

}  // namespace rooflua::script
