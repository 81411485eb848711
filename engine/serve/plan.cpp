#include "serve/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "serve/policy.h"
#include "serve/replica.h"

namespace rooflua {

namespace {

bool seated(Phase phase) {
  return phase == Phase::prefilling || phase == Phase::decoding || phase == Phase::draining;
}

}  // namespace

void Plan::reset(Picoseconds now, std::int64_t serial) {
  view_ = PlanView{};
  serial_ = serial;
  now_ = now;
  whole_ = walked_ = walking_ = false;
  single_crossings_ = 0;
  singles_.clear();
  prefills_.clear();
  preempted_.clear();
  pulled_.clear();
}

std::int32_t Plan::refuse(const char* verb, Refusal refusal, std::int32_t slot) noexcept {
  verb_ = verb;
  view_.refusal = refusal;
  view_.refused_request = slot;
  return -1;
}

std::string Plan::refusal_text() const {
  char text[96];
  std::snprintf(text, sizeof text, "at %.9g s, replica %d, plan %lld: ", seconds(now_),
                replica_->view_.index + 1, static_cast<long long>(serial_));
  std::string message = std::string(text) + verb_;
  const std::int32_t slot = view_.refused_request;
  const bool exists = slot >= 0 && slot < replica_->requests_->slots();
  if (exists) {
    const Request& request = replica_->request(slot);
    message += "(request " + std::to_string(request.id) + ", " +
               std::string(words_of(request.phase).state) + ")";
  }
  return message + ": " + std::string(words_of(view_.refusal).help);
}

std::int32_t Plan::answer(std::int32_t code) const {
  if (code == -1) throw Error("scheduler", refusal_text());
  return code;
}

bool Plan::over_budget(std::int32_t more) const noexcept {
  const std::int32_t budget = replica_->view_.max_num_batched_tokens;
  return budget > 0 && std::int64_t{view_.tokens} + more > budget;
}

bool Plan::known(std::int32_t slot) const noexcept {
  if (slot < 0 || slot >= replica_->requests_->slots()) return false;
  const Request& request = replica_->request(slot);
  return request.replica == replica_->index_ && request.phase != Phase::absent &&
         request.phase != Phase::pending;
}

bool Plan::planned(std::int32_t slot) const noexcept {
  if (replica_->requests_->progress(slot).planned == serial_) return true;
  return whole_ && replica_->request(slot).phase == Phase::decoding;
}

// --- decodes

std::int32_t Plan::try_decode_all(std::int32_t limit) noexcept {
  if (walking_) return refuse("decode_all", Refusal::victim_expected, -1);
  if (whole_ || walked_) return refuse("decode_all", Refusal::decoded_already, -1);
  if (limit < everybody) return refuse("decode_all", Refusal::bad_limit, -1);
  const std::int32_t eligible =
      replica_->view_.decodes - static_cast<std::int32_t>(singles_.size());
  if (eligible == 0 || limit == 0) return 0;
  const bool bound = limit != everybody && limit < eligible;
  if (over_budget(bound ? limit : eligible)) return refuse("decode_all", Refusal::over_budget, -1);
  const std::int32_t need = replica_->crossings_now() - single_crossings_;
  if (!bound && need <= replica_->kv_.free_blocks()) {
    replica_->kv_.take(need);
    replica_->sync_blocks();
    replica_->fill_all(serial_);
    whole_ = true;
    view_.tokens += eligible;
    view_.decodes += eligible;
    return eligible;
  }
  walked_ = true;
  limit_ = limit;
  walk_count_ = 0;
  cursor_ = replica_->view_.running_head;
  return walk();
}

/// Decodes in admission order from the cursor on, shedding as told in the header.
std::int32_t Plan::walk() noexcept {
  Replica& replica = *replica_;
  while (cursor_ >= 0 && (limit_ == everybody || walk_count_ < limit_)) {
    const std::int32_t slot = cursor_;
    Progress& progress = replica.requests_->progress(slot);
    if (replica.request(slot).phase != Phase::decoding || progress.planned == serial_) {
      cursor_ = replica.request(slot).next;
      continue;
    }
    const bool crosses = replica.crosses_now(slot);
    if (crosses && replica.kv_.free_blocks() == 0) {
      if (policy_->has_victim()) {
        walking_ = true;
        return asks_victim;
      }
      const std::int32_t victim = replica.view_.running_tail;
      if (victim == slot) cursor_ = -1;
      withdraw(victim);
      continue;
    }
    if (crosses) replica.kv_.take(1);
    replica.fill(slot);
    progress.planned = serial_;
    ++walk_count_;
    ++view_.tokens;
    ++view_.decodes;
    cursor_ = replica.request(slot).next;
  }
  replica.sync_blocks();
  return walk_count_;
}

std::int32_t Plan::try_shed(std::int32_t victim) noexcept {
  if (!walking_) return refuse("victim", Refusal::no_victim, victim);
  if (!known(victim) || !seated(replica_->request(victim).phase))
    return refuse("victim", Refusal::not_seated, victim);
  if (victim == cursor_) cursor_ = -1;
  walking_ = false;
  withdraw(victim);
  return walk();
}

std::int32_t Plan::decode_all(std::int32_t limit) {
  std::int32_t count = answer(try_decode_all(limit));
  while (count == asks_victim) count = answer(try_shed(policy_->victim(*replica_)));
  return count;
}

std::int32_t Plan::try_decode(std::int32_t slot) noexcept {
  if (walking_) return refuse("decode", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("decode", Refusal::no_such_request, slot);
  if (replica_->request(slot).phase != Phase::decoding)
    return refuse("decode", Refusal::not_decoding, slot);
  if (planned(slot) || walked_) return refuse("decode", Refusal::planned_already, slot);
  if (over_budget(1)) return refuse("decode", Refusal::over_budget, slot);
  if (replica_->crosses_now(slot)) {
    if (replica_->kv_.free_blocks() == 0) return 0;
    replica_->kv_.take(1);
    replica_->sync_blocks();
    ++single_crossings_;
  }
  replica_->fill(slot);
  replica_->requests_->progress(slot).planned = serial_;
  singles_.push_back(slot);
  ++view_.tokens;
  ++view_.decodes;
  return 1;
}

bool Plan::decode(std::int32_t slot) {
  return answer(try_decode(slot)) == 1;
}

// --- prefills

std::int32_t Plan::try_prefill(std::int32_t slot, std::int32_t tokens) noexcept {
  if (walking_) return refuse("prefill", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("prefill", Refusal::no_such_request, slot);
  const Request& request = replica_->request(slot);
  Progress& progress = replica_->requests_->progress(slot);
  if (request.phase != Phase::prefilling) return refuse("prefill", Refusal::not_prefilling, slot);
  if (progress.planned == serial_) return refuse("prefill", Refusal::planned_already, slot);
  if (tokens < 1) return refuse("prefill", Refusal::no_tokens, slot);
  const std::int32_t context = request.context_tokens;
  const std::int32_t pending = request.prompt_tokens + request.emitted_tokens - context;
  if (tokens > pending) return refuse("prefill", Refusal::too_many_tokens, slot);
  if (over_budget(tokens)) return refuse("prefill", Refusal::over_budget, slot);
  const std::int32_t block_size = replica_->view_.block_size;
  const std::int32_t more =
      std::max(0, blocks_for(context + tokens, block_size) - progress.held_blocks);
  if (more > replica_->kv_.free_blocks()) return 0;
  replica_->kv_.grow(slot, more);
  progress.held_blocks += more;
  replica_->kv_.remember(slot, request, progress, (context + tokens) / block_size);
  replica_->sync_blocks();
  progress.planned = serial_;
  prefills_.push_back({tokens, context, tokens == pending ? 1 : 0, slot, request.id});
  view_.tokens += tokens;
  ++view_.prefills;
  return 1;
}

bool Plan::prefill(std::int32_t slot, std::int32_t tokens) {
  return answer(try_prefill(slot, tokens)) == 1;
}

std::int32_t Plan::try_admit(std::int32_t slot, const Admission& wish) noexcept {
  if (walking_) return refuse("admit", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("admit", Refusal::no_such_request, slot);
  Replica& replica = *replica_;
  Request& request = (*replica.requests_)[slot];
  Progress& progress = replica.requests_->progress(slot);
  if (request.phase != Phase::waiting) return refuse("admit", Refusal::not_waiting, slot);
  if (progress.preempted == serial_) return refuse("admit", Refusal::preempted_now, slot);
  if (wish.tokens < 1) return refuse("admit", Refusal::no_tokens, slot);
  const std::int32_t block_size = replica.view_.block_size;
  const std::int32_t held = progress.held_blocks;  // if its KV was sent here
  const KvCache::Hit hit = held > 0 ? KvCache::Hit{} : replica.kv_.lookup(slot, request, progress);
  const std::int32_t ready = std::max(hit.blocks * block_size, progress.remote_tokens);
  const std::int32_t pending = request.prompt_tokens + request.emitted_tokens - ready;
  if (wish.tokens > pending) return refuse("admit", Refusal::too_many_tokens, slot);
  if (over_budget(wish.tokens)) return refuse("admit", Refusal::over_budget, slot);
  const std::int32_t seats = replica.view_.max_num_seqs;
  if (seats > 0 && replica.view_.running >= seats) return 0;
  const std::int32_t hold = std::max(ready + wish.tokens, wish.hold_tokens);
  const bool away = progress.kept_blocks > 0;
  const std::int32_t blocks = std::max(held, blocks_for(hold, block_size));
  const std::int32_t whole = std::max(blocks, blocks_for(wish.fit_tokens, block_size));
  const std::int64_t need = std::int64_t{whole} - held - hit.blocks + hit.free +
                            std::max(0, wish.spare_blocks) + (away ? replica.reserved_blocks() : 0);
  if (need > replica.kv_.free_blocks()) return 0;
  if (away) {
    replica.park(slot, hit, blocks);
    pulled_.push_back(slot);
    return 1;
  }
  replica.take_seat(slot, hit, ready, blocks, now_);
  replica.kv_.remember(slot, request, progress, (ready + wish.tokens) / block_size);
  replica.sync_blocks();
  progress.planned = serial_;
  progress.admitted = serial_;
  prefills_.push_back({wish.tokens, ready, wish.tokens == pending ? 1 : 0, slot, request.id});
  view_.tokens += wish.tokens;
  ++view_.prefills;
  ++view_.admitted;
  return 1;
}

bool Plan::admit(std::int32_t slot, const Admission& admission) {
  return answer(try_admit(slot, admission)) == 1;
}

// --- giving back

std::int32_t Plan::try_preempt(std::int32_t slot) noexcept {
  if (walking_) return refuse("preempt", Refusal::victim_expected, slot);
  if (!known(slot)) return refuse("preempt", Refusal::no_such_request, slot);
  const Request& request = replica_->request(slot);
  if (!seated(request.phase)) return refuse("preempt", Refusal::not_seated, slot);
  if (replica_->requests_->progress(slot).admitted == serial_)
    return refuse("preempt", Refusal::admitted_now, slot);
  if (request.phase == Phase::draining && replica_->config_.role == Role::prefill) return 0;
  withdraw(slot);
  replica_->sync_blocks();
  return 1;
}

bool Plan::preempt(std::int32_t slot) {
  return answer(try_preempt(slot)) == 1;
}

/// Takes a seated request out of this plan and off its seat.
void Plan::withdraw(std::int32_t slot) noexcept {
  Replica& replica = *replica_;
  Progress& progress = replica.requests_->progress(slot);
  const bool decoding = replica.request(slot).phase == Phase::decoding;
  std::int32_t granted = 0;
  if (decoding && planned(slot)) {
    granted = replica.crosses_now(slot) ? 1 : 0;
    --view_.tokens;
    --view_.decodes;
    const auto single = std::find(singles_.begin(), singles_.end(), slot);
    if (single != singles_.end()) {
      singles_.erase(single);
      single_crossings_ -= granted;
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
  replica.lose_seat(slot, granted, serial_);
}

std::int32_t Plan::try_reject(std::int32_t slot) noexcept {
  if (!known(slot)) return refuse("reject", Refusal::no_such_request, slot);
  if (replica_->request(slot).phase != Phase::waiting)
    return refuse("reject", Refusal::not_waiting, slot);
  if (replica_->requests_->progress(slot).preempted == serial_)
    return refuse("reject", Refusal::preempted_now, slot);
  replica_->quit_waiting(slot);
  replica_->doom(slot, Outcome::rejected);
  ++view_.rejected;
  return 1;
}

void Plan::reject(std::int32_t slot) {
  answer(try_reject(slot));
}

std::int32_t Plan::try_wake_at(double time_s) noexcept {
  const double ps = time_s * 1e12;
  if (!(ps < 9.2e18) || static_cast<Picoseconds>(std::llround(std::max(ps, -1.0))) <= now_)
    return refuse("wake_at", Refusal::bad_wake, -1);
  view_.wake_s = time_s;
  return 1;
}

void Plan::wake_at(double time_s) {
  answer(try_wake_at(time_s));
}

}  // namespace rooflua
