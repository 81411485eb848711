#pragma once
// A scheduler written in Lua, as the engine sees it.

#include "script/serving/policy_call.h"
#include "serve/contract/policy.h"

namespace rooflua::script {

/// scripts/schedulers: plan, optional key and victim, every_step.
class LuaScheduler : public SchedulerPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaScheduler(Asking& asking, ServeBorder& border);
  void plan(const VisibleReplica& replica, Plan& plan) override;
  bool has_key() const override { return has_key_; }
  double key(const Request& request) override;
  bool has_victim() const override { return has_victim_; }
  bool every_step() const override { return every_step_; }

 private:
  Asking* asking_;
  ServeBorder* border_;
  LuaReference instance_, plan_, call_key_;
  bool has_key_ = false, has_victim_ = false, every_step_ = false;
};

}  // namespace rooflua::script
