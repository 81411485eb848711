#pragma once
// The policies around the engines of a simulation that are written in Lua, one of a kind.

#include <memory>
#include <vector>

#include "script/surroundings/admission.h"
#include "script/surroundings/autoscaler.h"
#include "script/surroundings/client.h"
#include "script/surroundings/decider.h"
#include "script/surroundings/experts.h"
#include "script/surroundings/faults.h"
#include "serve/contract/bindings.h"

namespace rooflua {
class Simulation;
}

namespace rooflua::script {

struct Surroundings {
  std::unique_ptr<LuaDecider> decider;
  std::unique_ptr<LuaAdmission> admission;
  std::unique_ptr<LuaClient> client;
  std::unique_ptr<LuaFaults> faults;
  std::unique_ptr<LuaExperts> experts;
  std::vector<std::unique_ptr<LuaAutoscaler>> autoscalers;  // by pool

  /// Sets those that are there.
  void bind(Bindings& bindings) const;
};

/// From the table at `index`, by key: {decider, admission, client, faults, experts, autoscalers}.
/// nil: there are none.
Surroundings read_surroundings(lua_State* L, int index, Asking& asking);

/// Puts those of `given` in the place of those before, in the simulation too.
void replace(Surroundings& own, Surroundings& given, Simulation& simulation);

}  // namespace rooflua::script
