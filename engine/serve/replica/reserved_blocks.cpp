// Blocks that are taken before their request comes, because its KV does, and blocks that stay when
// their request has gone, because its KV is read.

#include <utility>

#include "serve/replica/replica_state.h"

namespace rooflua {

void ReplicaState::refuse_kv(std::int32_t slot) {
  cancel(slot, std::exchange(board_.progress(slot).held_blocks, 0));
}

std::int32_t ReplicaState::reserve(std::int32_t slot) {
  const std::int32_t last = view().waiting_tail;
  if (last >= 0 && board_.progress(last).held_blocks == 0) return 0;
  // The step of its last chunk may be planned where it is computed: here it has no token yet.
  Request r = request(slot);
  r.emitted_tokens = 0;
  const KvCache::Hit hit = kv_.lookup(slot, r, board_.progress(slot));
  const std::int32_t whole = blocks_for(r.prompt_tokens, config_.block_size);
  const std::int64_t need =
      std::int64_t{whole} - hit.blocks + hit.free + config_.seat_blocks + seats_.missing_blocks();
  if (need > kv_.free_blocks()) return 0;
  take_first_blocks(slot, hit, whole);
  sync_blocks();
  return whole;
}

void ReplicaState::adopt(std::int32_t slot, std::int32_t blocks) {
  Request& request = board_.request(slot);
  Progress& progress = board_.progress(slot);
  request.replica = view().index;
  request.context_tokens = request.cached_tokens = 0;
  request.phase = Phase::pending;
  progress.held_blocks = blocks;
  progress.planned = progress.preempted = progress.admitted = -1;  // serials are per replica
  if (ragged_) ragged_->open(slot);
}

void ReplicaState::cancel(std::int32_t slot, std::int32_t blocks) {
  kv_.release(slot, request(slot), board_.progress(slot), blocks + config_.seat_blocks,
              kv_.remembered(slot), false);
  sync_blocks();
  changed_ = true;
}

void ReplicaState::lose_remote(std::int32_t slot) {
  board_.progress(slot).remote_tokens = 0;
  changed_ = true;
}

void ReplicaState::leave_with_blocks(std::int32_t slot, std::int32_t unknown_tokens) {
  leave_seat(slot);
  board_.request(slot).context_tokens -= unknown_tokens;
  board_.request(slot).phase = Phase::pending;
  changed_ = true;
}

void ReplicaState::release_left(std::int32_t slot) {
  release_blocks(slot, 0, false);
  changed_ = true;
}

void ReplicaState::release_kept(std::int32_t slot) {
  Progress& progress = board_.progress(slot);
  const std::int32_t kept = std::exchange(progress.kept_blocks, 0);
  const std::int32_t tokens = request(slot).prompt_tokens, size = config_.block_size;
  kv_.release(slot, request(slot), progress, kept, tokens / size, false, tokens % size);
  sync_blocks();
  changed_ = true;
}

}  // namespace rooflua
