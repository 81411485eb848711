// Several plain steps of one replica at once (plain_step.cpp), while nothing else happens: no other
// replica's step ends, nothing arrives, and their prices are known ahead. Each of them is planned
// and ends when it would alone.

#include <algorithm>

#include "serve/loop/simulation.h"

namespace rooflua {

/// After a plain step of that replica: those that end in front of everything else. @returns how
/// many
std::int64_t Simulation::repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until) {
  const Alarm alarm = core_.alarms.front();
  if (alarm.replica != index) return 0;
  if (knowledge_ && knowledge_->hears()) return 0;  // caches report at the time of each step
  Picoseconds before = std::min(core_.signals.next_tick(), until == never ? never : until + 1);
  before = std::min(before, parts_.next);
  for (const OnTime* part : parts_.on_time) before = std::min(before, part->next_tick());
  if (const Alarm* other = core_.alarms.ahead(1)) before = std::min(before, other->time);
  if (!core_.deliveries.empty()) before = std::min(before, core_.deliveries.front().time);
  if (arrivals_.next_open >= 0)
    before = std::min(before, core_.progress(arrivals_.next_open).arrival);
  before = std::min(before, core_.workload_due);
  if (alarm.time >= before) return 0;
  Replica& replica = core_.at(index);
  PricedRun& run = core_.runs[static_cast<std::size_t>(index)];
  for (const OnStep* part : parts_.on_step) most = std::min(most, part->same_for(index));
  const auto limit = static_cast<std::size_t>(most);
  const std::size_t ended = replica.repeat_until(before, limit, run, scratch_.repeats);
  if (ended == 0) return 0;
  const std::span<const RepeatedStep> steps(scratch_.repeats);
  const StepsDone done{replica.first_repeat(steps.front()), steps.first(ended)};
  core_.tell(&Observer::on_steps, done);
  if (core_.signals.reads_reports())
    core_.signals.step_ended(done.first, steps[ended - 1].left_blocks, done.first.running);
  const auto count = static_cast<std::int64_t>(ended);
  for (OnStep* part : parts_.on_step) part->took(index, count, replica.view().decodes);
  core_.totals.steps += count;
  core_.totals.plain_steps += count;
  core_.totals.output_tokens += count * done.first.tokens_landed();
  replica.settle_repeats(steps, ended, run);
  core_.now = steps[ended - 1].end;
  core_.alarms.pop();
  core_.alarms.push({replica.pipeline().front().end, index});
  return count;
}

}  // namespace rooflua
