// The second part of replica.h: what a planned step does to the decoding aggregate. What happens
// when it ends is in landing.cpp.

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "serve/replica.h"

namespace rooflua {

// --- the decoding aggregate

std::int32_t Replica::crossings_now() const {
  return crossings_[static_cast<std::size_t>(phase_)];
}

/// Whether the next token of a decoding request needs a block it does not hold.
bool Replica::crosses_now(std::int32_t slot) const {
  const std::int32_t context = context_tokens(view_, request(slot));
  return context % config_.block_size == 0 &&
         context / config_.block_size >= requests_->progress(slot).held_blocks;
}

/// Moves a request between the counters of who needs a block when; -1 is none of them.
void Replica::count_crossing(Progress& progress, std::int32_t phase) {
  if (progress.crossing >= 0) --crossings_[static_cast<std::size_t>(progress.crossing)];
  progress.crossing = phase;
  if (phase >= 0) ++crossings_[static_cast<std::size_t>(phase)];
}

/// Moves a request between the lists of who fills a block when; -1 is none of them.
void Replica::count_filling(std::int32_t slot, std::int32_t phase) {
  Progress& progress = requests_->progress(slot);
  if (fillers_.empty()) fillers_.resize(static_cast<std::size_t>(config_.block_size));
  if (progress.filling >= 0) std::erase(fillers_[static_cast<std::size_t>(progress.filling)], slot);
  progress.filling = phase;
  if (phase >= 0) fillers_[static_cast<std::size_t>(phase)].push_back(slot);
}

/// Whether the last token of a decoding request belongs to the step that is planned behind none.
bool Replica::token_in_flight(std::int32_t slot) const {
  if (planned_steps_ == 0) return false;
  const Step& step = steps_[static_cast<std::size_t>((first_step_ + planned_steps_ - 1) & 1)];
  if (step.decode_ordinal >= requests_->progress(slot).token_from) return true;
  const auto completes = [&](const PrefillWork& work) {
    return work.slot == slot && work.completes != 0;
  };
  return std::find(step.own_pace.begin(), step.own_pace.end(), slot) != step.own_pace.end() ||
         std::any_of(step.prefills.begin(), step.prefills.end(), completes);
}

/// Everybody who decodes and was not planned one by one in this plan.
void Replica::fill_all(std::int64_t plan) {
  if (fillers_.empty()) return;
  std::vector<std::int32_t> slots = fillers_[static_cast<std::size_t>(phase_)];
  std::sort(slots.begin(), slots.end(), [this](std::int32_t a, std::int32_t b) {
    return requests_->progress(a).seat < requests_->progress(b).seat;
  });
  for (const std::int32_t slot : slots) {
    if (requests_->progress(slot).planned != plan) fill(slot);
  }
}

/// A decode is planned. If it fills a block whose last token is known, the block carries content
/// from now on; if that token is in flight, from when it lands.
void Replica::fill(std::int32_t slot) {
  const Progress& progress = requests_->progress(slot);
  if (progress.filling != phase_) return;
  if (token_in_flight(slot)) {
    step_at(planned_steps_ - 1).fills.push_back(slot);
  } else {
    const std::int32_t tokens = context_tokens(view_, request(slot)) + 1;
    kv_.remember(slot, request(slot), progress, tokens / config_.block_size);
  }
}

/// From this decode index on it needs blocks again: what it held beyond its context is used up.
void Replica::outgrow(std::int32_t slot) {
  cancel_event(slot);
  count_crossing(requests_->progress(slot), phase_);
  schedule_event(slot);
}

/// Puts a decoding request on the wheel: where it ends, or where it outgrows what it holds.
void Replica::schedule_event(std::int32_t slot) {
  Progress& progress = requests_->progress(slot);
  const Request& r = request(slot);
  progress.event_at = progress.finish_at;
  if (progress.crossing < 0) {
    const std::int64_t outgrown = static_cast<std::int64_t>(r.joined) - r.context_tokens +
                                  std::int64_t{progress.held_blocks} * config_.block_size;
    progress.event_at = std::min(outgrown, progress.finish_at);
  }
  std::int32_t& head = wheel_[static_cast<std::size_t>(progress.event_at) & (wheel_.size() - 1)];
  progress.wheel_previous = -1;
  progress.wheel_next = head;
  if (head >= 0) requests_->progress(head).wheel_previous = slot;
  head = slot;
}

void Replica::cancel_event(std::int32_t slot) {
  const Progress& progress = requests_->progress(slot);
  const std::int32_t before = progress.wheel_previous, behind = progress.wheel_next;
  (before >= 0 ? requests_->progress(before).wheel_next
               : wheel_[static_cast<std::size_t>(progress.event_at) & (wheel_.size() - 1)]) =
      behind;
  if (behind >= 0) requests_->progress(behind).wheel_previous = before;
}

void Replica::join_decoders(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  request.phase = Phase::decoding;
  request.joined = static_cast<double>(decode_index_);
  progress.finish_at = decode_index_ + progress.stop_at - request.emitted_tokens;
  progress.token_from = decode_index_;
  progress.crossing = -1;
  if (progress.held_blocks <= blocks_for(request.context_tokens, config_.block_size)) {
    const std::int32_t phase = phase_ - request.context_tokens % config_.block_size;
    count_crossing(progress, phase < 0 ? phase + config_.block_size : phase);
  }
  if (kv_.shares_output(request, progress)) {
    const std::int32_t size = config_.block_size;
    count_filling(slot, (phase_ + size - 1 - request.context_tokens % size) % size);
  }
  schedule_event(slot);
  fresh_.push_back(slot);
  ++view_.decodes;
  view_.decode_context_tokens += request.context_tokens;
}

/// Context, output and blocks become plain numbers again.
void Replica::leave_decoders(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  cancel_event(slot);
  count_crossing(progress, -1);
  if (progress.filling >= 0) count_filling(slot, -1);
  if (progress.token_from >= decode_index_) std::erase(fresh_, slot);
  const auto steps =
      static_cast<std::int32_t>(decode_index_ - static_cast<std::int64_t>(request.joined));
  request.context_tokens += steps;
  request.emitted_tokens += steps;
  request.joined = 0;
  progress.held_blocks =
      std::max(progress.held_blocks, blocks_for(request.context_tokens, config_.block_size));
  --view_.decodes;
  view_.decode_context_tokens -= request.context_tokens;
}

/// Moves a decoding request by so many steps against the others: +1, it decoded alone; -1, it sat
/// out. From now on it keeps its own pace, until it decodes with the others again.
void Replica::shift(std::int32_t slot, std::int32_t steps) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  cancel_event(slot);
  request.joined -= steps;
  progress.finish_at -= steps;
  progress.token_from = decode_index_;
  const std::int32_t size = config_.block_size;
  if (progress.crossing >= 0) count_crossing(progress, (progress.crossing - steps + size) % size);
  if (progress.filling >= 0) count_filling(slot, (progress.filling - steps + size) % size);
  schedule_event(slot);
  view_.decode_context_tokens += steps;
}

/// It is about to leave the common pace: its last token is that of the latest common decode it took
/// part in, which may still be in flight.
void Replica::own_pace_from_now(std::int32_t slot) {
  Progress& progress = requests_->progress(slot);
  for (std::int32_t place = planned_steps_ - 1; place >= 0; --place) {
    Step& step = step_at(place);
    if (step.decode_ordinal < progress.token_from) continue;
    step.stamps.push_back(slot);
    return;
  }
  progress.last_token = common_token_;
}

// --- commit

Step& Replica::step_at(std::int32_t place) {
  return steps_[static_cast<std::size_t>((first_step_ + place) & 1)];
}

Step& Replica::commit(Plan& plan, const StepPrice& price, Picoseconds now) {
  ROOFLUA_ASSERT(planned_steps_ < config_.async_depth);
  Step& step = step_at(planned_steps_);
  step.own_pace.clear();
  step.stamps.clear();
  step.finishing.clear();
  step.skipped.clear();
  step.fills.clear();
  step.discarded = 0;
  step.prefills.swap(plan.prefills_);
  step.serial = plan.serial_;
  step.planned = now;
  step.batch = batch_;
  step.batch.prefills = step.prefills.data();
  step.batch.origin = nullptr;
  step.price = price;
  step.decode_ordinal = -1;
  step.waiting = view_.waiting;
  step.running = view_.running;
  step.used_blocks = kv_.used_blocks();
  if (plan.whole_ || plan.walked_) {
    advance_common(plan, step);
  } else if (!plan.singles_.empty()) {
    advance_singles(plan, step);
  }
  advance_prefills(step);
  if (step.finishing.size() > 1) {
    std::sort(step.finishing.begin(), step.finishing.end(), [this](std::int32_t a, std::int32_t b) {
      return requests_->progress(a).seat < requests_->progress(b).seat;
    });
  }
  if (!step.prefills.empty()) changed_ = true;
  ++planned_steps_;
  return step;
}

/// Everybody who decodes decodes one token; those who were left out are shifted back.
void Replica::advance_common(Plan& plan, Step& step) {
  step.decode_ordinal = decode_index_;
  std::vector<std::int32_t> sitting;
  if (plan.walked_ && plan.view_.decodes < view_.decodes) {
    for (std::int32_t slot = view_.running_head; slot >= 0; slot = request(slot).next) {
      if (request(slot).phase != Phase::decoding || plan.planned(slot)) continue;
      if (requests_->progress(slot).token_from < decode_index_) own_pace_from_now(slot);
      sitting.push_back(slot);
      step.skipped.push_back(request(slot).id);
    }
  }
  for (const std::int32_t slot : fresh_) {
    if (plan.planned(slot)) step.own_pace.push_back(slot);
  }
  fresh_.clear();
  view_.decode_context_tokens += view_.decodes;
  ++decode_index_;
  view_.decode_index = static_cast<double>(decode_index_);
  if (++phase_ == config_.block_size) phase_ = 0;
  for (const std::int32_t slot : sitting) {
    shift(slot, -1);
    fresh_.push_back(slot);
  }
  turn_wheel(step);
}

void Replica::advance_singles(Plan& plan, Step& step) {
  if (static_cast<std::int32_t>(plan.singles_.size()) < view_.decodes) {
    for (std::int32_t slot = view_.running_head; slot >= 0; slot = request(slot).next) {
      if (request(slot).phase == Phase::decoding && !plan.planned(slot))
        step.skipped.push_back(request(slot).id);
    }
  }
  for (const std::int32_t slot : plan.singles_) {
    Progress& progress = requests_->progress(slot);
    if (progress.token_from < decode_index_) {
      own_pace_from_now(slot);
      fresh_.push_back(slot);
    }
    step.own_pace.push_back(slot);
    step.stamps.push_back(slot);
    shift(slot, 1);
    reach(slot, step);
  }
}

/// What happens at the decode index just reached: last tokens, and blocks outgrown.
void Replica::turn_wheel(Step& step) {
  const std::int32_t head = wheel_[static_cast<std::size_t>(decode_index_) & (wheel_.size() - 1)];
  for (std::int32_t slot = head; slot >= 0;) {
    const std::int32_t next = requests_->progress(slot).wheel_next;
    reach(slot, step);
    slot = next;
  }
}

void Replica::reach(std::int32_t slot, Step& step) {
  const Progress& progress = requests_->progress(slot);
  if (progress.event_at != decode_index_) return;
  if (progress.finish_at == decode_index_) plan_last(slot, step);
  const bool goes_on = request(slot).phase == Phase::decoding;
  if (goes_on && progress.event_at == decode_index_) outgrow(slot);
}

/// Its last token is planned, or would be by its limit. Where the limit says so it is not planned
/// again; where only the token will, it goes on like anybody else until that lands (landing.cpp).
void Replica::plan_last(std::int32_t slot, Step& step) {
  Progress& progress = requests_->progress(slot);
  const std::int32_t emitted = emitted_tokens(view_, request(slot));
  if (emitted == progress.stop_at) step.finishing.push_back(slot);
  if (emitted == progress.limit) return drain(slot);
  cancel_event(slot);
  progress.finish_at += progress.limit - progress.stop_at;
  schedule_event(slot);
}

void Replica::drain(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  if (request.phase == Phase::decoding) leave_decoders(slot);
  if (request.phase == Phase::prefilling) leave_prefilling(slot);
  request.phase = Phase::draining;
  ++view_.draining;
  changed_ = true;
}

void Replica::advance_prefills(Step& step) {
  for (const PrefillWork& work : step.prefills) {
    Request& request = (*requests_)[work.slot];
    request.context_tokens += work.new_tokens;
    if (work.completes == 0) continue;
    ++request.emitted_tokens;
    const Progress& progress = requests_->progress(work.slot);
    const bool last = request.emitted_tokens >= progress.stop_at;
    if (request.emitted_tokens < progress.limit) {
      leave_prefilling(work.slot);
      join_decoders(work.slot);
    }
    if (last) plan_last(work.slot, step);
  }
}

}  // namespace rooflua
