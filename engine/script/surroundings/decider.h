#pragma once
// A decider written in Lua, as the engine sees it.

#include <memory>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/policy.h"

namespace rooflua::script {

/// scripts/deciders.
class LuaDecider : public Decider, public Surrounding {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaDecider(Asking& asking, ServeBorder& border);
  bool split(const Request& request, const PairView& view) override;
  void bind(Bindings& bindings) override { bindings.decider = this; }

 private:
  Asking* asking_;
  ServeBorder* border_;
  LuaReference split_;
};

/// The instance on top of the stack, which is taken.
std::unique_ptr<Surrounding> read_decider(lua_State* L, Asking& asking);

}  // namespace rooflua::script
