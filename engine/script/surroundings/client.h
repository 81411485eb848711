#pragma once
// A client written in Lua, as the engine sees it.

#include <memory>

#include "border.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/client.h"

namespace rooflua::script {

/// scripts/clients.
class LuaClient : public ClientPolicy, public Surrounding {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaClient(Asking& asking, ServeBorder& border);
  Patience patience(const Request& request, RandomStream& draws) override;
  std::optional<Again> again(const Request& request, const Ending& ending,
                             RandomStream& draws) override;
  void bind(Bindings& bindings) override { bindings.client = this; }

 private:
  void show(const Request& request, const RandomStream& draws);

  Asking* asking_;
  ServeBorder* border_;
  LuaReference patience_, again_, memory_;
  rooflua_draws* draws_ = nullptr;  // what memory_ holds: the policy draws from it
};

/// The instance on top of the stack, which is taken.
std::unique_ptr<Surrounding> read_client(lua_State* L, Asking& asking);

}  // namespace rooflua::script
