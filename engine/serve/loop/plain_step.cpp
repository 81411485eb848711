// The short way of a step that decodes the same requests as the one before it, of a replica that
// steps alone: what land_steps() and fill_pipeline() do, without what cannot matter. Observers are
// told of each such step as of any other.

#include "serve/loop/moving.h"
#include "serve/loop/simulation.h"

namespace rooflua {

void Simulation::look_at_observers() {
  unread_prices_ = true;
  for (const Observer* observer : bindings_.observers)
    unread_prices_ = unread_prices_ && !observer->reads_prices();
}

/// The whole instant, if one plain step that ends is all that happens now.
/// @returns whose step; -1: nothing was done
std::int32_t Simulation::step_plainly() {
  if (!unread_prices_ || alarms_.empty() || alarms_.front().time != now_ || alarms_.is_tied(now_))
    return -1;
  if (!deliveries_.empty() && deliveries_.front().time == now_) return -1;
  if (!sent_now_.empty() || (!leases_.empty() && next_lease() <= now_)) return -1;
  if (next_open_ >= 0 && requests_.progress(next_open_).arrival == now_) return -1;
  if (workload_due_ <= now_ || (gate_ && gate_->next_deadline() <= now_)) return -1;
  if (fleet_ && next_life() <= now_) return -1;
  const std::int32_t index = alarms_.front().replica;
  Replica& replica = at(index);
  if (!replica.repeats(now_)) return -1;
  if (!experts_.empty() && Moving(*this).left(index) == 0) return -1;
  const StepPrice* price = replica.price_of_repeat(runs_[static_cast<std::size_t>(index)]);
  if (price == nullptr) return -1;
  take_alarm();
  signals_.changed(index);
  const StepDone done = replica.land_plain(now_);
  ++totals_.steps;
  ++totals_.plain_steps;
  totals_.output_tokens += done.tokens_landed();
  fruitless_preemptions_[static_cast<std::size_t>(index)] = 0;
  idle_asks_ = 0;
  for (Observer* observer : bindings_.observers) observer->on_step(done);
  if (signals_.reads_reports()) signals_.step_ended(done, done.left_blocks, done.running);
  const bool behind = replica.pipeline().planned() > 0;  // with a depth of 2
  if (!behind) replica.repeat(*price, now_);
  const Picoseconds end = after(now_, replica.pipeline().front().price.time_s, "step model");
  replica.start_front(now_, end);
  if (behind) replica.repeat(*price, now_);
  if (!experts_.empty()) Moving(*this).pass(index, 1, replica.view().decodes);
  alarms_.push({end, index});
  return index;
}

}  // namespace rooflua
