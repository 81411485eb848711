#include "serve/replica/replica_state.h"

#include <algorithm>
#include <utility>

namespace rooflua {

namespace {

CacheHits hits_of(PrefixIndex prefixes) {
  switch (prefixes) {
    case PrefixIndex::none:
      return CacheHits::none;
    case PrefixIndex::own:
      return CacheHits::of_preempted;
    case PrefixIndex::shared:
      break;
  }
  return CacheHits::of_any;
}

/// The numbers of an empty replica.
Board empty_board(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
                  Requests& requests) {
  Board board;
  board.requests = &requests;
  ReplicaView& view = board.view;
  view.index = index;
  view.total_blocks = view.free_blocks = config.kv_blocks;
  view.seat_blocks = config.seat_blocks;
  view.block_size = config.block_size;
  view.max_num_seqs = config.max_num_seqs;
  view.max_num_batched_tokens = config.max_num_batched_tokens;
  view.max_model_len = config.max_model_len.value_or(0);
  view.async_depth = config.async_depth;
  // A decode replica gets KV from elsewhere, which counts as cached.
  view.hits = config.role == Role::decode ? CacheHits::of_any : hits_of(prefixes);
  return board;
}

/// No context outgrows the KV cache.
BoundedContexts bounded_contexts(const ReplicaConfig& config) {
  ContextBounds bounds;
  std::copy(config.context_caps.begin(), config.context_caps.end(), bounds.caps);
  bounds.chunk = config.context_chunk;
  return BoundedContexts(bounds, std::int64_t{config.kv_blocks} * config.block_size);
}

}  // namespace

ReplicaState::ReplicaState(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
                           Requests& requests)
    : VisibleReplica(empty_board(index, config, prefixes, requests)),
      config_(config),
      kv_(config.kv_blocks, config.block_size, prefixes,
          config.drops_last_hit && config.role != Role::prefill, config.partial_reuse),
      queue_(board_),
      seats_(board_),
      pool_(board_, bounded_contexts(config)),
      pipeline_(config.async_depth) {
  if (config.keeps_states) kv_.keep_states(config.state_blocks);
  if (config.adapters.slots > 0) adapters_.emplace(config.adapters);
  if (config.stages.several()) flight_.emplace(config.stages);
  if (config.ragged && config.role != Role::prefill) ragged_.emplace(board_, config);
}

void ReplicaState::rebind(Requests& requests) {
  board_.requests = &requests;
  board_.view.requests = requests.data();
  queue_.rebind(board_);
  seats_.rebind(board_);
  pool_.rebind(board_);
  if (ragged_) ragged_->rebind(board_);
}

// --- what can be asked

std::int32_t ReplicaState::cached_tokens(std::int32_t slot) const noexcept {
  const Progress& progress = board_.progress(slot);
  if (request(slot).replica != view().index)
    return kv_.peek(request(slot), progress).blocks * config_.block_size;
  const KvCache::Hit hit = kv_.lookup(slot, request(slot), progress);
  return std::max(hit.tokens(config_.block_size), remote_tokens(slot));
}

std::int32_t ReplicaState::growing_tokens(std::int32_t slot) const noexcept {
  const KvCache::Hit hit = kv_.lookup(slot, request(slot), board_.progress(slot));
  return std::max(hit.growing, hit.blocks) * config_.block_size;
}

std::int32_t ReplicaState::shared_tokens(std::int32_t slot, std::int32_t other) const noexcept {
  return rooflua::shared_tokens(board_.progress(slot), board_.progress(other));
}

ReplicaSignals ReplicaState::signals(bool landing) const {
  ReplicaSignals signals;
  signals.waiting_tokens = queued_tokens();
  signals.context_tokens = view().decode_context_tokens;
  signals.kv_used_frac = static_cast<double>(kv_.used_blocks()) / kv_.total_blocks();
  signals.waiting = queued();
  signals.running = view().seats;
  signals.decodes = view().decodes;
  signals.prefilling = view().prefilling;
  if (landing) signals.landing_prompts = pipeline_.landing_prompts(*board_.requests);
  signals.free_blocks = kv_.free_blocks();
  signals.total_blocks = kv_.total_blocks();
  signals.role = config_.role;
  if (flight_) {
    signals.decodes += view().in_flight;
    signals.context_tokens += flight_->context_tokens;
  }
  return signals;
}

std::int32_t ReplicaState::missing_blocks(std::int32_t slot) const noexcept {
  const Request& r = request(slot);
  const Progress& progress = board_.progress(slot);
  const std::int32_t whole = blocks_for(r.prompt_tokens + r.emitted_tokens, config_.block_size);
  if (progress.held_blocks > 0) return std::max(0, whole - progress.held_blocks);
  const std::int32_t reserved = progress.kept_blocks > 0 ? seats_.missing_blocks() : 0;
  return whole - kv_.lookup(slot, r, progress).blocks + config_.seat_blocks + reserved;
}

// --- the queue

void ReplicaState::enqueue(std::int32_t slot, Picoseconds now, SchedulerPolicy& policy) {
  Request& request = board_.request(slot);
  Progress& progress = board_.progress(slot);
  request.replica = view().index;
  request.context_tokens = request.cached_tokens = 0;
  progress.held_blocks = 0;
  progress.planned = progress.preempted = progress.admitted = -1;  // serials are per replica
  if (progress.queued == never) progress.queued = now;
  if (ragged_) ragged_->open(slot);
  join_queue(slot, policy);
  changed_ = true;
}

void ReplicaState::receive(std::int32_t slot, SchedulerPolicy& policy) {
  const Progress& progress = board_.progress(slot);
  kv_.remember(slot, request(slot), progress, remote_tokens(slot) / config_.block_size);
  if (ragged_) ragged_->know(slot, remote_tokens(slot));
  join_queue(slot, policy);
  changed_ = true;
}

/// A key may depend on what the replica has cached of the request.
void ReplicaState::join_queue(std::int32_t slot, SchedulerPolicy& policy) {
  Request& request = board_.request(slot);
  if (policy.has_key()) request.cached_tokens = cached_tokens(slot);
  queue_.join(slot, policy);
  request.cached_tokens = 0;  // until it has a seat
}

void ReplicaState::rekey(SchedulerPolicy& policy) {
  for (std::int32_t slot = view().waiting_head; slot >= 0; slot = request(slot).next)
    board_.request(slot).cached_tokens = policy.has_key() ? cached_tokens(slot) : 0;
  queue_.rekey(policy);
  for (std::int32_t slot = view().waiting_head; slot >= 0; slot = request(slot).next)
    board_.request(slot).cached_tokens = 0;
  changed_ = true;
}

/// Out of the queue for good, with the blocks that its KV was sent to.
void ReplicaState::leave_queue(std::int32_t slot) {
  queue_.leave(slot);
  if (board_.progress(slot).held_blocks == 0) return;
  board_.request(slot).context_tokens = remote_tokens(slot);
  release_blocks(slot, 0, false);
  board_.request(slot).context_tokens = 0;
}

void ReplicaState::evict(std::int32_t slot, std::int32_t unknown_tokens) {
  if (request(slot).phase == Phase::waiting) {
    leave_queue(slot);
  } else {
    leave_seat(slot);
    board_.request(slot).context_tokens -= unknown_tokens;
    release_blocks(slot, 0, false);
  }
  board_.request(slot).phase = Phase::pending;
  changed_ = true;
}

// --- seats and blocks

void ReplicaState::take_seat(std::int32_t slot, KvCache::Hit hit, std::int32_t ready_tokens,
                             std::int32_t blocks, std::int32_t planned_tokens, Picoseconds now) {
  Request& request = board_.request(slot);
  Progress& progress = board_.progress(slot);
  queue_.leave(slot);
  if (progress.held_blocks > 0) {
    kv_.grow(slot, blocks - progress.held_blocks);
  } else {
    take_first_blocks(slot, hit, blocks);
  }
  progress.held_blocks = blocks;
  progress.remote_tokens = 0;
  if (progress.scheduled == never) {
    progress.scheduled = now;
    progress.first_hit_tokens = ready_tokens;
  }
  request.cached_tokens = ready_tokens;
  request.context_tokens = ready_tokens;
  seats_.take(slot);
  if (adapters_) adapters_->seat(progress.adapter, now);
  progress.chunks_end = progress.landed_end = ready_tokens;  // those of a prefill replica are over
  plan_content(slot, planned_tokens);
  sync_blocks();
}

void ReplicaState::take_first_blocks(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks) {
  kv_.seat(slot, request(slot), board_.progress(slot), hit, blocks - hit.blocks);
  kv_.take(config_.seat_blocks);
}

void ReplicaState::park(std::int32_t slot, KvCache::Hit hit, std::int32_t blocks) {
  queue_.leave(slot);
  take_first_blocks(slot, hit, blocks);
  board_.progress(slot).held_blocks = blocks;
  board_.request(slot).phase = Phase::pending;
  sync_blocks();
}

void ReplicaState::lose_seat(std::int32_t slot, std::int32_t granted_blocks, std::int64_t serial) {
  Request& request = board_.request(slot);
  const bool finishing = request.phase == Phase::finishing;
  leave_seat(slot);
  const bool fits = could_hold(std::int64_t{request.prompt_tokens} + request.emitted_tokens);
  release_blocks(slot, granted_blocks, !finishing && fits);
  if (tiers_ != nullptr) give_up_writes(slot);
  board_.progress(slot).preempted = serial;
  request.context_tokens = request.cached_tokens = 0;
  request.draft_tokens = 0;
  request.phase = Phase::pending;
  ++request.preemptions;
  if (finishing) return;
  if (fits) {
    queue_.rejoin(slot);
  } else {
    fail(slot, Outcome::exceeds_kv_cache);
  }
}

/// Out of the lists and the decode pool; blocks stay.
void ReplicaState::leave_seat(std::int32_t slot) {
  if (request(slot).phase != Phase::finishing) leave_adapter(slot);
  if (request(slot).phase == Phase::decoding) {
    if (ragged_) {
      ragged_->leave(slot);
    } else {
      leave_common_pace(slot);
      pool_.leave(slot);
      board_.progress(slot).finish_at = 0;  // no step to come decodes it at the common pace
    }
  } else if (request(slot).phase == Phase::in_flight) {
    not_in_flight(slot);
  }
  seats_.leave(slot);
}

void ReplicaState::not_in_flight(std::int32_t slot) {
  --board_.view.in_flight;
  flight_->context_tokens -= request(slot).context_tokens;
}

/// A decoding request is about to get, or gave up, another gap than the others.
void ReplicaState::leave_common_pace(std::int32_t slot) {
  if (pool_.at_common_pace(slot)) pipeline_.leave_common_pace(slot, board_.progress(slot));
}

bool ReplicaState::grant_prefill(std::int32_t slot, std::int32_t tokens) {
  Progress& progress = board_.progress(slot);
  const std::int32_t whole = ragged_ ? ragged_->with_lookahead(tokens) : tokens;
  const std::int32_t more =
      std::max(0, blocks_for(whole, config_.block_size) - progress.held_blocks);
  if (more > kv_.free_blocks()) return false;
  kv_.grow(slot, more);
  progress.held_blocks += more;
  plan_content(slot, tokens);
  sync_blocks();
  return true;
}

void ReplicaState::grant_all_decodes(std::int32_t blocks, std::int64_t serial) {
  kv_.take(blocks);
  sync_blocks();
  if (!pool_.any_filling()) return;
  for (const std::int32_t slot : pool_.filling()) {
    if (board_.progress(slot).planned != serial) fill_block(slot);
  }
}

void ReplicaState::grant_decode(std::int32_t slot) {
  if (const std::int32_t blocks = pool_.blocks_needed(slot); blocks > 0) {
    kv_.take(blocks);
    sync_blocks();
  }
  if (pool_.is_filling(slot)) fill_block(slot);
}

void ReplicaState::grant_row(std::int32_t slot, std::int32_t blocks) {
  if (blocks > 0) {
    kv_.take(blocks);
    sync_blocks();
    hold_more(slot, blocks);
  }
  know_row(slot);
}

void ReplicaState::hold_more(std::int32_t slot, std::int32_t blocks) {
  board_.progress(slot).held_blocks += blocks;
  ragged_->note_blocks(slot);
}

void ReplicaState::grant_rows(std::span<const RaggedPool::Taker> takers, std::int32_t blocks) {
  if (ragged_->any_shares()) {  // a block that is taken may be one that others would have hit
    for (const RaggedPool::Taker& each : takers) grant_row(each.slot, each.blocks);
    return;
  }
  kv_.take(blocks);
  sync_blocks();
  for (const RaggedPool::Taker& each : takers) hold_more(each.slot, each.blocks);
}

// --- requests that will not run to their end: each fails when no token of it is in flight

namespace {

bool lands(const Step& step, std::int32_t slot) {
  const auto completes = [slot](const PrefillWork& work) {
    return work.slot == slot && work.completes != 0;
  };
  return std::find(step.stamps.begin(), step.stamps.end(), slot) != step.stamps.end() ||
         std::any_of(step.prefills.begin(), step.prefills.end(), completes);
}

}  // namespace

void ReplicaState::fail(std::int32_t slot, Outcome outcome) {
  board_.request(slot).phase = Phase::pending;
  failing_.push_back({slot, outcome});
}

void ReplicaState::reject(std::int32_t slot) {
  leave_queue(slot);
  fail(slot, Outcome::rejected);
}

bool ReplicaState::awaits_token(std::int32_t slot) const noexcept {
  if (!flight_ || pipeline_.planned() == 0) return false;
  if (lands(pipeline_.front(), slot)) return true;
  return std::any_of(flight_->behind.begin(), flight_->behind.end(),
                     [slot](const Step& step) { return lands(step, slot); });
}

std::vector<ReplicaState::Failing> ReplicaState::take_failing() {
  std::vector<Failing> out;
  std::erase_if(failing_, [&](const Failing& each) {
    if (awaits_token(each.slot)) return false;
    out.push_back(each);
    return true;
  });
  return out;
}

}  // namespace rooflua
