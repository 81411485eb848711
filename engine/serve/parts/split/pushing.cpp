// KV that sets off before its prompt is computed (Push::chunks, Push::layers).
//
//   reserved   the router chooses the decode replica, if it has not yet, and blocks for the whole
//              prompt are taken there, in front of its scheduler. Without room, or while others
//              wait for some, nothing sets off: it is tried again with the next chunk. A prompt
//              that is computed by then queues at the decode replica (handover.cpp)
//   sent       the KV that is computed sets off: with chunks at the end of each step, with layers
//              at its start. Then it takes at least as long as the step, because the last layer's
//              KV is computed at its end
//
// A request whose KV is being read is not preempted. One that is preempted gives the reserved
// blocks back, so that others can end: all of its KV is sent again.

#include <algorithm>

#include "serve/parts/split/split.h"

namespace rooflua {

/// Blocks for all of a prompt at its decode replica, if they are to be had.
bool SplitPart::reserve(std::int32_t slot) {
  HandOver& hand_over = core_.hand_over_of(slot);
  if (hand_over.reserved_blocks > 0) return true;
  if (hand_over.to < 0 && core_.candidates_for(Stage::decode).empty()) return false;
  if (hand_over.to < 0) promise(slot, loop_.choose(slot, Stage::decode));
  Replica& replica = core_.at(hand_over.to);
  const std::int32_t prompt_tokens = core_.requests[slot].prompt_tokens;
  if (!replica.could_hold(prompt_tokens)) return false;
  const std::optional<std::int32_t> most = replica.config().max_model_len;
  if (most && *most <= prompt_tokens) return false;
  hand_over.reserved_blocks = replica.reserve(slot);
  if (hand_over.reserved_blocks == 0) return false;
  hand_over.room = core_.now;
  hand_over.pushed = true;
  core_.signals.changed(hand_over.to);
  core_.tell_blocks(hand_over.to);
  return true;
}

/// Reserved blocks are free, where there are some. @pre none of its KV is on its way
void SplitPart::cancel_reserved(std::int32_t slot) {
  HandOver& hand_over = core_.hand_over_of(slot);
  if (hand_over.reserved_blocks == 0) return;
  core_.at(hand_over.to).cancel(slot, hand_over.reserved_blocks);
  core_.at(hand_over.to).forget(slot);
  hand_over.reserved_blocks = hand_over.sent_tokens = 0;
  hand_over.room = never;
  hand_over.pushed = false;
  core_.tell_blocks(hand_over.to);
  core_.plan_again(hand_over.to);
}

/// A step of a prefill replica has ended: what it computed of prompts that go on is sent.
void SplitPart::push_computed(std::span<const PrefillWork> prefills) {
  for (const PrefillWork& work : prefills) {
    const bool is_over = core_.requests[work.slot].id != work.id || !core_.is_live(work.slot);
    if (work.completes != 0 || is_over || !seated(core_.requests[work.slot].phase)) continue;
    if (reserve(work.slot)) send_kv(work.slot, work.context_tokens + work.new_tokens);
  }
}

/// A step of a prefill replica begins: what it computes is sent, layer by layer, and first what was
/// computed before.
void SplitPart::push_layers(const Replica& replica) {
  const Step& step = replica.pipeline().front();
  for (const PrefillWork& work : step.prefills) {
    const bool is_over = core_.requests[work.slot].id != work.id || !core_.is_live(work.slot);
    if (is_over || !seated(core_.requests[work.slot].phase) || !reserve(work.slot)) continue;
    send_kv(work.slot, work.context_tokens);
    send_kv(work.slot, work.context_tokens + work.new_tokens, step.end);
  }
}

/// The KV of a request that was aborted while its prompt was computed is there, and its blocks are
/// free. One that still has a seat is freed when the step lands.
void SplitPart::end_left(std::int32_t slot) {
  if (core_.left_of(slot)->replica >= 0) return;
  std::erase_if(core_.left, [slot](const Left& each) { return each.slot == slot; });
  const std::int32_t index = core_.requests[slot].replica;
  core_.at(index).release_left(slot);
  core_.tell_blocks(index);
  loop_.free_slot(slot);
  core_.plan_again(index);
}

}  // namespace rooflua
