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

/// What was recorded sums to the time of the step. Time that nothing was recorded for is assumed;
/// where more was recorded, because work overlaps, every evidence gets less of it.
void share_evidence(StepPrice& price) {
  constexpr double rounding = 1e-9;
  double recorded = 0;
  for (const double seconds : price.evidence_s) recorded += seconds;
  if (const double rest_s = price.time_s - recorded; rest_s > rounding * price.time_s) {
    price.evidence_s[static_cast<int>(Evidence::assumed)] += rest_s;
    return;
  }
  if (!(recorded > 0)) return;
  for (double& seconds : price.evidence_s) seconds = price.time_s * (seconds / recorded);
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
  price_ = made_function(L, "rooflua.border.pricing", "price_of", {&instance_});
  run_ = made_function(L, "rooflua.border.pricing", "run_of", {&instance_});
  call_bounded_ = library_function(L, "rooflua.border.pricing", "bounded");
  call_explain_ = library_function(L, "rooflua.border.pricing", "explain");
  call_settle_ = library_function(L, "rooflua.border.pricing", "settle");
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
/// @param argument  of the function; null: it takes none
void LuaStepModel::call(const LuaReference& function, const LuaReference* argument,
                        const Batch& batch, int results) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its step model (time)");
  state_->border.batch = &batch;
  std::fill_n(evidence_s_, evidence_count, 0.0);
  state_->run.time_s = -1;
  function.push(L);
  if (argument != nullptr) argument->push(L);
  const int status = lua_pcall(L, argument != nullptr ? 1 : 0, results, 0);
  state_->border.batch = nullptr;
  state_->border.batch_live = 0;  // also after an error: what the script kept is stale
  if (status != 0) rethrow(L, "step model, replica " + std::to_string(batch.replica + 1));
}

/// The script's model may settle (rooflua.border.settled). One that is not ready is asked again
/// after as many prices.
void LuaStepModel::settle() {
  lua_State* L = asking_->L;
  call_settle_.push(L);
  instance_.push(L);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "step model, settling");
  const bool did = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  settles_at_ = did ? 0 : 2 * settles_at_;
}

void LuaStepModel::price(const Batch& batch, StepPrice& price) {
  if (++asked_ == settles_at_) settle();
  call(price_, nullptr, batch, 0);
  read_price(price);
}

void LuaStepModel::explain(const Batch& batch, PriceDetail detail, StepPrice& price,
                           std::vector<OpTime>& operations) {
  if (detail == PriceDetail::time) return this->price(batch, price);
  lua_State* L = asking_->L;
  if (detail == PriceDetail::bound) {
    call(call_bounded_, &instance_, batch, 1);
    price.bound = static_cast<std::int32_t>(lua_tointeger(L, -1));
    lua_pop(L, 1);
    return read_price(price);
  }
  call(call_explain_, &instance_, batch, 2);
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
  for (StepPrice& price : prices) price.time_s = -1;
  rooflua_step_run& run = state_->run;
  run.out = prices.data();
  run.steps = static_cast<std::int32_t>(prices.size());
  bool good = true;
  if (++asked_ == settles_at_) settle();
  try {
    call(run_, nullptr, first, 0);
  } catch (const Error& error) {
    good = false;  // perhaps in a step that will never run: price() tells the user if it does
    if (stop_requested() == 0) note_problem(error.what());
  }
  run.steps = 0;
  run.out = nullptr;
  std::size_t priced = 0;
  for (; good && priced < prices.size() && prices[priced].time_s >= 0; ++priced)
    share_evidence(prices[priced]);
  std::fill(prices.begin() + static_cast<std::ptrdiff_t>(priced), prices.end(), StepPrice{});
  return static_cast<std::int32_t>(priced);
}

/// The first error of the script's method `run`, for the notes of the result.
void LuaStepModel::note_problem(const char* message) {
  has_problem_ = true;
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
  std::copy_n(evidence_s_, evidence_count, price.evidence_s);
  share_evidence(price);
}

}  // namespace rooflua::script
