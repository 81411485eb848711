#pragma once
// Faults written in Lua, as the engine sees them.

#include <memory>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/fault.h"

namespace rooflua::script {

/// scripts/faults.
class LuaFaults : public FaultPolicy, public Surrounding {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  explicit LuaFaults(Asking& asking);
  std::optional<Fault> next(double now_s, std::int32_t replicas) override;
  double detect_s() const override { return detect_s_; }
  double connect_s() const override { return connect_s_; }
  double timeout_s() const override { return timeout_s_; }
  bool ends_requests() const override { return ends_requests_; }
  void bind(Bindings& bindings) override { bindings.faults = this; }

 private:
  Asking* asking_;
  LuaReference next_;
  double detect_s_ = 0, connect_s_ = 0, timeout_s_ = 0;
  bool ends_requests_ = false;
};

/// The instance on top of the stack, which is taken.
std::unique_ptr<Surrounding> read_faults(lua_State* L, Asking& asking);

}  // namespace rooflua::script
