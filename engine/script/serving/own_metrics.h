#pragma once
// The metrics that a scenario declares (scripts/metrics), as an observer of the run. They are told
// of every step and of every request that ended, and each gives one number.

#include <vector>

#include "measure/record/summary.h"
#include "script/serving/asking.h"
#include "script/serving/lua_reference.h"
#include "serve/contract/observer.h"

namespace rooflua::script {

class LuaOwnMetrics : public Observer {
 public:
  /// @param observer  on top of the stack, taken: what rooflua.measure.own's observer() gives,
  ///                  {step, evidence_s, request, on_step, on_done, values}. This class fills
  ///                  the three tables before it calls on_step() and on_done(); the two functions
  ///                  are missing where no metric has such a method.
  /// @param asking  of the simulation that they listen to
  explicit LuaOwnMetrics(Asking& asking);
  /// @throws Error if a metric's on_step raises one, as on_done and values do
  bool reads_prices() const override { return false; }
  void on_step(const StepDone& step) override;
  void on_done(const RequestDone& done) override;
  /// What each metric gives now, in the order of its name.
  std::vector<OwnMetric> values() const;

 private:
  Asking* asking_;
  LuaReference on_step_, on_done_, values_, step_, evidence_, request_;
};

}  // namespace rooflua::script
