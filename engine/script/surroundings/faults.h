#pragma once
// Faults written in Lua, as the engine sees them.

#include <memory>

#include "script/serving/policy_call.h"
#include "serve/contract/fault.h"

namespace rooflua::script {

/// scripts/faults.
class LuaFaults : public FaultPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  explicit LuaFaults(Asking& asking);
  std::optional<Fault> next(double now_s, std::int32_t replicas) override;
  double detect_s() const override { return detect_s_; }
  double connect_s() const override { return connect_s_; }

 private:
  Asking* asking_;
  LuaReference next_;
  double detect_s_ = 0, connect_s_ = 0;
};

/// The instance at `index`; nil: there is none.
std::unique_ptr<LuaFaults> read_faults(lua_State* L, int index, Asking& asking);

}  // namespace rooflua::script
