#include "script/surroundings/surroundings.h"

#include <utility>

#include "base/error.h"
#include "script/vm/stack.h"
#include "serve/loop/simulation.h"

namespace rooflua::script {

namespace {

/// Calls `read` with the field of the table at `index` on top of the stack, where it has it.
template <class Read>
void with_policy(lua_State* L, int index, const char* name, Read read) {
  lua_getfield(L, index, name);
  if (!lua_isnil(L, -1)) read(lua_gettop(L));
  lua_settop(L, index);
}

}  // namespace

void Surroundings::bind(Bindings& bindings) const {
  bindings.decider = decider.get();
  bindings.admission = admission.get();
  bindings.client = client.get();
  bindings.faults = faults.get();
  bindings.experts = experts.get();
  for (const auto& each : autoscalers) bindings.autoscalers.push_back(each.get());
}

Surroundings read_surroundings(lua_State* L, int index, Asking& asking) {
  Surroundings out;
  if (lua_isnil(L, index)) return out;
  ROOFLUA_ASSERT(lua_gettop(L) == index);
  with_policy(L, index, "decider", [&](int at) { out.decider = read_decider(L, at, asking); });
  with_policy(L, index, "admission",
              [&](int at) { out.admission = read_admission(L, at, asking); });
  with_policy(L, index, "client", [&](int at) { out.client = read_client(L, at, asking); });
  with_policy(L, index, "faults", [&](int at) { out.faults = read_faults(L, at, asking); });
  with_policy(L, index, "experts", [&](int at) { out.experts = read_experts(L, at, asking); });
  with_policy(L, index, "autoscalers",
              [&](int at) { out.autoscalers = read_autoscalers(L, at, asking); });
  return out;
}

void replace(Surroundings& own, Surroundings& given, Simulation& simulation) {
  if (given.decider != nullptr) own.decider.swap(given.decider);
  if (given.admission != nullptr) own.admission.swap(given.admission);
  if (given.client != nullptr) own.client.swap(given.client);
  if (given.faults != nullptr) own.faults.swap(given.faults);
  if (given.experts != nullptr) own.experts.swap(given.experts);
  if (!given.autoscalers.empty()) own.autoscalers.swap(given.autoscalers);
  Bindings bindings;
  own.bind(bindings);
  simulation.set_parts(bindings);
  if (!own.autoscalers.empty()) simulation.set_autoscalers(bindings.autoscalers);
}

}  // namespace rooflua::script
