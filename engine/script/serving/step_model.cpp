#include "script/serving/step_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "script/vm/context.h"
#include "script/vm/interrupt.h"

namespace rooflua::script {

namespace {

/// Shares of what was recorded, scaled to the step; a step that records nothing is an assumption.
void share_evidence(const double* recorded_s, StepPrice& price) {
  double recorded = 0;
  for (int i = 0; i < evidence_count; ++i) recorded += recorded_s[i];
  for (int i = 0; i < evidence_count; ++i) {
    const bool some = recorded > 0 && recorded_s[i] != 0;
    price.evidence_s[i] = some ? price.time_s * (recorded_s[i] / recorded) : 0;
  }
  if (!(recorded > 0)) price.evidence_s[static_cast<int>(Evidence::assumed)] = price.time_s;
}

}  // namespace

LuaStepModel::LuaStepModel(Asking& asking, ServeState& state)
    : asking_(&asking), state_(&state), evidence_s_(context_of(asking.L).ledger.account.seconds) {
  lua_State* L = asking.L;
  lua_getfield(L, -1, "runs");
  has_run_ = lua_toboolean(L, -1) != 0;
  lua_getfield(L, -2, "steps");
  steps_ = lua_topointer(L, -1);
  lua_pop(L, 2);
  instance_ = LuaReference(L);
  call_price_ = library_function(L, "rooflua.border.pricing", "price");
  call_bounded_ = library_function(L, "rooflua.border.pricing", "bounded");
  call_explain_ = library_function(L, "rooflua.border.pricing", "explain");
  call_run_ = library_function(L, "rooflua.border.pricing", "run");
}

void LuaStepModel::remember(const std::vector<std::shared_ptr<LuaStepModel>>& models) {
  const auto table = RememberedPrices::new_table();
  std::map<const void*, std::int32_t> numbers;
  for (const auto& each : models) {
    const auto next = static_cast<std::int32_t>(numbers.size());
    each->remembered_ = {table, numbers.emplace(each->steps_, next).first->second};
  }
}

/// Leaves `results` values on the stack.
void LuaStepModel::call(const LuaReference& function, const Batch& batch, int results) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its step model (time)");
  state_->border.batch = &batch;
  std::fill_n(evidence_s_, evidence_count, 0.0);
  state_->run.time_s = -1;
  function.push(L);
  instance_.push(L);
  const int status = lua_pcall(L, 1, results, 0);
  state_->border.batch = nullptr;
  state_->border.batch_live = 0;  // also after an error: what the script kept is stale
  if (status != 0) rethrow(L, "step model, replica " + std::to_string(batch.replica + 1));
}

void LuaStepModel::price(const Batch& batch, StepPrice& price) {
  call(call_price_, batch, 0);
  read_price(price);
}

void LuaStepModel::explain(const Batch& batch, PriceDetail detail, StepPrice& price,
                           std::vector<OpTime>& operations) {
  if (detail == PriceDetail::time) return this->price(batch, price);
  lua_State* L = asking_->L;
  if (detail == PriceDetail::bound) {
    call(call_bounded_, batch, 1);
    price.bound = static_cast<std::int32_t>(lua_tointeger(L, -1));
    lua_pop(L, 1);
    return read_price(price);
  }
  call(call_explain_, batch, 2);
  price.bound = static_cast<std::int32_t>(lua_tointeger(L, -2));
  const Json rows = to_json(L, lua_gettop(L), "step model");
  lua_pop(L, 2);
  read_price(price);
  for (const Json& row : rows.is_array() ? rows.items() : Json::Array{}) {
    const Evidence evidence =
        parse_evidence(row.find("evidence")->text()).value_or(Evidence::assumed);
    operations.push_back({row.find("name")->text(), evidence, row.find("seconds")->number()});
  }
}

std::int32_t LuaStepModel::price_run(const Batch& first, const BatchGrowth&,
                                     std::span<StepPrice> prices) {
  if (!has_run_ || first.bounds != nullptr) return 0;
  const std::size_t count = std::min(prices.size(), std::size(state_->run_steps));
  rooflua_step_run& run = state_->run;
  run.out = state_->run_steps;
  std::fill_n(run.out, count, rooflua_run_step{});
  run.steps = static_cast<std::int32_t>(count);
  bool good = true;
  try {
    call(call_run_, first, 0);
  } catch (const Error& error) {
    good = false;  // perhaps in a step that will never run: price() tells the user if it does
    if (stop_requested() == 0) note_problem(error.what());
  }
  run.steps = 0;
  std::int32_t priced = 0;
  for (std::size_t i = 0; good && i < count && run.out[i].time_s >= 0; ++i, ++priced) {
    prices[i].time_s = run.out[i].time_s;
    share_evidence(run.out[i].seconds, prices[i]);
  }
  return priced;
}

/// The first error of the script's method `run`, for the notes of the result.
void LuaStepModel::note_problem(const char* message) const {
  lua_State* L = asking_->L;
  instance_.push(L);
  if (!has_field(L, "run_problem")) {
    lua_pushstring(L, message);
    lua_setfield(L, -2, "run_problem");
  }
  lua_pop(L, 1);
}

/// What Lua answered, with the ledger.
void LuaStepModel::read_price(StepPrice& price) const {
  price.time_s = state_->run.time_s;
  if (!(price.time_s >= 0 && std::isfinite(price.time_s))) {
    throw Error("steps", "time(batch) must return seconds, finite and >= 0; found " +
                             json_number(price.time_s));
  }
  price.draft_s = state_->run.draft_s;
  share_evidence(evidence_s_, price);
}

}  // namespace rooflua::script
