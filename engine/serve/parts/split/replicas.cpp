// Which replicas a prompt has where prefill and decode are split: a decode replica is promised to
// it, from then on it counts there as outstanding; with SplitOrder::decode_first a decider says
// whether a prefill replica is used at all. And how long a prefill replica keeps a computed prompt.
// @source llm-d/llm-d-router pkg/epp/framework/plugins/scheduling/profilehandler/disagg (the decode
// replica is picked first); vLLM distributed/kv_transfer/kv_connector/v1/nixl (kv_lease_duration)

#include "serve/parts/split/split.h"

namespace rooflua {

void SplitPart::promise(std::int32_t slot, std::int32_t to) {
  core_.hand_over_of(slot).to = to;
  loop_.count_outstanding(slot, to);
}

/// A request that is not at its decode replica yet is outstanding there no longer.
void SplitPart::leave_promise(std::int32_t slot) {
  HandOver& hand_over = core_.hand_over_of(slot);
  if (hand_over.to < 0 || core_.requests[slot].replica == hand_over.to) return;
  loop_.leave_replica(slot, hand_over.to);
  if (hand_over.reserved_blocks > 0) return;  // until its KV is there
  core_.at(hand_over.to).forget(slot);
  hand_over.to = -1;
}

/// The decode replica is chosen first.
void SplitPart::route_to_decode(std::int32_t slot) {
  const std::int32_t to = loop_.choose(slot, Stage::decode);
  promise(slot, to);
  if (!wants_split(slot, to)) {
    loop_.computes_itself(slot, to);
    return loop_.join(slot, to);
  }
  const std::int32_t chosen = loop_.choose(slot, Stage::prompt);
  if (chosen == Router::refused) return loop_.finish(slot, Outcome::refused);
  loop_.queue(slot, chosen);
}

bool SplitPart::wants_split(std::int32_t slot, std::int32_t to) {
  if (core_.candidates_for(Stage::prompt).empty()) return false;
  if (core_.bindings.decider == nullptr) return true;
  PairView view;
  view.pool = core_.route_view(slot, core_.candidates_for(Stage::prompt), loop_);
  core_.show_signals(view.pool);
  view.decode = to;
  view.cached_tokens = loop_.cached_tokens(slot, to);
  view.source = this;
  return core_.bindings.decider->split(core_.requests[slot], view);
}

PairMember SplitPart::member(const PairView& view, std::int32_t place) const noexcept {
  const std::int32_t index = view.pool.candidates[place];
  const ReplicaView& replica = core_.at(index).view();
  PairMember out;
  out.queued_tokens = replica.waiting_tokens;
  for (std::int32_t slot = replica.prefilling_head; slot >= 0;
       slot = core_.requests[slot].next_prefilling)
    out.queued_tokens += pending_tokens(replica, core_.requests[slot]);
  out.budget_tokens = replica.max_num_batched_tokens;
  const KvTransfer& transfer = core_.config.transfer;
  const double bytes = transfer.bytes(core_.requests[view.pool.slot].prompt_tokens);
  out.transfer_s = core_.kv_links
                       ? core_.kv_links->expected_s({-1, index, view.decode, bytes,
                                                     transfer.alpha_s, transfer.bytes_per_s})
                       : transfer.alpha_s + bytes / transfer.bytes_per_s;
  return out;
}

// --- leases

/// When the next lease ends of a prompt that still waits for room.
Picoseconds SplitPart::next_lease() {
  while (!leases_.empty()) {
    const Lease& next = leases_.front();
    const Progress& progress = core_.progress(next.slot);
    const bool waits = core_.requests[next.slot].id == next.id && progress.kept_blocks > 0 &&
                       progress.held_blocks == 0;
    if (waits) return next.time;
    leases_.pop_front();
  }
  return never;
}

/// Prompts that were kept long enough are computed where they wait.
void SplitPart::end_leases() {
  while (next_lease() <= core_.now) {
    const std::int32_t slot = leases_.front().slot;
    leases_.pop_front();
    let_go(slot);
    const std::int32_t to = core_.requests[slot].replica;
    core_.at(to).lose_remote(slot);
    core_.touch(to);
  }
}

}  // namespace rooflua
