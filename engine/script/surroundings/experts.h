#pragma once
// Experts that move, written in Lua, as the engine sees them.

#include <memory>

#include "script/serving/policy_call.h"
#include "serve/contract/experts.h"

namespace rooflua::script {

/// rooflua.machine.experts.running, which asks scripts/balancers.
class LuaExperts : public ExpertPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  explicit LuaExperts(Asking& asking);
  ExpertPeriod next(std::int32_t engine, double now_s, std::int64_t steps, double tokens) override;

 private:
  Asking* asking_;
  LuaReference next_;
};

/// The instance at `index`; nil: there is none.
std::unique_ptr<LuaExperts> read_experts(lua_State* L, int index, Asking& asking);

}  // namespace rooflua::script
