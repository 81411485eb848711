// The last part of replica.h: what happens when a step starts and ends.
//
// A request ends by its limit or by its end token. The first can be foreseen: it is not planned
// again once its last token is in flight. The second cannot: it is planned as one that goes on
// until the token lands, so that with async_depth 2 the step behind may hold one more row of it,
// which costs what a row costs and is discarded.   @source SERVING A1.7

#include <algorithm>

#include "base/error.h"
#include "serve/replica.h"

namespace rooflua {

void Replica::start_front(Picoseconds now, Picoseconds end) {
  Step& step = step_at(0);
  step.start = now;
  step.end = end;
  executing_ = true;
}

namespace {

/// Decodes' tokens land. Those who do not go at the common pace have gaps of their own.
void stamp_decodes(Requests& requests, const Step& step, Picoseconds now,
                   std::vector<Picoseconds>& gaps) {
  for (const std::int32_t slot : step.own_pace)
    gaps.push_back(now - requests.progress(slot).last_token);
  for (const std::int32_t slot : step.stamps) requests.progress(slot).last_token = now;
}

/// First tokens, and those of requests that were preempted and prefilled again.
void stamp_prefills(Requests& requests, const Step& step, Picoseconds now,
                    std::vector<Picoseconds>& gaps) {
  for (const PrefillWork& work : step.prefills) {
    if (work.completes == 0) continue;
    Progress& progress = requests.progress(work.slot);
    if (progress.first_token == never) {
      progress.first_token = now;
    } else {
      gaps.push_back(now - progress.last_token);
    }
    progress.last_token = now;
  }
}

}  // namespace

/// Its last token landed: it leaves from where the plan behind left it.
void Replica::end(std::int32_t slot, bool keep_blocks) {
  switch (request(slot).phase) {
    case Phase::decoding:
    case Phase::draining:
      leave_seat(slot);
      if (request(slot).emitted_tokens > requests_->progress(slot).stop_at) discard_row(slot);
      if (!keep_blocks) release_blocks(slot, 0, false);
      break;
    case Phase::waiting:  // it fell victim, and nobody knew that it would not come back
      quit_waiting(slot);
      break;
    default:  // it fell victim, and released early or could not have come back
      std::erase_if(doomed_, [slot](const Doomed& who) { return who.slot == slot; });
  }
  (*requests_)[slot].phase = Phase::pending;
}

/// The step behind computes one more row of it: the KV is no content, and no token lands.
void Replica::discard_row(std::int32_t slot) {
  Step& behind = step_at(1);
  std::erase(behind.own_pace, slot);
  std::erase(behind.stamps, slot);
  ++behind.discarded;
  --(*requests_)[slot].context_tokens;
  --(*requests_)[slot].emitted_tokens;
}

StepSeen Replica::land(Picoseconds now, std::vector<Picoseconds>& gaps, bool keep_blocks) {
  Step& step = step_at(0);
  ROOFLUA_ASSERT(executing_ && step.end == now);
  gaps.clear();
  stamp_decodes(*requests_, step, now, gaps);
  std::int32_t common_gaps = 0;
  Picoseconds common_gap = 0;
  if (step.decode_ordinal >= 0) {
    common_gaps =
        step.batch.decodes - step.discarded - static_cast<std::int32_t>(step.own_pace.size());
    common_gap = now - common_token_;
    common_token_ = now;
  }
  if (!keep_blocks) stamp_prefills(*requests_, step, now, gaps);
  finished_ids_.clear();
  for (const std::int32_t slot : step.finishing) {
    if (!keep_blocks) requests_->progress(slot).last_token = now;
    finished_ids_.push_back(request(slot).id);
    end(slot, keep_blocks);
  }
  if (!step.finishing.empty()) changed_ = true;
  for (const std::int32_t slot : step.fills) {
    const Phase phase = request(slot).phase;
    if (phase != Phase::decoding && phase != Phase::draining) continue;  // it lost its seat
    kv_.remember(slot, request(slot), requests_->progress(slot),
                 context_tokens(view_, request(slot)) / config_.block_size);
    changed_ = true;
  }
  first_step_ ^= 1;
  --planned_steps_;
  executing_ = false;
  return {.replica = index_,
          .serial = step.serial,
          .planned = step.planned,
          .start = step.start,
          .end = now,
          .batch = &step.batch,
          .price = &step.price,
          .waiting = step.waiting,
          .running = step.running,
          .used_blocks = step.used_blocks,
          .total_blocks = config_.kv_blocks,
          .left_blocks = kv_.used_blocks(),
          .common_gap = common_gap,
          .common_gaps = common_gaps,
          .other_gaps = gaps,
          .discarded = step.discarded,
          .prefills = step.prefills,
          .skipped = step.skipped,
          .finished = finished_ids_};
}

}  // namespace rooflua
