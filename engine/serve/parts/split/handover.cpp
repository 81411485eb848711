// Prompts that one replica computes and another one decodes, as vLLM's connectors do it.
// @source SERVING A3, A1.2, A1.3
//
//   prefilled   the prompt is computed; its blocks stay at the prefill replica (kept_blocks), and
//               the request queues at the decode replica
//   pulled      the decode replica's scheduler admits it: blocks for all of its prompt are taken
//               there, and the KV that is not cached there is on its way; without room the request
//               stays in the queue, and the prefill replica's blocks stay taken
//   arrived     the prefill replica's blocks are free; those of the decode replica carry content,
//               and the request waits for a seat in front of all that hold no blocks
//
// Where KV sets off before its prompt is computed (pushing.cpp), blocks at the decode replica are
// reserved by then: such a prompt is not queued there before its KV has arrived.

#include <algorithm>
#include <utility>

#include "serve/parts/split/split.h"

namespace rooflua {

/// The prompt is computed: it queues at a decode replica; the token is discarded, and the router
/// does not see it either.
void SplitPart::hand_over(std::int32_t slot, std::int32_t from) {
  core_.requests[slot].emitted_tokens = 0;
  HandOver& hand_over = core_.hand_over_of(slot);
  if (hand_over.to < 0 && core_.candidates_for(Stage::decode).empty())
    return end_without_decoder(slot, from);
  if (hand_over.to < 0) promise(slot, loop_.choose(slot, Stage::decode));
  Progress& progress = core_.progress(slot);
  progress.prefill_replica = from;
  progress.kept_blocks =
      std::exchange(progress.held_blocks, 0) + core_.at(from).config().seat_blocks;
  progress.remote_tokens = core_.requests[slot].prompt_tokens - 1;
  hand_over.computed = core_.now;
  hand_over.kept_blocks = progress.kept_blocks;
  if (hand_over.reserved_blocks > 0) {
    core_.at(hand_over.to).adopt(slot, std::exchange(hand_over.reserved_blocks, 0));
    core_.limit_output(slot, core_.at(hand_over.to).config());
    core_.tell(&Observer::on_computed, core_.requests[slot], core_.now);
    send_kv(slot, core_.requests[slot].prompt_tokens);
    if (progress.flows == 0) arrive(slot);
    return;
  }
  const std::int32_t id = core_.requests[slot].id;
  loop_.join(slot, hand_over.to);
  const double lease_s = core_.config.disaggregation.lease_s;
  if (lease_s <= 0 || !core_.is_live(slot) || core_.requests[slot].id != id) return;
  leases_.push_back({after(core_.now, lease_s, "disaggregation.lease_s"), slot, id});
  loop_.due_changed();
}

/// No decode replica is there any more: the prompt was computed in vain.
void SplitPart::end_without_decoder(std::int32_t slot, std::int32_t from) {
  Progress& progress = core_.progress(slot);
  progress.prefill_replica = from;
  progress.kept_blocks =
      std::exchange(progress.held_blocks, 0) + core_.at(from).config().seat_blocks;
  core_.hand_over_of(slot).computed = core_.now;
  core_.requests[slot].replica = -1;
  loop_.finish(slot, Outcome::replica_lost);
}

/// It has blocks at the decode replica: its KV sets off, but for what is cached there.
void SplitPart::pull(const StepPlan::Pulled& pulled) {
  const std::int32_t slot = pulled.slot;
  HandOver& hand_over = core_.hand_over_of(slot);
  hand_over.room = core_.now;
  hand_over.cached_tokens = std::min(pulled.cached_tokens, core_.requests[slot].prompt_tokens - 1);
  hand_over.sent_tokens = hand_over.cached_tokens;
  if (core_.kv_links) {  // its arrival is not known yet
    core_.tell(&Observer::on_computed, core_.requests[slot], core_.now);
  }
  send_kv(slot, core_.requests[slot].prompt_tokens);
  core_.tell_blocks(core_.requests[slot].replica);
}

/// KV of the first `tokens` of a prompt sets off, as far as it has not yet. What layers keep at
/// most, and states of recurrent layers, go with the last token.
/// @param not_before  the step that computes it ends then
void SplitPart::send_kv(std::int32_t slot, std::int32_t tokens, Picoseconds not_before) {
  const Request& request = core_.requests[slot];
  HandOver& hand_over = core_.hand_over_of(slot);
  const KvTransfer& transfer = core_.config.transfer;
  if (tokens <= hand_over.sent_tokens) return;
  const bool is_last = tokens == request.prompt_tokens;
  const double sent = transfer.bytes_per_token * hand_over.sent_tokens;
  const double bytes =
      is_last ? transfer.bytes(tokens) - sent : transfer.bytes_per_token * tokens - sent;
  const bool is_first = hand_over.sent_tokens == hand_over.cached_tokens;
  hand_over.sent_tokens = tokens;
  if (bytes <= 0 && !(is_first && is_last)) return;
  hand_over.sent_bytes += bytes;
  ++core_.progress(slot).flows;
  const std::int32_t from =
      hand_over.computed == never ? request.replica : core_.progress(slot).prefill_replica;
  if (core_.kv_links) {
    KvLinks::Sent what{slot, from, hand_over.to, bytes, transfer.alpha_s, transfer.bytes_per_s};
    if (not_before > core_.now) {
      const double pace = bytes / seconds(not_before - core_.now);
      what.bytes_per_s = transfer.bytes_per_s > 0 ? std::min(transfer.bytes_per_s, pace) : pace;
    }
    core_.kv_links->send(what, core_.now);
    return core_.expect_flows();
  }
  const double moving_s = std::max(bytes / transfer.bytes_per_s, seconds(not_before - core_.now));
  const Picoseconds end = after(core_.now, transfer.alpha_s + moving_s,
                                "network (alpha_s + bytes_per_token * tokens / bytes_per_s)");
  core_.post({.time = end, .kind = Delivery::Kind::transfer, .slot = slot, .to = hand_over.to});
  for (Observer* observer : core_.bindings.observers)
    observer->on_transfer({.id = request.id,
                           .from = from,
                           .to = hand_over.to,
                           .start = core_.now,
                           .end = end,
                           .bytes = bytes,
                           .is_pushed = hand_over.pushed});
}

/// Its KV is no longer needed where it was computed.
void SplitPart::let_go(std::int32_t slot) {
  const std::int32_t from = core_.progress(slot).prefill_replica;
  core_.hand_over_of(slot).arrived = core_.now;
  core_.at(from).release_kept(slot);
  loop_.leave_replica(slot, from);
  core_.touch(from);
  core_.tell_blocks(from);
}

/// A part of its KV is there.
void SplitPart::end_flow(std::int32_t slot) {
  if (--core_.progress(slot).flows > 0) return;
  if (core_.progress(slot).kept_blocks > 0) return arrive(slot);
  if (core_.has_left(slot)) return end_left(slot);
  core_.touch(core_.requests[slot].replica);  // where it may be preempted again
}

/// All of its KV is there.
void SplitPart::arrive(std::int32_t slot) {
  const std::int32_t to = core_.requests[slot].replica;
  let_go(slot);
  core_.touch(to);
  if (core_.has_left(slot)) return loop_.refuse_kv(slot);
  if (core_.hand_over_of(slot).pushed) {
    core_.tell(&Observer::on_kv, core_.requests[slot], core_.now);
  }
  core_.at(to).receive(slot, core_.scheduler(to));
}

}  // namespace rooflua
