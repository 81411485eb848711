#include "script/surroundings/surroundings.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "script/vm/stack.h"

namespace rooflua::script {

using Read = std::unique_ptr<Surrounding>(lua_State* L, Asking& asking);
// Each is in the file of its name. The instance on top of the stack is taken.
Read read_decider;
Read read_admission;
Read read_client;
Read read_faults;
Read read_experts;
Read read_encoder;
Read read_autoscalers;

namespace {

struct Row {
  std::string_view kind;
  Read* read;
};

constexpr Row rows[] = {
    {"decider", read_decider},      // of split prompts
    {"admission", read_admission},  // of the gate
    {"client", read_client},
    {"faults", read_faults},
    {"experts", read_experts},
    {"encoder", read_encoder},
    {"autoscalers", read_autoscalers},
};

void check_known(const std::string& kind) {
  const auto is_it = [&](const Row& row) { return row.kind == kind; };
  if (std::none_of(std::begin(rows), std::end(rows), is_it))
    throw Error("serve", "this program has no part that asks policies of the kind '" + kind + "'");
}

}  // namespace

void Surroundings::bind(Bindings& bindings) const {
  for (const auto& [kind, policy] : own_) policy->bind(bindings);
}

void Surroundings::replace(Surroundings& given) {
  for (auto& [kind, policy] : given.own_) own_[kind].swap(policy);
}

Surroundings read_surroundings(lua_State* L, int index, Asking& asking) {
  Surroundings out;
  if (lua_isnil(L, index)) return out;
  ROOFLUA_ASSERT(lua_gettop(L) == index);
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) check_known(lua_tostring(L, -2));
  for (const Row& row : rows) {
    lua_getfield(L, index, row.kind.data());
    if (!lua_isnil(L, -1)) out.own_[std::string(row.kind)] = row.read(L, asking);
    lua_settop(L, index);
  }
  return out;
}

}  // namespace rooflua::script
