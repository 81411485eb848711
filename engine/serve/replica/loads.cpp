// Requests of which stores have KV: their admission, and what the replica keeps for loads and
// writes.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/replica/replica_state.h"
#include "serve/replica/step_plan.h"
#include "serve/stores/tiers.h"

namespace rooflua {

namespace {

/// Blocks that requests which wait with loaded KV still need for their sequences. All of them keep
/// what they hold: with less than this none might ever get a seat.
std::int64_t promised_blocks(ReplicaState& on) {
  const ReplicaView& view = on.view();
  std::int64_t sum = 0;
  for (std::int32_t slot = 0; slot < view.slots; ++slot) {
    const Request& request = on.request(slot);
    if (request.replica != view.index) continue;
    if (request.phase != Phase::waiting && request.phase != Phase::pending) continue;
    const std::int32_t held = on.progress(slot).held_blocks;
    if (held == 0) continue;
    sum += std::max(
        0, blocks_for(request.prompt_tokens + request.emitted_tokens, view.block_size) - held);
  }
  return sum;
}

}  // namespace

TierPolicy* StepPlan::tier_policy() const {
  return on_->tiers()->policy(on_->view().index);
}

const rooflua_tier_found* StepPlan::found() const noexcept {
  return on_->tiers() == nullptr ? nullptr : &on_->tiers()->found();
}

void StepPlan::answer_load(std::int32_t tokens, double patience_s) noexcept {
  on_->tiers()->answer(on_->tiers()->found().slot, {tokens, patience_s});
}

/// What stores bring of a waiting request. @returns loads_nothing where its admission goes on, with
/// `loaded` tokens that come while it runs; else the status of the admission
std::int32_t StepPlan::load(std::int32_t slot, const Admission& wish, KvCache::Hit hit,
                            std::int32_t& loaded) noexcept {
  const std::int32_t cached = hit.blocks * on_->view().block_size;
  Tiers& tiers = *on_->tiers();
  const Tiers::Decision decision = tiers.decide(slot, on_->request(slot), on_->progress(slot),
                                                cached, on_->view().waiting - 1, now_);
  switch (decision.verdict) {
    case Tiers::Verdict::nothing:
      return loads_nothing;
    case Tiers::Verdict::ask:
      return asks_load;
    case Tiers::Verdict::later:
      on_->defer(slot);
      return 1;
    case Tiers::Verdict::load:
      break;
  }
  if (tiers.config().overlap == LoadOverlap::none)
    return park_for_load(slot, wish, hit, decision.tokens);
  loaded = decision.tokens;
  return loads_nothing;
}

/// Blocks for what is cached and what comes; the request leaves the queue until it has come. Beside
/// others that wait like this there must be room for all their sequences.
std::int32_t StepPlan::park_for_load(std::int32_t slot, const Admission& wish, KvCache::Hit hit,
                                     std::int32_t tokens) noexcept {
  if (!on_->seats().any_free()) return 0;
  const std::int32_t block_size = on_->view().block_size;
  const std::int32_t cached = hit.blocks * block_size;
  const std::int32_t blocks = blocks_for(cached + tokens, block_size);
  const std::int32_t whole = std::max(blocks, blocks_for(wish.fit_tokens, block_size));
  const std::int64_t need = std::int64_t{whole} - hit.blocks + hit.free +
                            std::max(0, wish.spare_blocks) + on_->config().seat_blocks +
                            on_->seats().missing_blocks();
  if (need > on_->kv().free_blocks()) return 0;
  const Request& request = on_->request(slot);
  const std::int64_t sequence =
      blocks_for(request.prompt_tokens + request.emitted_tokens, block_size);
  const std::int64_t promised = promised_blocks(*on_);
  const std::int64_t own = sequence - hit.blocks + hit.free + on_->config().seat_blocks;
  if (promised > 0 && promised + own > on_->kv().free_blocks()) return 0;
  Progress& progress = on_->progress(slot);
  progress.remote_tokens =
      cached + on_->tiers()->begin_load(slot, request, progress, cached, tokens);
  on_->park(slot, hit, blocks);
  loading_.push_back(slot);
  return 1;
}

// --- what the replica keeps

/// The plan at hand computes nothing of a request that it preempts. Blocks that writes of the
/// request read are given away with its own ones, where its policy flushes them.
void ReplicaState::give_up_writes(std::int32_t slot) {
  std::erase_if(filled_, [slot](const Filled& each) { return each.slot == slot; });
  if (!tiers_->policy(view().index)->flushes()) return;
  for (const std::int32_t ticket : tiers_->flush(request(slot))) kv_.unpin(first_pin + ticket);
  sync_blocks();
}

bool ReplicaState::stores_answers() const {
  return tiers_ != nullptr && tiers_->policy(view().index)->as_filled();
}

/// A planned step computes the last of so many tokens: where that fills a chunk, stores get it when
/// the step is over.
void ReplicaState::fill_chunk(std::int32_t slot, std::int32_t tokens) {
  if (stores_answers() && tiers_->fills_chunk(slot, request(slot), tokens))
    filled_.push_back({slot, request(slot).id, tokens});
}

void ReplicaState::use_tiers(Tiers* tiers) {
  tiers_ = tiers;
  kv_.keep_private();
  kv_.tell_lost(tiers->policy(view().index)->writes_back());
}

void ReplicaState::defer(std::int32_t slot) {
  queue_.leave(slot);
  board_.request(slot).phase = Phase::pending;
  deferred_.push_back(slot);
}

/// To the front, the first that came in front of the others.
void ReplicaState::ask_again() {
  std::vector<std::int32_t> slots = std::exchange(deferred_, {});
  std::sort(slots.begin(), slots.end(),
            [this](std::int32_t a, std::int32_t b) { return request(a).id > request(b).id; });
  for (const std::int32_t slot : slots) queue_.rejoin(slot);
  changed_ = true;
}

void ReplicaState::pin(std::int32_t name, std::int32_t slot, std::int32_t tokens) {
  kv_.pin(name, request(slot), board_.progress(slot), tokens / config_.block_size);
  sync_blocks();
}

void ReplicaState::unpin(std::int32_t name) {
  kv_.unpin(name);
  sync_blocks();
  changed_ = true;
}

}  // namespace rooflua
