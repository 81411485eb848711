// The short way of a step that decodes the same requests as the one before it, of a replica that
// steps alone: what land_steps() and fill_pipeline() do, without what cannot matter. Observers are
// told of each such step as of any other.

#include "serve/loop/simulation.h"

namespace rooflua {

void Simulation::look_at_observers() {
  unread_prices_ = true;
  for (const Observer* observer : core_.bindings.observers)
    unread_prices_ = unread_prices_ && !observer->reads_prices();
}

/// The whole instant, if one plain step that ends is all that happens now.
/// @returns whose step; -1: nothing was done
std::int32_t Simulation::step_plainly() {
  if (!unread_prices_ || core_.alarms.empty() || core_.alarms.front().time != core_.now ||
      core_.alarms.is_tied(core_.now))
    return -1;
  if (!core_.deliveries.empty() && core_.deliveries.front().time == core_.now) return -1;
  if (!core_.sent_now.empty()) return -1;
  if (arrivals_.next_open >= 0 && core_.progress(arrivals_.next_open).arrival == core_.now)
    return -1;
  if (core_.workload_due <= core_.now || parts_.next <= core_.now) return -1;
  for (const OnTime* part : parts_.on_time)
    if (part->next_tick() <= core_.now) return -1;
  const std::int32_t index = core_.alarms.front().replica;
  Replica& replica = core_.at(index);
  if (!replica.repeats(core_.now)) return -1;
  for (const OnStep* part : parts_.on_step)
    if (part->same_for(index) == 0) return -1;
  const StepPrice* price = replica.price_of_repeat(core_.runs[static_cast<std::size_t>(index)]);
  if (price == nullptr) return -1;
  core_.take_alarm();
  core_.signals.changed(index);
  const StepDone done = replica.land_plain(core_.now);
  ++core_.totals.steps;
  ++core_.totals.plain_steps;
  core_.totals.output_tokens += done.tokens_landed();
  core_.fruitless_preemptions[static_cast<std::size_t>(index)] = 0;
  idle_asks_ = 0;
  core_.tell(&Observer::on_step, done);
  if (core_.signals.reads_reports()) core_.signals.step_ended(done, done.left_blocks, done.running);
  const bool behind = replica.pipeline().planned() > 0;  // with a depth of 2
  if (!behind) replica.repeat(*price, core_.now);
  const Picoseconds end = after(core_.now, replica.pipeline().front().price.time_s, "step model");
  replica.start_front(core_.now, end);
  if (behind) replica.repeat(*price, core_.now);
  for (OnStep* part : parts_.on_step) part->took(index, 1, replica.view().decodes);
  core_.alarms.push({end, index});
  return index;
}

}  // namespace rooflua
