// What is written into stores.

#include "serve/parts/tiers/trips.h"

namespace rooflua {

/// What a step computed of prompts, and of answers whose chunks it filled.
void TiersPart::landed(const StepDone& done) {
  const auto store = [this](std::int32_t slot, std::int32_t id, std::int32_t tokens) {
    const Request& request = core_.requests[slot];
    if (request.id != id || request.phase == Phase::absent) return;
    if (core_.at(request.replica).tiers() == nullptr) return;
    trips_.clear();
    tiers_.store(slot, request, core_.progress(slot), tokens, 0, core_.now, trips_);
    send_writes(slot, false);
  };
  for (const PrefillWork& work : done.prefills)
    store(work.slot, work.id, work.context_tokens + work.new_tokens);
  for (const Filled& each : done.filled) store(each.slot, each.id, each.tokens);
}

/// What a request generated, when it ended (1) or was preempted (2). Chunks that are stored as they
/// are filled are so when the steps under way are over.
void TiersPart::store_answer(std::int32_t slot, std::int32_t why) {
  const Request& request = core_.requests[slot];
  Replica& replica = core_.at(request.replica);
  if (replica.tiers() == nullptr || !tiers_.policy(request.replica)->outputs()) return;
  if (request.emitted_tokens < 1) return;
  if (why == 2 && tiers_.policy(request.replica)->as_filled()) return;
  trips_.clear();
  tiers_.store(slot, request, core_.progress(slot),
               request.prompt_tokens + request.emitted_tokens - 1, why, core_.now, trips_);
  send_writes(slot, why == 2);
}

/// The blocks that they read stay taken; a preempted request has none any more. Its writes are
/// flushed before the step begins that may need its blocks.
/// @source vLLM distributed/kv_transfer/kv_connector/v1/offloading/worker.py, handle_preemptions
void TiersPart::send_writes(std::int32_t slot, bool flushes) {
  if (trips_.empty()) return;
  for (const Tiers::Trip& trip : trips_) {
    core_.at(trip.from).pin(first_pin + trip.ticket, slot, tiers_.tokens_of_write(trip.ticket));
    if (flushes) tiers_.hold_steps(trip.ticket);
  }
  send_trips(Errand::store, -1);
}

/// What the plan at hand pushed out of the GPU is written, and its step waits for that.
/// @source SGLang srt/mem_cache/hiradix_cache.py (evict, writing_check)
void TiersPart::write_back(Replica& replica) {
  if (replica.tiers() == nullptr) return;
  const LostRuns lost = replica.take_lost();
  if (lost.empty()) return;
  trips_.clear();
  for (const LostRun& run : lost)
    tiers_.store_evicted(replica.view().index, run, core_.now, trips_);
  for (const Tiers::Trip& trip : trips_) tiers_.hold_steps(trip.ticket);
  send_trips(Errand::store, -1);
}

void TiersPart::end_write(std::int32_t ticket) {
  const std::int32_t from = tiers_.replica_of_write(ticket);
  core_.at(from).unpin(first_pin + ticket);
  tiers_.end_write(ticket, core_.now);
  core_.touch(from);
}

}  // namespace rooflua
