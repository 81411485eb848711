#pragma once
// Experts that move, written in Lua, as the engine sees them.

#include <memory>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/experts.h"

namespace rooflua::script {

/// rooflua.machine.experts.running, which asks scripts/balancers.
class LuaExperts : public ExpertPolicy, public Surrounding {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  explicit LuaExperts(Asking& asking);
  ExpertPeriod next(std::int32_t engine, double now_s, std::int64_t steps, double tokens) override;
  void bind(Bindings& bindings) override { bindings.experts = this; }

 private:
  Asking* asking_;
  LuaReference next_;
};

/// The instance on top of the stack, which is taken.
std::unique_ptr<Surrounding> read_experts(lua_State* L, Asking& asking);

}  // namespace rooflua::script
