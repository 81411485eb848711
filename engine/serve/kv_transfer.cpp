// The part of replica.h and simulation.h about prompts that one replica computes and another one
// decodes, as vLLM's connectors do it.   @source SERVING A3, A1.2, A1.3
//
//   prefilled   its prompt is computed; its blocks stay at the prefill replica (kept_blocks),
//               and it queues at the decode replica
//   pulled      the decode replica's scheduler admits it: blocks for all of its prompt are
//               taken there, and the KV is on its way; without room it stays in the queue,
//               and the prefill replica's blocks stay taken
//   arrived     the prefill replica's blocks are free; those of the decode replica carry
//               content, and it waits for a seat before all who hold no blocks

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "serve/simulation.h"

namespace rooflua {

// --- a replica's blocks

bool Replica::holds_blocks(std::int32_t slot) const {
  return requests_->progress(slot).held_blocks > 0;
}

/// Out of the queue for good, with the blocks that its KV was sent to.
void Replica::quit_waiting(std::int32_t slot) {
  leave_waiting(slot);
  if (!holds_blocks(slot)) return;
  (*requests_)[slot].context_tokens = requests_->progress(slot).remote_tokens;
  release_blocks(slot, 0, false);
  (*requests_)[slot].context_tokens = 0;
}

/// Blocks that seated prompts still need: a prompt whose KV is to come must leave them free.
std::int32_t Replica::reserved_blocks() const noexcept {
  std::int32_t blocks = 0;
  for (std::int32_t slot = view_.prefilling_head; slot >= 0; slot = request(slot).next_prefilling) {
    const Request& r = request(slot);
    const std::int32_t whole = blocks_for(r.prompt_tokens + r.emitted_tokens, config_.block_size);
    blocks += std::max(0, whole - requests_->progress(slot).held_blocks);
  }
  return blocks;
}

std::int32_t Replica::missing_blocks(std::int32_t slot) const noexcept {
  const Request& r = request(slot);
  const Progress& progress = requests_->progress(slot);
  const std::int32_t whole = blocks_for(r.prompt_tokens + r.emitted_tokens, config_.block_size);
  if (progress.held_blocks > 0) return std::max(0, whole - progress.held_blocks);
  const std::int32_t reserved = progress.kept_blocks > 0 ? reserved_blocks() : 0;
  return whole - kv_.lookup(slot, r, progress).blocks + reserved;
}

/// It leaves the queue with blocks, of which `hit` are cached here, and waits for its KV.
void Replica::park(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks) {
  leave_waiting(slot);
  kv_.seat(slot, hit, blocks - hit.blocks);
  requests_->progress(slot).held_blocks = blocks;
  (*requests_)[slot].phase = Phase::pending;
  sync_blocks();
}

void Replica::receive(std::int32_t slot, SchedulerPolicy& policy) {
  const Progress& progress = requests_->progress(slot);
  kv_.remember(slot, request(slot), progress, progress.remote_tokens / config_.block_size);
  give_key(slot, policy);
  insert_waiting(slot, false);
  changed_ = true;
}

void Replica::release_kept(std::int32_t slot) {
  Progress& progress = requests_->progress(slot);
  const std::int32_t kept = std::exchange(progress.kept_blocks, 0);
  const std::int32_t full = request(slot).prompt_tokens / config_.block_size;
  kv_.release(slot, request(slot), progress, kept, full, false);
  sync_blocks();
  changed_ = true;
}

// --- from one to the other

/// The prompt is computed: it queues at a decode replica; the token is discarded, and the router
/// does not see it either.
void Simulation::hand_over(std::int32_t slot, std::int32_t from) {
  requests_[slot].emitted_tokens = 0;
  const std::int32_t to = choose(slot, 1);
  Progress& progress = requests_.progress(slot);
  progress.prefill_replica = from;
  progress.kept_blocks = std::exchange(progress.held_blocks, 0);
  progress.remote_tokens = requests_[slot].prompt_tokens - 1;
  queue(slot, to);
}

/// It has blocks at the decode replica: its KV sets off.
void Simulation::pull(std::int32_t slot) {
  const Request& request = requests_[slot];
  const std::int32_t from = requests_.progress(slot).prefill_replica;
  const KvTransfer& transfer = config_.transfer;
  const double bytes = transfer.bytes_per_token * request.prompt_tokens;
  const Picoseconds end = after(now_, transfer.alpha_s + bytes / transfer.bytes_per_s,
                                "network (alpha_s + tokens * bytes_per_token / bytes_per_s)");
  post({end, 0, 0, slot, from, request.replica});
  for (Observer* observer : bindings_.observers)
    observer->on_transfer({request.id, from, request.replica, now_, end, bytes});
  tell_blocks(request.replica);
}

/// Its KV is no longer needed where it was computed.
void Simulation::let_go(std::int32_t slot) {
  const std::int32_t from = requests_.progress(slot).prefill_replica;
  at(from).release_kept(slot);
  --outstanding_[static_cast<std::size_t>(from)];
  touch(from);
  tell_blocks(from);
}

void Simulation::tell_blocks(std::int32_t index) {
  const KvCache& kv = replica(index).kv();
  for (Observer* observer : bindings_.observers)
    observer->on_blocks({index, now_, kv.used_blocks(), kv.total_blocks()});
}

void Simulation::arrive(const Delivery& delivery) {
  let_go(delivery.slot);
  at(delivery.to)
      .receive(delivery.slot, *bindings_.schedulers[static_cast<std::size_t>(delivery.to)]);
  touch(delivery.to);
}

}  // namespace rooflua
