#include "serve/replica.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace rooflua {

Replica::Replica(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes,
                 Requests& requests)
    : index_(index),
      config_(config),
      requests_(&requests),
      kv_(config.kv_blocks, config.block_size, prefixes),
      crossings_(static_cast<std::size_t>(config.block_size), 0),
      wheel_(8192, -1) {
  view_.index = index;
  view_.total_blocks = view_.free_blocks = config.kv_blocks;
  view_.block_size = config.block_size;
  view_.max_num_seqs = config.max_num_seqs;
  view_.max_num_batched_tokens = config.max_num_batched_tokens;
  view_.max_model_len = config.max_model_len;
  view_.async_depth = config.async_depth;
  view_.hits = config.role == Role::decode ? 2 : static_cast<std::int32_t>(prefixes);
  plan_.replica_ = this;
}

void Replica::rebind(Requests& requests) {
  requests_ = &requests;
  view_.requests = requests.data();
  plan_.replica_ = this;
  plan_.policy_ = nullptr;
  batch_.origin = this;
  for (Step& step : steps_) step.batch.prefills = step.prefills.data();
}

std::int32_t Replica::cached_tokens(std::int32_t slot) const noexcept {
  const Progress& progress = requests_->progress(slot);
  const KvCache::Hit hit = kv_.lookup(slot, request(slot), progress);
  const bool here = request(slot).replica == index_;
  return std::max(hit.blocks * config_.block_size, here ? progress.remote_tokens : 0);
}

ReplicaSignals Replica::signals() const {
  ReplicaSignals signals;
  signals.waiting_tokens = view_.waiting_tokens;
  signals.context_tokens = view_.decode_context_tokens;
  signals.kv_used_frac = static_cast<double>(kv_.used_blocks()) / kv_.total_blocks();
  signals.waiting = view_.waiting;
  signals.running = view_.running;
  signals.decodes = view_.decodes;
  signals.prefilling = view_.prefilling;
  signals.free_blocks = kv_.free_blocks();
  signals.total_blocks = kv_.total_blocks();
  signals.role = config_.role;
  return signals;
}

// --- lists

void Replica::unlink(std::int32_t slot, std::int32_t& head, std::int32_t& tail) {
  Request& request = (*requests_)[slot];
  (request.previous >= 0 ? (*requests_)[request.previous].next : head) = request.next;
  (request.next >= 0 ? (*requests_)[request.next].previous : tail) = request.previous;
  request.next = request.previous = -1;
}

void Replica::append_running(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  request.previous = view_.running_tail;
  request.next = -1;
  (view_.running_tail >= 0 ? (*requests_)[view_.running_tail].next : view_.running_head) = slot;
  view_.running_tail = slot;
  ++view_.running;
}

void Replica::append_prefilling(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  request.previous_prefilling = view_.prefilling_tail;
  request.next_prefilling = -1;
  (view_.prefilling_tail >= 0 ? (*requests_)[view_.prefilling_tail].next_prefilling
                              : view_.prefilling_head) = slot;
  view_.prefilling_tail = slot;
  ++view_.prefilling;
}

void Replica::leave_prefilling(std::int32_t slot) {
  Request& request = (*requests_)[slot];
  const std::int32_t before = request.previous_prefilling, behind = request.next_prefilling;
  (before >= 0 ? (*requests_)[before].next_prefilling : view_.prefilling_head) = behind;
  (behind >= 0 ? (*requests_)[behind].previous_prefilling : view_.prefilling_tail) = before;
  request.next_prefilling = request.previous_prefilling = -1;
  --view_.prefilling;
}

void Replica::insert_waiting(std::int32_t slot, bool front) {
  Request& request = (*requests_)[slot];
  const bool holds = holds_blocks(slot);
  std::int32_t before = front || holds ? last_holder_ : view_.waiting_tail;
  if (keyed_) {
    const auto place = by_key_.emplace(Place(!holds, request.key, request.id), slot).first;
    before = place == by_key_.begin() ? -1 : std::prev(place)->second;
  } else if (holds) {
    last_holder_ = slot;
  }
  const std::int32_t behind = before >= 0 ? (*requests_)[before].next : view_.waiting_head;
  request.previous = before;
  request.next = behind;
  (before >= 0 ? (*requests_)[before].next : view_.waiting_head) = slot;
  (behind >= 0 ? (*requests_)[behind].previous : view_.waiting_tail) = slot;
  request.phase = Phase::waiting;
  ++view_.waiting;
  view_.waiting_tokens += request.prompt_tokens + request.emitted_tokens;
}

void Replica::leave_waiting(std::int32_t slot) {
  const Request& request = (*requests_)[slot];
  if (keyed_) by_key_.erase(Place(!holds_blocks(slot), request.key, request.id));
  if (slot == last_holder_) last_holder_ = request.previous;
  unlink(slot, view_.waiting_head, view_.waiting_tail);
  --view_.waiting;
  view_.waiting_tokens -= request.prompt_tokens + request.emitted_tokens;
}

// --- seats

void Replica::enqueue(std::int32_t slot, Picoseconds now, SchedulerPolicy& policy) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  request.replica = index_;
  request.context_tokens = request.cached_tokens = 0;
  progress.held_blocks = 0;
  progress.planned = progress.preempted = progress.admitted = -1;  // serials are per replica
  if (progress.queued == never) progress.queued = now;
  give_key(slot, policy);
  insert_waiting(slot, false);
  changed_ = true;
}

void Replica::give_key(std::int32_t slot, SchedulerPolicy& policy) {
  Request& request = (*requests_)[slot];
  if (policy.has_key() != keyed_) rekey(policy);
  if (!keyed_) return;
  request.key = policy.key(request);
  if (std::isnan(request.key))
    throw Error("scheduler", "key: found nan for request " + std::to_string(request.id));
}

void Replica::rekey(SchedulerPolicy& policy) {
  std::vector<std::int32_t> slots;
  for (std::int32_t slot = view_.waiting_head; slot >= 0; slot = request(slot).next)
    slots.push_back(slot);
  for (const std::int32_t slot : slots) leave_waiting(slot);
  keyed_ = policy.has_key();
  for (const std::int32_t slot : slots) {
    if (keyed_) (*requests_)[slot].key = policy.key(request(slot));
    insert_waiting(slot, false);
  }
  changed_ = true;
}

void Replica::take_seat(std::int32_t slot, KvCache::Hit hit, std::int32_t ready_tokens,
                        std::int32_t blocks, Picoseconds now) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  leave_waiting(slot);
  if (progress.held_blocks > 0) {
    kv_.grow(slot, blocks - progress.held_blocks);
  } else {
    kv_.seat(slot, hit, blocks - hit.blocks);
  }
  progress.held_blocks = blocks;
  progress.remote_tokens = 0;
  progress.seat = seats_given_++;
  if (progress.scheduled == never) {
    progress.scheduled = now;
    progress.first_hit_tokens = ready_tokens;
  }
  request.cached_tokens = ready_tokens;
  request.context_tokens = ready_tokens;
  request.phase = Phase::prefilling;
  append_running(slot);
  append_prefilling(slot);
}

/// Out of the lists and the decoding aggregate; blocks stay.
void Replica::leave_seat(std::int32_t slot) {
  switch ((*requests_)[slot].phase) {
    case Phase::decoding:
      if (requests_->progress(slot).token_from < decode_index_) own_pace_from_now(slot);
      leave_decoders(slot);
      break;
    case Phase::prefilling:
      leave_prefilling(slot);
      break;
    case Phase::draining:
      --view_.draining;
      break;
    default:
      ROOFLUA_ASSERT(false);
  }
  unlink(slot, view_.running_head, view_.running_tail);
  --view_.running;
}

void Replica::release_blocks(std::int32_t slot, std::int32_t granted_blocks, bool returns) {
  const Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  kv_.release(slot, request, progress, progress.held_blocks + granted_blocks,
              request.context_tokens / config_.block_size, returns);
  progress.held_blocks = 0;
  sync_blocks();
}

/// Preemption. `granted_blocks` were taken for it in the plan at hand.
void Replica::lose_seat(std::int32_t slot, std::int32_t granted_blocks, std::int64_t serial) {
  Request& request = (*requests_)[slot];
  Progress& progress = requests_->progress(slot);
  const bool drains = request.phase == Phase::draining;
  leave_seat(slot);
  const std::int64_t sequence = request.prompt_tokens + request.emitted_tokens;
  const bool fits = blocks_for(sequence, config_.block_size) <= config_.kv_blocks;
  release_blocks(slot, granted_blocks, !drains && fits);
  progress.preempted = serial;
  request.context_tokens = request.cached_tokens = 0;
  request.phase = Phase::pending;
  if (drains) return;
  ++request.preemptions;
  if (fits) {
    insert_waiting(slot, true);
  } else {
    doom(slot, Outcome::exceeds_kv_cache);
  }
}

void Replica::doom(std::int32_t slot, Outcome outcome) {
  (*requests_)[slot].phase = Phase::pending;
  doomed_.push_back({slot, outcome});
}

void Replica::evict(std::int32_t slot) {
  if ((*requests_)[slot].phase == Phase::waiting) {
    quit_waiting(slot);
  } else {
    leave_seat(slot);
    release_blocks(slot, 0, false);
  }
  (*requests_)[slot].phase = Phase::pending;
  changed_ = true;
}

// --- planning

bool Replica::must_ask(const SchedulerPolicy& policy, Picoseconds now) const {
  if (changed_ || !repeatable_ || now >= wake_ || view_.decodes == 0) return true;
  if (crossings_now() > kv_.free_blocks() || policy.every_step()) return true;
  // Who waits may hit a block that a decoding request fills now.
  return view_.waiting > 0 && !fillers_.empty() &&
         !fillers_[static_cast<std::size_t>(phase_)].empty();
}

Plan& Replica::make_plan(SchedulerPolicy& policy, Picoseconds now) {
  view_.now_s = seconds(now);
  view_.requests = requests_->data();
  view_.slots = requests_->slots();
  plan_.reset(now, plans_++);
  plan_.policy_ = &policy;
  changed_ = false;
  wake_ = never;
  policy.plan(*this, plan_);
  plan_.policy_ = nullptr;
  if (plan_.walking_) plan_.answer(plan_.refuse("plan", Refusal::victim_expected, -1));
  const PlanView& made = plan_.view_;
  if (made.wake_s >= 0) wake_ = picoseconds(made.wake_s, "scheduler: wake_at");
  repeatable_ = plan_.whole_ && plan_.singles_.empty() && made.prefills == 0 &&
                made.preempted == 0 && made.rejected == 0;
  if (made.preempted > 0 || made.rejected > 0) changed_ = true;
  return plan_;
}

Plan& Replica::repeat_plan(Picoseconds now) {
  view_.now_s = seconds(now);
  plan_.reset(now, plans_++);
  kv_.take(crossings_now());
  sync_blocks();
  fill_all(plan_.serial_);
  plan_.whole_ = true;
  plan_.view_.tokens = plan_.view_.decodes = view_.decodes;
  return plan_;
}

const Batch& Replica::batch_of(Plan& plan) {
  batch_ = Batch{};
  batch_.origin = this;
  batch_.replica = index_;
  batch_.prefills = plan.prefills_.data();
  batch_.prefill_count = static_cast<std::int32_t>(plan.prefills_.size());
  batch_.decodes = plan.view_.decodes;
  batch_.tokens = plan.view_.tokens;
  batch_.requests = batch_.decodes + batch_.prefill_count;
  batch_.sampled = batch_.decodes;
  for (const PrefillWork& work : plan.prefills_) batch_.sampled += work.completes;
  if (plan.whole_) {
    batch_.decode_context_tokens = view_.decode_context_tokens;
  } else if (batch_.decodes > 0) {
    const std::int32_t* contexts = decode_contexts(batch_);
    for (std::int32_t i = 0; i < batch_.decodes; ++i) batch_.decode_context_tokens += contexts[i];
  }
  return batch_;
}

const std::int32_t* decode_contexts(const Batch& batch) noexcept {
  if (batch.contexts != nullptr || batch.origin == nullptr) return batch.contexts;
  const Replica& replica = *batch.origin;
  std::vector<std::int32_t>& contexts = replica.contexts_;
  contexts.clear();
  for (std::int32_t slot = replica.view_.running_head; slot >= 0;
       slot = replica.request(slot).next) {
    const Request& request = replica.request(slot);
    if (request.phase == Phase::decoding && replica.plan_.planned(slot))
      contexts.push_back(context_tokens(replica.view_, request));
  }
  return contexts.data();
}

std::vector<std::int32_t> decode_ids(const Batch& batch) {
  std::vector<std::int32_t> ids;
  if (batch.origin == nullptr) return ids;
  const Replica& replica = *batch.origin;
  for (std::int32_t slot = replica.view_.running_head; slot >= 0;
       slot = replica.request(slot).next) {
    const Request& request = replica.request(slot);
    if (request.phase == Phase::decoding && replica.plan_.planned(slot)) ids.push_back(request.id);
  }
  return ids;
}

std::int32_t decode_context_max(const Batch& batch) noexcept {
  if (batch.decodes == 0) return 0;
  const std::int32_t* contexts = decode_contexts(batch);
  if (contexts != nullptr) return *std::max_element(contexts, contexts + batch.decodes);
  return static_cast<std::int32_t>(std::ceil(batch.decode_context_tokens / batch.decodes));
}

}  // namespace rooflua
