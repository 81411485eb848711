// Several plain steps of one replica at once (runs/plain_step.cpp), while nothing else happens: no
// other replica's step ends, nothing arrives, and their prices are known ahead. Each of them is
// planned and ends when it would alone.

#include <algorithm>

#include "serve/replica.h"
#include "serve/simulation.h"

namespace rooflua {

void Observer::on_steps(const StepsDone& done) {
  StepDone step = done.first;
  Batch batch = *step.batch;
  StepPrice price;
  step.batch = &batch;
  step.price = &price;
  for (const RepeatedStep& each : done.steps) {
    if (&each != &done.steps.front()) {
      step.common_gap = each.end - step.end;
      ++step.serial;
      batch.decode_context_tokens += batch.decodes;
      batch.decode_pairs = batch.decode_context_tokens + batch.decodes;
    }
    price = *each.price;
    price.own_s = price.time_s;
    step.planned = each.planned;
    step.start = each.start;
    step.end = each.end;
    step.used_blocks = each.used_blocks;
    step.left_blocks = each.left_blocks;
    on_step(step);
  }
}

// --- the replica

/// Whether steps that are planned are as those that would be planned now.
bool Replica::repeats_on(const PricedRun& run) const {
  const auto is_alike = [this](const Step& step) {
    return step.plain && step.waiting == view().waiting && step.running == view().seats;
  };
  return repeats(pipeline_.front().end) && is_alike(pipeline_.front()) &&
         is_alike(pipeline_.at(pipeline_.planned() - 1)) && !pool_.bounded().used() &&
         !run.ahead(view().decodes, view().decode_context_tokens).empty();
}

std::size_t Replica::repeat_until(Picoseconds before, std::size_t most, const PricedRun& run,
                                  std::vector<RepeatedStep>& steps) {
  steps.clear();
  if (!repeats_on(run)) return 0;
  const auto depth = static_cast<std::size_t>(pipeline_.planned());
  for (std::size_t place = 0; place < depth; ++place) {
    const Step& step = pipeline_.at(static_cast<std::int32_t>(place));
    steps.push_back({step.planned, step.start, step.end, &step.price, step.used_blocks, 0});
  }
  const auto prices = run.ahead(view().decodes, view().decode_context_tokens);
  most = std::min(most, prices.size());
  before = std::min(before, wake_);
  std::size_t ended = 0;
  for (; ended < most; ++ended) {
    const Picoseconds now = steps[ended].end;
    const std::int32_t blocks = pool_.blocks_needed();
    if (now >= before || blocks > kv_.free_blocks() || !pool_.is_steady()) break;
    steps[ended].left_blocks = kv_.used_blocks();
    if (blocks > 0) grant_all_decodes(blocks, plans_);
    ++plans_;
    steps.push_back({now, 0, 0, &prices[ended], kv_.used_blocks(), 0});
    RepeatedStep& next = steps[ended + 1];
    next.start = now;
    next.end = after(now, next.price->time_s, "step model");
    pool_.advance_steadily();
  }
  if (ended > 0) board_.view.now_s = seconds(steps[ended - 1].end);
  return ended;
}

StepDone Replica::first_repeat(const RepeatedStep& step) const {
  StepDone done = describe(pipeline_.front(), pipeline_.gap_of_plain());
  done.left_blocks = step.left_blocks;
  return done;
}

void Replica::settle_repeats(std::span<const RepeatedStep> steps, std::size_t ended,
                             PricedRun& run) {
  const std::int32_t depth = pipeline_.planned();
  for (std::int32_t place = 0; place < depth; ++place) {
    Step& step = pipeline_.at(place);
    const RepeatedStep& as = steps[ended + static_cast<std::size_t>(place)];
    const auto later = static_cast<std::int64_t>(ended);
    step.serial += later;
    step.planned = as.planned;
    step.start = as.start;
    step.end = as.end;
    step.batch.decode_context_tokens += static_cast<double>(later * step.batch.decodes);
    step.batch.decode_pairs = step.batch.decode_context_tokens + step.batch.decodes;
    step.price = *as.price;
    step.price.own_s = step.price.time_s;
    step.used_blocks = as.used_blocks;
    step.decode_index += later;
  }
  pipeline_.pass(steps[ended - 1].end);
  run.skip(ended);
}

// --- the simulation

/// Behind a plain step of that replica: those that end in front of everything else. @returns how
/// many
std::int64_t Simulation::repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until) {
  const Alarm alarm = alarms_.front();
  if (alarm.replica != index) return 0;
  Picoseconds before = std::min(signals_.next_tick(), until == never ? never : until + 1);
  if (const Alarm* other = alarms_.ahead(1)) before = std::min(before, other->time);
  if (!deliveries_.empty()) before = std::min(before, deliveries_.front().time);
  if (next_open_ >= 0) before = std::min(before, requests_.progress(next_open_).arrival);
  if (alarm.time >= before) return 0;
  Replica& replica = at(index);
  PricedRun& run = runs_[static_cast<std::size_t>(index)];
  const auto limit = static_cast<std::size_t>(most);
  const std::size_t ended = replica.repeat_until(before, limit, run, repeats_);
  if (ended == 0) return 0;
  const std::span<const RepeatedStep> steps(repeats_);
  const StepsDone done{replica.first_repeat(steps.front()), steps.first(ended)};
  for (Observer* observer : bindings_.observers) observer->on_steps(done);
  const auto count = static_cast<std::int64_t>(ended);
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
