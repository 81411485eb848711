#pragma once
// What every step of a run consisted of, request by request: for tests of schedulers, and for
// people who want to see a schedule. Costs O(seats) per step; bounded.

#include "base/json.h"
#include "measure/record/draft_work.h"
#include "serve/contract/observer.h"
#include "serve/core/group.h"

namespace rooflua::script {

/// {ranks, tokens, max_tokens, prefills}: the key `group` of a batch of cost.batch.
Json group_json(const GroupWork& group);

/// Adds the keys of cost.batch that say what is drafted and verified; none where nothing is.
void put_drafts(Json& batch, const DraftWork& drafts);

/// The steps of all replicas in the order in which they were planned.
class ScheduleRecord : public Observer {
 public:
  static constexpr std::size_t most_steps = 100000;

  void on_priced(const StepPriced& step) override;

  /// [{replica (from 1), planned_s, time_s, preempted = [id], work = [{id, kind, tokens}]}], kind
  /// is "prefill" or "decode"; decodes first, both in the order in which they were planned. Empty
  /// steps of ranks are left out.
  /// Steps after the first `most_steps` are not kept.
  const Json& steps() const { return steps_; }

 private:
  Json steps_ = Json::array();
};

}  // namespace rooflua::script
