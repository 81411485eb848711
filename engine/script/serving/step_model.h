#pragma once
// A step model written in Lua, as the engine sees it.

#include <memory>
#include <vector>

#include "script/serving/policy_call.h"
#include "serve/contract/policy.h"
#include "serve/replica/remembered_prices.h"

namespace rooflua::script {

/// scripts/steps: bound to its replica, and called through rooflua.border.pricing, which applies
/// corrections and reads the ledger.
class LuaStepModel : public StepModel {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaStepModel(Asking& asking, ServeState& state);
  void price(const Batch& batch, StepPrice& price) override;
  void explain(const Batch& batch, PriceDetail detail, StepPrice& price,
               std::vector<OpTime>& operations) override;
  /// By the script's method `run`, where rooflua.border.pricing says that it may be used.
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override;
  RememberedPrices* remembered() override { return has_run_ ? &remembered_ : nullptr; }

  /// Prices of runs are remembered from now on: once for those of the models that are one table in
  /// Lua, as alike replicas have it.
  static void remember(const std::vector<std::shared_ptr<LuaStepModel>>& models);

  /// Whether the script's method `run` raised an error, which only its notes tell.
  bool has_problem() const { return has_problem_; }

 private:
  void call(const LuaReference& function, const LuaReference* argument, const Batch& batch,
            int results);
  void settle();
  void note_problem(const char* message);
  void read_price(StepPrice& price) const;

  Asking* asking_;
  ServeState* state_;
  LuaReference instance_, price_, run_, call_bounded_, call_explain_, call_settle_;
  double* evidence_s_;  // the ledger's accumulator
  bool has_run_ = false;
  // Prices and runs; how many there are when the model settles: compiling for it alone costs about
  // what it then has saved.
  std::int64_t asked_ = 0, settles_at_ = 32768;
  bool has_problem_ = false;     // note_problem()
  const void* steps_ = nullptr;  // the bound step model, by its address
  RememberedPrices remembered_;
};

}  // namespace rooflua::script
