#include "serve/replica/step_plan.h"

#include <algorithm>
#include <cmath>

#include "serve/contract/items.h"
#include "serve/contract/policy.h"
#include "serve/replica/replica_state.h"
#include "serve/stores/tiers.h"

namespace rooflua {

void StepPlan::clear() {
  everyone_ = walked_ = needs_victim_ = false;
  cut_ = false;
  single_blocks_ = walk_tokens_ = at_hand_tokens_ = 0;
  singles_.clear();
  rows_.clear();
  implied_ = summed_ = false;
  prefills_.clear();
  preempted_.clear();
  pulled_.clear();
  loading_.clear();
}

void StepPlan::begin(ReplicaState& replica, SchedulerPolicy& policy, Picoseconds now,
                     std::int64_t serial) {
  Plan::begin(replica, &policy, now, serial);
  on_ = &replica;
  clear();
}

void StepPlan::end() {
  if (needs_victim_) answer(refuse("plan", Refusal::victim_expected, -1));
}

void StepPlan::repeat(ReplicaState& replica, Picoseconds now, std::int64_t serial) {
  Plan::begin(replica, nullptr, now, serial);
  on_ = &replica;
  clear();
  replica.grant_all_decodes(replica.pool().blocks_needed(), serial);
  everyone_ = true;
  view_.decodes = replica.view().decodes;
  view_.tokens = DecodePool::tokens_of(view_.decodes);
}

void StepPlan::repeat(ReplicaState& replica, Picoseconds now, std::int64_t serial,
                      const RaggedPool::Demand& demand, std::span<const RaggedPool::Taker> takers) {
  Plan::begin(replica, nullptr, now, serial);
  on_ = &replica;
  clear();
  walked_ = true;
  add_all_rows(demand, takers);
}

bool StepPlan::is_decode_all() const {
  const bool everyone = on_->is_ragged() ? walked_ && !cut_ : everyone_;
  return everyone && singles_.empty() && view_.prefills == 0 && view_.preempted == 0 &&
         view_.rejected == 0;
}

bool StepPlan::over_budget(std::int32_t more) const noexcept {
  const std::int32_t budget = on_->view().max_num_batched_tokens;
  return budget > 0 && std::int64_t{view_.tokens} + more > budget;
}

/// Whether the slot holds a request of this replica.
bool StepPlan::known(std::int32_t slot) const noexcept {
  if (slot < 0 || slot >= on_->view().slots) return false;
  const Request& request = on_->request(slot);
  return request.replica == on_->view().index && request.phase != Phase::absent &&
         request.phase != Phase::pending;
}

bool StepPlan::holds(std::int32_t slot) const noexcept {
  if (on_->progress(slot).planned == serial_) return true;
  return everyone_ && on_->request(slot).phase == Phase::decoding;
}

// --- decodes

void StepPlan::add_decode(std::int32_t slot) noexcept {
  on_->grant_decode(slot);
  on_->progress(slot).planned = serial_;
  view_.tokens += DecodePool::tokens_of(1);
  ++view_.decodes;
}

std::int32_t StepPlan::try_decode_all(std::int32_t limit) noexcept {
  if (needs_victim_) return refuse("decode_all", Refusal::victim_expected, -1);
  if (everyone_ || walked_) return refuse("decode_all", Refusal::decoded_already, -1);
  if (limit < no_limit) return refuse("decode_all", Refusal::bad_limit, -1);
  const std::int32_t eligible = on_->view().decodes - static_cast<std::int32_t>(singles_.size());
  if (eligible == 0 || limit == 0) return 0;
  if (on_->is_ragged()) {
    walked_ = true;
    if (limit == no_limit && singles_.empty() && take_all_rows()) return view_.decodes;
    limit_ = limit;
    cursor_ = on_->view().running_head;
    return walk_rows();
  }
  const bool bound = limit != no_limit && limit < eligible;
  if (over_budget(DecodePool::tokens_of(bound ? limit : eligible)))
    return refuse("decode_all", Refusal::over_budget, -1);
  const std::int32_t need = on_->pool().blocks_needed() - single_blocks_;
  if (!bound && need <= on_->kv().free_blocks()) {
    on_->grant_all_decodes(need, serial_);
    everyone_ = true;
    view_.tokens += DecodePool::tokens_of(eligible);
    view_.decodes += eligible;
    return eligible;
  }
  walked_ = true;
  limit_ = limit;
  walk_count_ = 0;
  cursor_ = on_->view().running_head;
  return walk();
}

/// Decodes in admission order from the cursor on, and preempts as the header tells.
std::int32_t StepPlan::walk() noexcept {
  if (on_->is_ragged()) return walk_rows();
  while (cursor_ >= 0 && (limit_ == no_limit || walk_count_ < limit_)) {
    const std::int32_t slot = cursor_;
    const Request& request = on_->request(slot);
    if (request.phase != Phase::decoding || on_->progress(slot).planned == serial_) {
      cursor_ = request.next;
      continue;
    }
    if (on_->pool().blocks_needed(slot) > on_->kv().free_blocks()) {
      if (policy_->has_victim()) {
        needs_victim_ = true;
        return asks_victim;
      }
      const std::int32_t victim = on_->view().running_tail;
      if (victim == slot) cursor_ = -1;
      withdraw(victim);
      continue;
    }
    add_decode(slot);
    ++walk_count_;
    cursor_ = request.next;
  }
  return walk_count_;
}

std::int32_t StepPlan::try_shed(std::int32_t victim) noexcept {
  if (!needs_victim_) return refuse("victim", Refusal::no_victim, victim);
  if (!known(victim) || !seated(on_->request(victim).phase))
    return refuse("victim", Refusal::not_seated, victim);
  if (victim == cursor_) cursor_ = -1;
  needs_victim_ = false;
  withdraw(victim);
  return walk();
}

std::int32_t StepPlan::try_decode(std::int32_t slot, std::int32_t tokens) noexcept {
  if (needs_victim_) return refuse("decode", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("decode", Refusal::no_such_request, slot);
  if (on_->request(slot).phase != Phase::decoding)
    return refuse("decode", Refusal::not_decoding, slot);
  if (holds(slot) || walked_) return refuse("decode", Refusal::planned_already, slot);
  if (tokens != all_tokens && tokens < 1) return refuse("decode", Refusal::no_tokens, slot);
  if (tokens > 1 + on_->request(slot).draft_tokens)
    return refuse("decode", Refusal::too_many_tokens, slot);
  if (on_->is_ragged()) return decode_row(slot, tokens);
  if (over_budget(DecodePool::tokens_of(1))) return refuse("decode", Refusal::over_budget, slot);
  const std::int32_t need = on_->pool().blocks_needed(slot);
  if (need > on_->kv().free_blocks()) return 0;
  single_blocks_ += need;
  add_decode(slot);
  singles_.push_back(slot);
  return 1;
}

// --- prefills

void StepPlan::add_prefill(const PrefillWork& work) noexcept {
  on_->progress(work.slot).planned = serial_;
  prefills_.push_back(work);
  view_.tokens += work.new_tokens;
  ++view_.prefills;
}

std::int32_t StepPlan::try_prefill(std::int32_t slot, std::int32_t tokens) noexcept {
  if (needs_victim_) return refuse("prefill", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("prefill", Refusal::no_such_request, slot);
  const Request& request = on_->request(slot);
  if (request.phase != Phase::prefilling) return refuse("prefill", Refusal::not_prefilling, slot);
  if (on_->progress(slot).planned == serial_)
    return refuse("prefill", Refusal::planned_already, slot);
  if (tokens < 1) return refuse("prefill", Refusal::no_tokens, slot);
  const std::int32_t context = request.context_tokens;
  const std::int32_t pending = request.prompt_tokens + request.emitted_tokens - context;
  if (tokens > pending) return refuse("prefill", Refusal::too_many_tokens, slot);
  if (over_budget(tokens)) return refuse("prefill", Refusal::over_budget, slot);
  if (!on_->grant_prefill(slot, context + tokens)) return 0;
  add_prefill({tokens, context, tokens == pending ? 1 : 0, slot, request.id, pending - tokens});
  return 1;
}

std::int32_t StepPlan::try_admit(std::int32_t slot, const Admission& wish) noexcept {
  return on_->tiers() == nullptr ? admit_as<false>(slot, wish) : admit_as<true>(slot, wish);
}

/// Whether the request must wait for its adapter. If that is being loaded, the scheduler is asked
/// again when it is there.
bool StepPlan::lacks_adapter(std::int32_t slot) noexcept {
  constexpr std::int32_t for_adapter = 1;
  Progress& progress = on_->progress(slot);
  const AdapterSlots::Answer found = on_->adapters()->ask(progress.adapter, now_);
  view_.held_for = found == AdapterSlots::Answer::yes ? 0 : for_adapter;
  if (found == AdapterSlots::Answer::yes) return false;
  held_ += progress.held_for_adapter ? 0 : 1;
  progress.held_for_adapter = true;
  if (found == AdapterSlots::Answer::loading) {
    double wake_s = seconds(on_->adapters()->ready(progress.adapter));
    while (std::llround(wake_s * 1e12) < on_->adapters()->ready(progress.adapter))
      wake_s = std::nextafter(wake_s, HUGE_VAL);
    if (view_.wake_s < 0 || wake_s < view_.wake_s) view_.wake_s = wake_s;
  }
  return true;
}

/// @param tiers  whether stores may have KV of the request
template <bool tiers>
inline std::int32_t StepPlan::admit_as(std::int32_t slot, const Admission& wish) noexcept {
  if (needs_victim_) return refuse("admit", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("admit", Refusal::no_such_request, slot);
  const Request& request = on_->request(slot);
  Progress& progress = on_->progress(slot);
  if (request.phase != Phase::waiting) return refuse("admit", Refusal::not_waiting, slot);
  if (progress.preempted == serial_) return 0;
  if (request.preemptions > 0 && on_->awaits_token(slot)) return 0;
  if (wish.tokens < 1) return refuse("admit", Refusal::no_tokens, slot);
  if (on_->adapters() != nullptr && lacks_adapter(slot)) return 0;
  const std::int32_t block_size = on_->view().block_size;
  const std::int32_t held = progress.held_blocks;  // if its KV was sent here
  const KvCache::Hit hit = held > 0 ? KvCache::Hit{} : on_->kv().lookup(slot, request, progress);
  std::int32_t loaded = 0;
  if (tiers && held == 0) {
    if (const std::int32_t status = load(slot, wish, hit, loaded); status != loads_nothing)
      return status;
  }
  const std::int32_t cached =
      loaded > 0 ? hit.blocks * block_size + loaded : hit.tokens(block_size);
  const std::int32_t sequence = request.prompt_tokens + request.emitted_tokens;
  // The last token is computed in any case.
  const std::int32_t ready = std::min(std::max(cached, progress.remote_tokens), sequence - 1);
  const std::int32_t pending = sequence - ready;
  // A scheduler does not know what is loaded.
  const std::int32_t tokens = tiers && loaded > 0 ? std::min(wish.tokens, pending) : wish.tokens;
  if (tokens > pending) return refuse("admit", Refusal::too_many_tokens, slot);
  if (over_budget(tokens)) return refuse("admit", Refusal::over_budget, slot);
  if (!on_->seats().any_free()) return 0;
  const std::int32_t hold = std::max(ready + tokens, wish.hold_tokens);
  const bool away = progress.kept_blocks > 0;  // its KV is at a prefill replica
  const std::int32_t blocks = std::max(held, blocks_for(hold, block_size));
  const std::int32_t whole = std::max(blocks, blocks_for(wish.fit_tokens, block_size));
  const std::int64_t need =
      std::int64_t{whole} - held - hit.blocks + hit.free + std::max(0, wish.spare_blocks) +
      (held > 0 ? 0 : on_->config().seat_blocks) + (away ? on_->seats().missing_blocks() : 0);
  if (need > on_->kv().free_blocks()) return 0;
  if (away) {
    on_->park(slot, hit, blocks);
    pulled_.push_back({slot, hit.blocks * block_size});
    return 1;
  }
  if (tiers && loaded > 0) {
    on_->tiers()->begin_load(slot, request, progress, hit.blocks * block_size, loaded);
    loading_.push_back(slot);
  }
  on_->take_seat(slot, hit, ready, blocks, ready + tokens, now_);
  progress.admitted = serial_;
  ++view_.admitted;
  add_prefill({tokens, ready, tokens == pending ? 1 : 0, slot, request.id, pending - tokens});
  return 1;
}

std::int32_t StepPlan::try_encodable(std::int32_t slot, std::int32_t tokens) noexcept {
  if (!known(slot)) return refuse("encodable", Refusal::no_such_request, slot);
  if (tokens < 0) return refuse("encodable", Refusal::no_tokens, slot);
  if (on_->items() == nullptr) return tokens;
  const Request& request = on_->request(slot);
  std::int32_t ready = request.context_tokens;
  if (request.phase == Phase::waiting) {
    const Progress& progress = on_->progress(slot);
    const std::int32_t cached = progress.held_blocks > 0 ? 0 : on_->cached_tokens(slot);
    ready = std::min(std::max(cached, progress.remote_tokens),
                     request.prompt_tokens + request.emitted_tokens - 1);
  }
  return on_->items()->encodable(on_->view().index, slot, ready, tokens, prefills_);
}

// --- giving back

std::int32_t StepPlan::try_preempt(std::int32_t slot) noexcept {
  if (needs_victim_) return refuse("preempt", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("preempt", Refusal::no_such_request, slot);
  const Request& request = on_->request(slot);
  if (!seated(request.phase)) return refuse("preempt", Refusal::not_seated, slot);
  if (on_->progress(slot).admitted == serial_)
    return refuse("preempt", Refusal::admitted_now, slot);
  if (request.phase == Phase::finishing && on_->config().role == Role::prefill) return 0;
  if (on_->progress(slot).flows > 0) return 0;  // its KV is read
  withdraw(slot);
  return 1;
}

/// Takes a seated request out of this plan and off its seat.
void StepPlan::withdraw(std::int32_t slot) noexcept {
  Progress& progress = on_->progress(slot);
  std::int32_t granted = 0;
  if (on_->is_ragged() && on_->request(slot).phase == Phase::decoding) {
    if (holds(slot)) withdraw_row(slot);
  } else if (on_->request(slot).phase == Phase::decoding && holds(slot)) {
    granted = on_->pool().blocks_needed(slot);
    view_.tokens -= DecodePool::tokens_of(1);
    --view_.decodes;
    const auto single = std::find(singles_.begin(), singles_.end(), slot);
    if (single != singles_.end()) {
      singles_.erase(single);
      single_blocks_ -= granted;
    } else if (walked_) {
      --walk_count_;
    }
  } else if (progress.planned == serial_) {
    const auto entry = std::find_if(prefills_.begin(), prefills_.end(),
                                    [&](const PrefillWork& work) { return work.slot == slot; });
    view_.tokens -= entry->new_tokens;
    --view_.prefills;
    prefills_.erase(entry);
  }
  progress.planned = -1;
  ++view_.preempted;
  preempted_.push_back(slot);
  on_->lose_seat(slot, granted, serial_);
}

std::int32_t StepPlan::try_reject(std::int32_t slot) noexcept {
  if (!known(slot)) return refuse("reject", Refusal::no_such_request, slot);
  if (on_->request(slot).phase != Phase::waiting)
    return refuse("reject", Refusal::not_waiting, slot);
  if (on_->progress(slot).preempted == serial_)
    return refuse("reject", Refusal::preempted_now, slot);
  on_->reject(slot);
  ++view_.rejected;
  return 1;
}

std::int32_t StepPlan::try_wake_at(double time_s) noexcept {
  const double ps = time_s * 1e12;
  if (!(ps < 9.2e18) || static_cast<Picoseconds>(std::llround(std::max(ps, -1.0))) <= now_)
    return refuse("wake_at", Refusal::bad_wake, -1);
  view_.wake_s = time_s;
  return 1;
}

}  // namespace rooflua
