// NaivePlan of replica.h: the operations of engine/serve/contract/plan.h, one request at a
// time.

#include <algorithm>
#include <set>

#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

void NaivePlan::begin(SchedulerPolicy& policy, const NaiveBoard& board, Ps now,
                      std::int64_t serial) {
  Plan::begin(board, &policy, now, serial);
  at_hand_ = nullptr;
  all_asked_ = false;
}

bool NaivePlan::bursts(int more) const {
  const int budget = naive_->config_.max_num_batched_tokens;
  return budget > 0 && naive_->tokens_planned() + more > budget;
}

/// False: it needs a block and none is free.
bool NaivePlan::give_token(NaiveRequest& r, int tokens) {
  int need = 0;
  if (naive_->speculates()) {
    need = naive_->missing_blocks(r, tokens);
  } else {
    need = r.computed + 1 > static_cast<int>(r.blocks.size()) * naive_->config_.block_size;
  }
  if (need > naive_->pool_.free_blocks()) return false;
  for (; need > 0; --need) r.blocks.push_back(naive_->pool_.pop());
  r.planned = tokens;
  if (naive_->config_.content_from == 0) naive_->cache_blocks(r, r.computed + 1);
  ++view_.decodes;
  view_.tokens += tokens;
  return true;
}

int NaivePlan::budget_left() const {
  const int budget = naive_->config_.max_num_batched_tokens;
  return budget > 0 ? budget - naive_->tokens_planned() : 1 << 30;
}

// --- decodes

std::int32_t NaivePlan::try_decode_all(std::int32_t limit) noexcept {
  if (waits_for_victim()) return refuse("decode_all", Refusal::victim_expected, -1);
  if (all_asked_) return refuse("decode_all", Refusal::decoded_already, -1);
  if (limit < no_limit) return refuse("decode_all", Refusal::bad_limit, -1);
  int eligible = 0;
  for (const NaiveRequest* r : naive_->running_)
    eligible += r->phase == Phase::decoding && r->planned == 0;
  if (naive_->speculates()) {
    if (eligible == 0 || limit == 0) return 0;
    most_ = limit == no_limit ? 1 << 30 : limit;
    all_asked_ = true;
    given_ = given_tokens_ = wish_ = 0;
    return walk_rows();
  }
  most_ = limit == no_limit ? eligible : std::min(limit, eligible);
  if (most_ == 0) return 0;
  if (bursts(most_)) return refuse("decode_all", Refusal::over_budget, -1);
  all_asked_ = true;
  given_ = 0;
  // Where there is room for all, all get their blocks before any state is kept.
  int eligible_blocks = 0;
  for (const NaiveRequest* r : naive_->running_) {
    if (r->phase != Phase::decoding || r->planned > 0) continue;
    eligible_blocks +=
        r->computed + 1 > static_cast<int>(r->blocks.size()) * naive_->config_.block_size;
  }
  naive_->states_wait_ = most_ == eligible && eligible_blocks <= naive_->pool_.free_blocks();
  const std::int32_t given = walk_on();
  naive_->states_wait_ = false;
  for (const auto& [r, full] : naive_->late_states_) naive_->keep_state(*r, full);
  naive_->late_states_.clear();
  naive_->show();
  return given;
}

/// The same with drafts: `most_` counts tokens.
std::int32_t NaivePlan::walk_rows() {
  while (true) {
    NaiveRequest* next = nullptr;
    for (NaiveRequest* r : naive_->running_) {
      if (r->phase != Phase::decoding || r->planned > 0 || r->passed) continue;
      next = r;
      break;
    }
    if (next == nullptr) break;
    if (wish_ == 0) {
      if (naive_->most_tokens(*next) <= 0) {
        next->passed = true;
        continue;
      }
      wish_ = std::min({naive_->most_tokens(*next), most_ - given_tokens_, budget_left()});
      if (wish_ <= 0) break;
    }
    if (give_token(*next, wish_)) {
      ++given_;
      given_tokens_ += wish_;
      wish_ = 0;
      continue;
    }
    if (policy_->has_victim()) {
      at_hand_ = next;
      naive_->show();
      return asks_victim;
    }
    NaiveRequest* victim = naive_->running_.back();
    if (victim->phase == Phase::decoding && victim->planned > 0) {
      --given_;
      given_tokens_ -= victim->planned;
    }
    take_away(*victim);
    if (victim == next) break;
  }
  naive_->show();
  return given_;
}

/// Admission order, from the first that has no token yet.
std::int32_t NaivePlan::walk_on() {
  if (naive_->speculates()) return walk_rows();
  while (given_ < most_) {
    NaiveRequest* next = nullptr;
    for (NaiveRequest* r : naive_->running_) {
      if (r->phase != Phase::decoding || r->planned > 0) continue;
      next = r;
      break;
    }
    if (next == nullptr) break;
    if (give_token(*next, 1)) {
      ++given_;
      continue;
    }
    if (policy_->has_victim()) {
      at_hand_ = next;
      naive_->show();
      return asks_victim;
    }
    NaiveRequest* victim = naive_->running_.back();
    if (victim->phase == Phase::decoding && victim->planned > 0) --given_;
    take_away(*victim);
    if (victim == next) break;
  }
  naive_->show();
  return given_;
}

std::int32_t NaivePlan::try_shed(std::int32_t slot) noexcept {
  if (!waits_for_victim()) return refuse("victim", Refusal::no_victim, slot);
  NaiveRequest* victim = naive_->at_slot(slot);
  const auto& running = naive_->running_;
  if (std::find(running.begin(), running.end(), victim) == running.end())
    return refuse("victim", Refusal::not_seated, slot);
  if (victim->phase == Phase::decoding && victim->planned > 0) {
    --given_;
    given_tokens_ -= victim->planned;
  }
  const bool itself = victim == at_hand_;
  at_hand_ = nullptr;
  take_away(*victim);
  if (!itself) return walk_on();
  naive_->show();
  return given_;
}

std::int32_t NaivePlan::try_decode(std::int32_t slot, std::int32_t tokens) noexcept {
  if (waits_for_victim()) return refuse("decode", Refusal::victim_expected, slot);
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr) return refuse("decode", Refusal::no_such_request, slot);
  if (r->phase != Phase::decoding) return refuse("decode", Refusal::not_decoding, slot);
  if (r->planned > 0 || all_asked_) return refuse("decode", Refusal::planned_already, slot);
  if (tokens > 1 + r->drafts) return refuse("decode", Refusal::too_many_tokens, slot);
  if (bursts(1)) return refuse("decode", Refusal::over_budget, slot);
  int most = 1;
  if (naive_->speculates()) {
    if (bursts(std::max(tokens, 1))) return refuse("decode", Refusal::over_budget, slot);
    most = std::min(naive_->most_tokens(*r), budget_left());
    if (tokens != all_tokens) most = std::min(most, tokens);
    if (most <= 0) return 1;
  }
  if (!give_token(*r, most)) return 0;
  naive_->show();
  return 1;
}

// --- prefills

std::int32_t NaivePlan::try_prefill(std::int32_t slot, std::int32_t tokens) noexcept {
  if (waits_for_victim()) return refuse("prefill", Refusal::victim_expected, slot);
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr) return refuse("prefill", Refusal::no_such_request, slot);
  if (r->phase != Phase::prefilling) return refuse("prefill", Refusal::not_prefilling, slot);
  if (r->planned > 0) return refuse("prefill", Refusal::planned_already, slot);
  if (tokens < 1) return refuse("prefill", Refusal::no_tokens, slot);
  if (tokens > r->sequence() - r->computed)
    return refuse("prefill", Refusal::too_many_tokens, slot);
  if (bursts(tokens)) return refuse("prefill", Refusal::over_budget, slot);
  const int whole =
      std::min(r->computed + tokens + naive_->config_.lookahead, naive_->config_.max_model_len);
  const int need = naive_->ceil_blocks(whole) - static_cast<int>(r->blocks.size());
  if (need > naive_->pool_.free_blocks()) return 0;
  for (int k = 0; k < need; ++k) r->blocks.push_back(naive_->pool_.pop());
  r->planned = tokens;
  naive_->chunks_.push_back({r->id, r->computed, r->computed + tokens});
  naive_->plan_chunk(*r, r->computed + tokens);
  view_.tokens += tokens;
  ++view_.prefills;
  naive_->show();
  return 1;
}

std::int32_t NaivePlan::try_admit(std::int32_t slot, const Admission& wish) noexcept {
  if (waits_for_victim()) return refuse("admit", Refusal::victim_expected, slot);
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr) return refuse("admit", Refusal::no_such_request, slot);
  if (r->phase != Phase::waiting) return refuse("admit", Refusal::not_waiting, slot);
  if (r->taken || r->under_way > 0) return 0;
  if (wish.tokens < 1) return refuse("admit", Refusal::no_tokens, slot);
  const std::set<int> in_use = naive_->adapters_in_use();
  const int adapter = r->given->plain.adapter;
  view_.held_for = adapter > 0 && !in_use.contains(adapter) &&
                   static_cast<int>(in_use.size()) >= naive_->config_.max_loras;
  if (view_.held_for != 0) return 0;
  const VllmConfig& config = naive_->config_;
  BlockPool& pool = naive_->pool_;
  std::vector<int> hits;
  if (!r->landed_kv) hits = naive_->lookup(*r);
  const int hit_blocks = static_cast<int>(hits.size());
  const int gpu = hit_blocks * config.block_size;
  const int loads = naive_->found_in_stores(*r, gpu);
  if (loads > 0 && naive_->tiers_->others_load(naive_->place_, r->id, gpu, r->sequence())) {
    r->phase = Phase::pending;
    std::erase(naive_->waiting_, r);
    naive_->deferred_.push_back(r);
    naive_->show();
    return 1;
  }
  const int cached = loads > 0 || r->landed_kv ? gpu + loads : naive_->hit_tokens(*r);
  // What is loaded may be the whole of it; the last token is computed in any case.
  const int brought = std::max(cached, r->remote), ready = std::min(brought, r->sequence() - 1);
  if (loads == 0 && wish.tokens > r->sequence() - ready)
    return refuse("admit", Refusal::too_many_tokens, slot);
  if (bursts(wish.tokens)) return refuse("admit", Refusal::over_budget, slot);
  const int seats = static_cast<int>(naive_->running_.size());
  if (config.max_num_seqs > 0 && seats >= config.max_num_seqs) return 0;
  int idle_hits = 0;
  for (int block : hits) idle_hits += pool.references(block) == 0;
  int hold = std::max(ready + wish.tokens, wish.hold_tokens);
  if (loads > 0) hold = brought;
  const int has = r->landed_kv ? static_cast<int>(r->blocks.size()) : hit_blocks;
  int need = std::max(0, naive_->ceil_blocks(std::max(hold, wish.fit_tokens)) - has) + idle_hits +
             std::max(0, wish.spare_blocks);
  if (r->blocks.empty()) need += config.seat_blocks;
  if (r->away || loads > 0) need += naive_->owed_to_prompts();
  if (loads > 0) need = std::max(need, naive_->needed_beside_loaded(*r, has) + idle_hits);
  if (need > pool.free_blocks()) {
    r->held_back |= r->away;
    return 0;
  }

  if (!r->landed_kv) {
    for (int block : hits) pool.touch(block);
    naive_->use_state(*r, hit_blocks);
    r->blocks = hits;
    r->hashed = r->state_at = hit_blocks;
    while (static_cast<int>(r->seat.size()) < config.seat_blocks) r->seat.push_back(pool.pop());
  }
  while (static_cast<int>(r->blocks.size()) < naive_->ceil_blocks(hold))
    r->blocks.push_back(pool.pop());
  if (r->away) {
    r->away = false;
    r->phase = Phase::pending;
    std::erase(naive_->waiting_, r);
    naive_->pulled_.push_back(r->id);
    naive_->show();
    return 1;
  }
  if (loads > 0) {
    naive_->tiers_->begin_load(naive_->place_, r->id, gpu, loads);
    r->remote = brought;
    r->loads = true;
    r->phase = Phase::pending;
    std::erase(naive_->waiting_, r);
    naive_->loading_.push_back(r->id);
    naive_->show();
    return 1;
  }
  r->landed_kv = false;
  if (r->ever_seated && ready > 0) ++naive_->resume_hits_;
  if (!r->ever_seated) {
    r->first_hit = ready;
    r->scheduled = now_;
  }
  r->ever_seated = r->fresh = true;
  r->seat_hit = r->computed = ready;
  r->remote = 0;
  r->phase = Phase::prefilling;
  r->planned = wish.tokens;
  std::erase(naive_->waiting_, r);
  naive_->running_.push_back(r);
  r->landed_end = ready;
  naive_->chunks_.push_back({r->id, ready, ready + wish.tokens});
  naive_->plan_chunk(*r, ready + wish.tokens);
  view_.tokens += wish.tokens;
  ++view_.prefills;
  ++view_.admitted;
  naive_->show();
  return 1;
}

std::int32_t NaivePlan::try_encodable(std::int32_t slot, std::int32_t tokens) noexcept {
  NaiveRequest* r = naive_->at_slot(slot);
  if (naive_->encoder_ == nullptr || r == nullptr) return tokens;
  int ready = r->computed;
  if (r->phase == Phase::waiting)
    ready = std::min(std::max(naive_->hit_tokens(*r), r->remote), r->sequence() - 1);
  return naive_->encoder_->encodable({r->id, ready, ready + tokens}, naive_->chunks_);
}

// --- giving back

void NaivePlan::take_away(NaiveRequest& r) {
  view_.tokens -= r.planned;
  if (r.planned > 0) --(r.phase == Phase::prefilling ? view_.prefills : view_.decodes);
  ++view_.preempted;
  r.planned = 0;
  naive_->gone_.push_back(r.id);
  std::erase_if(naive_->chunks_, [&](const auto& chunk) { return chunk.id == r.id; });
  r.taken = true;
  std::erase(naive_->running_, &r);
  naive_->release(r, r.phase != Phase::finishing);
  if (naive_->tiers_ != nullptr) naive_->unpin(naive_->tiers_->flush(naive_->place_, r.id));
  r.computed = r.seat_hit = r.drafts = 0;
  ++r.preemptions;
  if (r.phase == Phase::finishing) {
    r.phase = Phase::pending;
    return;
  }
  naive_->queue(r, true);
}

std::int32_t NaivePlan::try_preempt(std::int32_t slot) noexcept {
  if (waits_for_victim()) return refuse("preempt", Refusal::victim_expected, slot);
  NaiveRequest* r = naive_->at_slot(slot);
  const auto& running = naive_->running_;
  if (std::find(running.begin(), running.end(), r) == running.end())
    return refuse("preempt", Refusal::not_seated, slot);
  if (r->fresh) return refuse("preempt", Refusal::admitted_now, slot);
  if (r->phase == Phase::finishing && naive_->role_ == Role::prefill) return 0;
  if (r->flows > 0) return 0;
  take_away(*r);
  naive_->show();
  return 1;
}

std::int32_t NaivePlan::try_reject(std::int32_t slot) noexcept {
  NaiveRequest* r = naive_->at_slot(slot);
  if (r == nullptr || r->phase != Phase::waiting)
    return refuse("reject", Refusal::not_waiting, slot);
  if (r->taken) return refuse("reject", Refusal::preempted_now, slot);
  std::erase(naive_->waiting_, r);
  r->phase = Phase::pending;
  ++view_.rejected;
  naive_->show();
  return 1;
}

std::int32_t NaivePlan::try_wake_at(double time_s) noexcept {
  view_.wake_s = time_s;  // it is asked at every step anyway
  return 1;
}

}  // namespace rooflua::reference
