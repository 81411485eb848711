// Several plain steps of one replica at once (plain_step.cpp), while nothing else happens: no other
// replica's step ends, nothing arrives, and their prices are known ahead. Each of them is planned
// and ends when it would alone.

#include <algorithm>

#include "serve/loop/moving.h"
#include "serve/loop/simulation.h"

namespace rooflua {

/// After a plain step of that replica: those that end in front of everything else. @returns how
/// many
std::int64_t Simulation::repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until) {
  const Alarm alarm = alarms_.front();
  if (alarm.replica != index) return 0;
  if (knowledge_ && knowledge_->hears()) return 0;  // caches report at the time of each step
  Picoseconds before = std::min(signals_.next_tick(), until == never ? never : until + 1);
  if (gate_) before = std::min({before, gate_->next_tick(), gate_due()});
  if (const Alarm* other = alarms_.ahead(1)) before = std::min(before, other->time);
  if (!deliveries_.empty()) before = std::min(before, deliveries_.front().time);
  if (next_open_ >= 0) before = std::min(before, requests_.progress(next_open_).arrival);
  if (!leases_.empty()) before = std::min(before, next_lease());
  before = std::min(before, workload_due_);
  if (fleet_) before = std::min({before, next_life(), fleet_->sample_at});
  if (alarm.time >= before) return 0;
  Replica& replica = at(index);
  PricedRun& run = runs_[static_cast<std::size_t>(index)];
  if (!experts_.empty()) most = std::min<std::int64_t>(most, Moving(*this).left(index));
  const auto limit = static_cast<std::size_t>(most);
  const std::size_t ended = replica.repeat_until(before, limit, run, repeats_);
  if (ended == 0) return 0;
  const std::span<const RepeatedStep> steps(repeats_);
  const StepsDone done{replica.first_repeat(steps.front()), steps.first(ended)};
  for (Observer* observer : bindings_.observers) observer->on_steps(done);
  if (signals_.reads_reports())
    signals_.step_ended(done.first, steps[ended - 1].left_blocks, done.first.running);
  const auto count = static_cast<std::int64_t>(ended);
  if (!experts_.empty()) Moving(*this).pass(index, count, replica.view().decodes);
  totals_.steps += count;
  totals_.plain_steps += count;
  totals_.output_tokens += count * done.first.tokens_landed();
  replica.settle_repeats(steps, ended, run);
  now_ = steps[ended - 1].end;
  alarms_.pop();
  alarms_.push({replica.pipeline().front().end, index});
  return count;
}

}  // namespace rooflua
