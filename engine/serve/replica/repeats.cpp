// Steps of one replica that decode the same requests as the one before them. The simulation takes
// them one by one or several at once (loop/instant.cpp).

#include <algorithm>
#include <cstddef>

#include "serve/replica/replica.h"
#include "serve/stores/tiers.h"

namespace rooflua {

// --- one by one

bool Replica::repeats(Picoseconds now) const {
  if (tiers_ != nullptr && tiers_->may_hold_steps(view().index)) return false;
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
  step.waiting = queued();
  step.running = view().seats;
  step.lacks_blocks = lacks_blocks_;
  step.used_blocks = kv_.used_blocks();
  step.decode_index = pool_.index();
  pool_.advance({});
}

// --- several at once

/// Whether steps that are planned are as those that would be planned now.
bool Replica::repeats_on(const PricedRun& run) const {
  const auto is_alike = [this](const Step& step) {
    return step.plain && step.waiting == queued() && step.running == view().seats;
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

// --- What the end of a step reads comes into the processor's cache before.

namespace {

/// Everything from the beginning of one object to the end of another one after it.
void prefetch_between(const void* first, const void* end) {
  constexpr std::ptrdiff_t line_bytes = 64;
  for (auto at = static_cast<const char*>(first); at < end; at += line_bytes)
    __builtin_prefetch(at);
}

}  // namespace

void Replica::prefetch() const {
  prefetch_between(this, &kv_);
  kv_.prefetch();
  prefetch_between(&pool_, &pool_.bounded());
  pipeline_.prefetch();
  prefetch_between(&plan_, this + 1);
}

void Replica::prefetch_parts() const {
  pool_.prefetch();
  if (pipeline_.planned() == 0) return;
  __builtin_prefetch(pipeline_.front().ending.data());
  __builtin_prefetch(pipeline_.front().prefills.data());
}

void Replica::prefetch_requests() const {
  const auto prefetch = [this](std::int32_t slot) {
    prefetch_between(&board_.request(slot), &board_.request(slot) + 1);
    prefetch_between(&board_.progress(slot), &board_.progress(slot) + 1);
  };
  if (view().waiting_head >= 0) prefetch(view().waiting_head);
  if (const std::int32_t slot = pool_.due_next(); slot >= 0) prefetch(slot);
  if (pipeline_.planned() == 0) return;
  for (const std::int32_t slot : pipeline_.front().ending) prefetch(slot);
  for (const PrefillWork& work : pipeline_.front().prefills) prefetch(work.slot);
}

}  // namespace rooflua
