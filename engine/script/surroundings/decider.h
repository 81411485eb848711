#pragma once
// A decider written in Lua, as the engine sees it.

#include <memory>

#include "script/serving/policy_call.h"
#include "serve/contract/policy.h"

namespace rooflua::script {

/// scripts/deciders.
class LuaDecider : public Decider {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaDecider(Asking& asking, ServeBorder& border);
  bool split(const Request& request, const PairView& view) override;

 private:
  Asking* asking_;
  ServeBorder* border_;
  LuaReference split_;
};

/// The instance at `index`; nil: there is none.
std::unique_ptr<LuaDecider> read_decider(lua_State* L, int index, Asking& asking);

}  // namespace rooflua::script
