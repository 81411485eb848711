#include "script/serving/step_model.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "script/vm/context.h"

namespace rooflua::script {

LuaStepModel::LuaStepModel(lua_State* L, ServeState& state)
    : L_(L), state_(&state), evidence_s_(context_of(L).ledger.account.seconds) {
  instance_ = LuaReference(L);
  call_price_ = library_function(L, "rooflua.border.pricing", "price");
  call_bounded_ = library_function(L, "rooflua.border.pricing", "bounded");
  call_explain_ = library_function(L, "rooflua.border.pricing", "explain");
}

/// Leaves `results` values on the stack.
void LuaStepModel::call(const LuaReference& function, const Batch& batch, int results) {
  state_->batch = batch;
  state_->border.batch = &batch;
  std::fill_n(evidence_s_, evidence_count, 0.0);
  function.push();
  instance_.push();
  const int status = lua_pcall(L_, 1, results, 0);
  state_->border.batch = nullptr;
  if (status != 0) rethrow(L_, "step model, replica " + std::to_string(batch.replica + 1));
}

void LuaStepModel::price(const Batch& batch, StepPrice& price) {
  call(call_price_, batch, 1);
  read_price(-1, price);
  lua_pop(L_, 1);
}

void LuaStepModel::explain(const Batch& batch, PriceDetail detail, StepPrice& price,
                           std::vector<OpTime>& operations) {
  if (detail == PriceDetail::time) return this->price(batch, price);
  if (detail == PriceDetail::bound) {
    call(call_bounded_, batch, 2);
    price.bound = static_cast<std::int32_t>(lua_tointeger(L_, -1));
    read_price(-2, price);
    lua_pop(L_, 2);
    return;
  }
  call(call_explain_, batch, 3);
  price.bound = static_cast<std::int32_t>(lua_tointeger(L_, -2));
  read_price(-3, price);
  const Json rows = to_json(L_, lua_gettop(L_), "step model");
  lua_pop(L_, 3);
  for (const Json& row : rows.is_array() ? rows.items() : Json::Array{}) {
    const Evidence evidence =
        parse_evidence(row.find("evidence")->text()).value_or(Evidence::assumed);
    operations.push_back({row.find("name")->text(), evidence, row.find("seconds")->number()});
  }
}

/// The time at that place of the stack, and the ledger. On an error everything from there on is
/// popped.
void LuaStepModel::read_price(int index, StepPrice& price) const {
  const bool number = lua_type(L_, index) == LUA_TNUMBER;
  price.time_s = lua_tonumber(L_, index);
  if (!number || !(price.time_s >= 0 && std::isfinite(price.time_s))) {
    lua_pop(L_, -index);
    throw Error("steps", "time(batch) must return seconds, finite and >= 0; found " +
                             (number ? json_number(price.time_s) : std::string("another type")));
  }
  double recorded = 0;
  for (int i = 0; i < evidence_count; ++i) recorded += evidence_s_[i];
  // Shares of what was recorded, scaled to the step; a step that records nothing is an assumption.
  for (int i = 0; i < evidence_count; ++i) {
    price.evidence_s[i] = recorded > 0 ? price.time_s * (evidence_s_[i] / recorded) : 0;
  }
  if (!(recorded > 0)) price.evidence_s[static_cast<int>(Evidence::assumed)] = price.time_s;
}

}  // namespace rooflua::script
