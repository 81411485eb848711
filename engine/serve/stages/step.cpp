// The part of simulation.h about the steps of a replica with stages.

#include "serve/simulation.h"

namespace rooflua {

/// Plans are made when the oldest step has landed, or when none is under way, as many as there is
/// room for. @pre the front step has landed
void Simulation::fill_stages(RankGroup& group) {
  Replica& replica = at(group.members.front());
  const std::int32_t index = replica.view().index;
  const auto alarm = [&] { alarms_.push({replica.pipeline().front().end, index}); };
  if (replica.bring_forward()) alarm();
  if (preempts_in_vain(index)) {
    if (replica.planned_steps() > 0) return;  // what is in flight lands first
    starve_contenders(replica);
  }
  while (replica.has_room()) {
    if (plan(replica) == 0) break;
    const bool first = replica.planned_steps() == 0;
    price_stages(replica);
    if (first) alarm();
    idle_asks_ = 0;
  }
  if (replica.planned_steps() == 0) wake(group);
}

void Simulation::price_stages(Replica& replica) {
  const Batch& batch = replica.batch_of_plan();
  operations_.front().clear();
  StepPrice whole = price(batch, operations_.front());
  whole.own_s = whole.time_s;
  add_sends(replica.config().stages, batch.tokens, whole, operations_.front());
  commit(replica, whole, operations_.front());
}

}  // namespace rooflua
