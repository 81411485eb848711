// What policies read of the naive simulator, written anew after every operation.

#include <algorithm>

#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

NaiveBoard::NaiveBoard(const VllmConfig& config, Requests& arena, NaiveReplica& naive)
    : VisibleReplica(Board{{}, &arena}), naive_(&naive) {
  ReplicaView& view = numbers();
  view.index = 0;
  view.total_blocks = view.free_blocks = config.blocks;
  view.seat_blocks = config.seat_blocks;
  view.block_size = config.block_size;
  view.max_num_seqs = config.max_num_seqs;
  view.max_num_batched_tokens = config.max_num_batched_tokens;
  view.max_model_len =
      config.max_model_len == VllmConfig{}.max_model_len ? 0 : config.max_model_len;
  view.async_depth = config.async_depth;
}

std::int32_t NaiveBoard::cached_tokens(std::int32_t slot) const noexcept {
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr || r->phase != Phase::waiting) return 0;
  return std::max(naive_->hit_tokens(*r), r->remote_kv());
}

std::int32_t NaiveBoard::growing_tokens(std::int32_t slot) const noexcept {
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr || r->phase != Phase::waiting) return 0;
  return static_cast<int>(naive_->growing_hits(*r).size()) * naive_->config_.block_size;
}

double NaiveBoard::new_block(std::int32_t slot) const noexcept {
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr || !naive_->config_.prefix_caching || r->remote > 0) return 0;
  naive_->know_hashes(*r);
  for (const int hash : r->hashes)
    if (naive_->pool_.find(hash) < 0) return 1 + hash;
  return 0;
}

std::int32_t NaiveBoard::shared_tokens(std::int32_t slot, std::int32_t other) const noexcept {
  const PlainRequest& a = naive_->at_slot(slot)->given->plain;
  const PlainRequest& b = naive_->at_slot(other)->given->plain;
  int shared = 0;
  if (a.adapter != b.adapter) return 0;
  while (shared < std::min(a.prompt, b.prompt) &&
         a.tokens[static_cast<std::size_t>(shared)] == b.tokens[static_cast<std::size_t>(shared)])
    ++shared;
  return shared;
}

std::int32_t NaiveBoard::decode_blocks() const noexcept {
  std::int32_t blocks = 0;
  for (const NaiveRequest* r : naive_->running_) {
    if (naive_->speculates()) {
      const int tokens = naive_->most_tokens(*r);
      if (r->phase == Phase::decoding && tokens > 0) blocks += naive_->missing_blocks(*r, tokens);
      continue;
    }
    const int room = static_cast<int>(r->blocks.size()) * naive_->config_.block_size;
    blocks += r->phase == Phase::decoding && r->computed == room;
  }
  return blocks;
}

void NaiveReplica::show() {
  ReplicaView& view = board_.numbers();
  std::vector<NaiveRequest*> prefilling;
  view.decodes = view.finishing = view.in_flight = view.decode_tokens = 0;
  view.decode_context_tokens = view.waiting_tokens = 0;
  for (NaiveRequest& r : requests_)
    if (r.phase != Phase::absent) show_request(r);
  for (NaiveRequest* r : waiting_) view.waiting_tokens += r->sequence();
  for (NaiveRequest* r : running_) {
    if (r->phase == Phase::prefilling) prefilling.push_back(r);
    if (r->phase == Phase::finishing) ++view.finishing;
    if (r->phase == Phase::in_flight) ++view.in_flight;
    if (r->phase != Phase::decoding) continue;
    ++view.decodes;
    view.decode_context_tokens += r->computed;
    if (speculates()) view.decode_tokens += 1 + r->drafts;
  }
  view.speculates = speculates();
  view.now_s = seconds(now_);
  view.decode_index = decode_steps_;
  view.requests = arena_.data();
  view.slots = arena_.slots();
  view.free_blocks = pool_.free_blocks();
  // Hits are looked up for every waiting request, also where there can be none.
  const bool may_hit = config_.prefix_caching || role_ == Role::decode;
  view.hits = may_hit ? CacheHits::of_any : CacheHits::none;
  view.waiting = static_cast<std::int32_t>(waiting_.size());
  view.seats = static_cast<std::int32_t>(running_.size());
  view.prefilling = static_cast<std::int32_t>(prefilling.size());
  show_list(waiting_, view.waiting_head, view.waiting_tail);
  show_list(running_, view.running_head, view.running_tail);
  view.prefilling_head = view.prefilling_tail = -1;
  for (NaiveRequest* r : prefilling) {
    rooflua::Request& shown = arena_[r->slot];
    shown.previous_prefilling = view.prefilling_tail;
    shown.next_prefilling = -1;
    (view.prefilling_tail >= 0 ? arena_[view.prefilling_tail].next_prefilling
                               : view.prefilling_head) = r->slot;
    view.prefilling_tail = r->slot;
  }
}

void NaiveReplica::show_list(const std::vector<NaiveRequest*>& list, std::int32_t& head,
                             std::int32_t& tail) {
  head = tail = -1;
  for (const NaiveRequest* r : list) {
    rooflua::Request& shown = arena_[r->slot];
    shown.previous = tail;
    shown.next = -1;
    (tail >= 0 ? arena_[tail].next : head) = r->slot;
    tail = r->slot;
  }
}

void NaiveReplica::show_request(NaiveRequest& r) {
  rooflua::Request& shown = arena_[r.slot];
  shown.phase = r.phase;
  shown.key = r.key;
  shown.context_tokens = r.computed;
  shown.emitted_tokens = r.output;
  shown.joined = decode_steps_;  // nothing is implied: the numbers are true now
  shown.draft_tokens = r.drafts;
  shown.drafted_tokens = r.drafted;
  shown.accepted_tokens = r.accepted;
  shown.rounds = r.rounds_landed;
  shown.preemptions = r.preemptions;
  shown.cached_tokens = r.phase == Phase::waiting ? 0 : r.seat_hit;
}

}  // namespace rooflua::reference
