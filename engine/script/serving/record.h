#pragma once
// What every step of a run consisted of, request by request: for tests of schedulers, and for
// people who want to see a schedule. Costs O(running) per step; bounded.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/json.h"
#include "serve/policy.h"

namespace rooflua::script {

/// The steps of all replicas in the order in which they were planned.
class ScheduleRecord {
 public:
  static constexpr std::size_t most_steps = 100000;

  /// A step that is planned and priced, as seen by its step model.
  void add(const Batch& batch, const StepPrice& price);

  /// [{replica (from 1), planned_s, time_s, preempted = [id], work = [{id, kind, tokens}]}], kind
  /// is "prefill" or "decode"; decodes first, both in the order in which they were planned.
  /// The steps after the first 100000 are not kept.
  const Json& steps() const { return steps_; }

 private:
  Json steps_ = Json::array();
};

/// A step model that prices as another one does and writes down what it is asked.
class RecordedSteps : public StepModel {
 public:
  RecordedSteps(StepModel& inner, ScheduleRecord& record) : inner_(&inner), record_(&record) {}
  void price(const Batch& batch, StepPrice& price) override;

 private:
  StepModel* inner_;
  ScheduleRecord* record_;
};

/// A record, and the recorded models of all replicas.
struct Recording {
  ScheduleRecord record;
  std::vector<std::unique_ptr<RecordedSteps>> steps;
};

}  // namespace rooflua::script
