// Steps of a replica with stages: requests leave for the stages and come back with their step.

#include <algorithm>

#include "serve/replica/replica.h"

namespace rooflua {

bool Replica::has_room() const {
  return planned_steps() < flight_->most;
}

std::int32_t Replica::planned_steps() const {
  return pipeline_.planned() + (flight_ ? static_cast<std::int32_t>(flight_->behind.size()) : 0);
}

/// The step is under way at once; when each stage has it is known.
void Replica::send_off(const StepPrice& price, Picoseconds now) {
  const bool front = pipeline_.planned() == 0;
  Step& step = front ? pipeline_.append() : flight_->behind.emplace_back();
  describe(step, price, now);
  const auto [start, end] = flight_->clock.pass(now, price.own_s, step.batch.tokens);
  step.start = start;
  step.end = end;
  if (front) pipeline_.start(start, end);
  depart_decodes(step);
  depart_prefills(step);
  by_admission(step.ending);
  changed_ = true;
}

bool Replica::bring_forward() {
  if (flight_->behind.empty()) return false;
  Step& front = pipeline_.append();
  front = std::move(flight_->behind.front());
  flight_->behind.pop_front();
  pipeline_.start(front.start, front.end);
  return true;
}

void Replica::depart_decodes(Step& step) {
  pool_.forget_newcomers();
  if (step.batch.decodes == 0) return;
  board_.view.lane_steps += plan_.decodes_everyone() || plan_.walked();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    const bool decodes = request(slot).phase == Phase::decoding;
    // A request of another lane decodes again before this step lands.
    if (request(slot).phase == Phase::in_flight || (decodes && !plan_.holds(slot)))
      step.skipped.push_back(request(slot).id);
    if (!decodes || !plan_.holds(slot)) continue;
    pool_.leave(slot);
    Request& leaving = board_.request(slot);
    leaving.context_tokens += DecodePool::tokens_per_step;
    Progress& progress = board_.progress(slot);
    progress.held_blocks =
        std::max(progress.held_blocks, blocks_for(leaving.context_tokens, config_.block_size));
    step.own_gaps.push_back(slot);
    step.stamps.push_back(slot);
    depart(slot, step);
  }
}

void Replica::depart_prefills(Step& step) {
  for (const PrefillWork& work : step.prefills) {
    board_.request(work.slot).context_tokens += work.new_tokens;
    if (work.completes != 0) depart(work.slot, step);
  }
  if (config_.content_from != ContentFrom::plan) land_chunks(step.prefills, false);
}

/// A token of the request is in flight. By its limit it is the last one; an end token is known when
/// it lands.
void Replica::depart(std::int32_t slot, Step& step) {
  Request& request = board_.request(slot);
  const Progress& progress = board_.progress(slot);
  ++request.emitted_tokens;
  if (request.emitted_tokens == progress.stop_at) step.ending.push_back(slot);
  if (request.emitted_tokens == progress.limit) {
    leave_adapter(slot);
    return seats_.finish(slot);
  }
  if (request.phase == Phase::prefilling) seats_.end_prefill(slot);
  request.phase = Phase::in_flight;
  ++board_.view.in_flight;
  flight_->context_tokens += request.context_tokens;
}

/// The tokens of this step have landed. A request that lost its seat meanwhile stays in the queue.
void Replica::come_back(const Step& step) {
  const auto rejoin = [this](std::int32_t slot) {
    if (request(slot).phase != Phase::in_flight) return;
    not_in_flight(slot);
    pool_.join(slot, shares_output(slot));
  };
  for (const std::int32_t slot : step.stamps) rejoin(slot);
  for (const PrefillWork& work : step.prefills) {
    if (work.completes != 0) rejoin(work.slot);
  }
  changed_ = true;
}

}  // namespace rooflua
