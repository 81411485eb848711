// The short way of a step that decodes the same requests as the one before it, of a replica that
// steps alone: what land_steps() and fill_pipeline() do, without what cannot matter. Observers are
// told of each such step as of any other.

#include "serve/replica.h"
#include "serve/simulation.h"

namespace rooflua {

// --- the replica

bool Replica::repeats(Picoseconds now) const {
  if (changed_ || !repeatable_ || now >= wake_ || !pipeline_.executing() || !pipeline_.full())
    return false;
  const Step& landing = pipeline_.front();
  return landing.plain && landing.batch.decodes == view().decodes && view().decodes > 0 &&
         view().group == nullptr && !flight_ && !is_ragged() && failing_.empty() &&
         pool_.blocks_needed() <= kv_.free_blocks() && pool_.is_steady();
}

const StepPrice* Replica::price_of_repeat(PricedRun& run) {
  if (!pool_.bounded().used())
    return run.next(view().decodes, view().decode_context_tokens, nullptr);
  pool_.bounded().sum_all(batch_);
  return run.next(view().decodes, view().decode_context_tokens, &batch_);
}

StepDone Replica::land_plain(Picoseconds now) {
  const Pipeline::CommonGap common = pipeline_.stamp_plain(now);
  return describe(pipeline_.retire(), common);
}

void Replica::repeat(const StepPrice& price, Picoseconds now) {
  board_.view.now_s = seconds(now);
  if (const std::int32_t blocks = pool_.blocks_needed(); blocks > 0)
    grant_all_decodes(blocks, plans_);
  Step& step = pipeline_.replace_plain();
  step.serial = plans_++;
  step.planned = now;
  step.batch.decode_context_tokens = view().decode_context_tokens;
  step.batch.decode_pairs = step.batch.decode_context_tokens + step.batch.decodes;
  if (pool_.bounded().used()) {
    pool_.bounded().sum_all(step.batch);
    step.batch.bounds = nullptr;
  }
  step.price = price;
  step.price.own_s = price.time_s;
  step.waiting = view().waiting;
  step.running = view().seats;
  step.used_blocks = kv_.used_blocks();
  step.decode_index = pool_.index();
  pool_.advance({});
}

// --- the simulation

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
  if (!sent_now_.empty()) return -1;
  if (next_open_ >= 0 && requests_.progress(next_open_).arrival == now_) return -1;
  const std::int32_t index = alarms_.front().replica;
  Replica& replica = at(index);
  if (!replica.repeats(now_)) return -1;
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
  const bool behind = replica.pipeline().planned() > 0;  // with a depth of 2
  if (!behind) replica.repeat(*price, now_);
  const Picoseconds end = after(now_, replica.pipeline().front().price.time_s, "step model");
  replica.start_front(now_, end);
  if (behind) replica.repeat(*price, now_);
  alarms_.push({end, index});
  return index;
}

}  // namespace rooflua
