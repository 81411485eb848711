#include "serve/replica/replica.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace rooflua {

void Replica::rebind(Requests& requests) {
  ReplicaState::rebind(requests);
  batch_.origin = this;
}

// --- planning

bool Replica::must_ask(const SchedulerPolicy& policy, Picoseconds now) const {
  if (changed_ || !repeatable_ || now >= wake_ || view().decodes == 0) return true;
  if (is_ragged()) return policy.every_step() || must_ask_ragged();
  if (pool_.blocks_needed() > kv_.free_blocks() || policy.every_step()) return true;
  // A waiting request may hit a block that a decoding request fills now.
  return view().waiting > 0 && pool_.any_filling();
}

StepPlan& Replica::make_plan(SchedulerPolicy& policy, Picoseconds now) {
  board_.view.now_s = seconds(now);
  board_.view.requests = board_.requests->data();
  board_.view.slots = board_.requests->slots();
  changed_ = false;
  wake_ = never;
  plan_.begin(*this, policy, now, plans_++);
  policy.plan(*this, plan_);
  plan_.end();
  const PlanView& made = plan_.view();
  if (made.wake_s >= 0) wake_ = picoseconds(made.wake_s, "scheduler: wake_at");
  // Whether a waiting request can load depends on stores, and on what the blocks of decodes push
  // out of the cache, as does how many tokens of one with items fit: it may be admitted now where
  // it was not before.
  const bool may_load = (tiers() != nullptr || items() != nullptr) && view().waiting > 0;
  repeatable_ = plan_.is_decode_all() && !policy.every_step() && !may_load;
  // What adapters began with this plan is counted once.
  if (adapters_ && (plan_.held() > 0 || adapters_->loads().count > 0)) repeatable_ = false;
  asked_tokens_ = made.tokens;
  if (made.preempted > 0 || made.rejected > 0) changed_ = true;
  if (watches_waits_) look_at_queue();
  return plan_;
}

/// Whether blocks are what keeps the first request of the queue out, not seats or tokens.
void Replica::look_at_queue() {
  const ReplicaView& on = view();
  const std::int32_t first = on.waiting_head;
  const bool is_full = (on.max_num_seqs > 0 && on.seats >= on.max_num_seqs) ||
                       (on.max_num_batched_tokens > 0 && asked_tokens_ >= on.max_num_batched_tokens);
  lacks_blocks_ = first >= 0 && !is_full && on.free_blocks < missing_blocks(first);
}

StepPlan& Replica::repeat_plan(Picoseconds now) {
  board_.view.now_s = seconds(now);
  is_ragged() ? plan_.repeat(*this, now, plans_++, wish_, takers_)
              : plan_.repeat(*this, now, plans_++);
  return plan_;
}

const Batch& Replica::batch_of_plan() {
  const std::vector<PrefillWork>& prefills = plan_.prefills();
  // Clearing all of it takes as long as the rest: else it is as the first batch left it.
  if (is_ragged() || pool_.bounded().used()) batch_ = Batch{};
  batch_.decode_context_tokens = 0;
  batch_.group_ranks = 1;
  batch_.origin = this;
  batch_.replica = view().index;
  batch_.prefills = prefills.data();
  batch_.prefill_count = static_cast<std::int32_t>(prefills.size());
  batch_.decodes = plan_.view().decodes;
  batch_.tokens = plan_.view().tokens;
  batch_.requests = batch_.decodes + batch_.prefill_count;
  batch_.sampled = batch_.decodes;
  for (const PrefillWork& work : prefills) batch_.sampled += work.completes;
  batch_.group_tokens = batch_.group_max_tokens = batch_.tokens;
  batch_.group_prefills = batch_.prefill_count > 0;
  if (adapters_) sum_adapters();
  if (is_ragged()) {
    sum_rows();
    return batch_;
  }
  const BoundedContexts& bounded = pool_.bounded();
  if (plan_.decodes_everyone()) {
    batch_.decode_context_tokens = view().decode_context_tokens;
    if (bounded.used()) bounded.sum_all(batch_);
  } else if (batch_.decodes > 0) {
    const std::int32_t* contexts = planned_decode_contexts();
    for (std::int32_t i = 0; i < batch_.decodes; ++i) batch_.decode_context_tokens += contexts[i];
    if (bounded.used()) bounded.sum_of(contexts, batch_);
  }
  batch_.decode_tokens = batch_.decodes;
  batch_.decode_pairs = batch_.decode_context_tokens + batch_.decodes;
  return batch_;
}

const std::int32_t* Replica::planned_decode_contexts() const {
  contexts_.clear();
  if (is_ragged()) {
    for (const std::int32_t slot : planned_slots())
      contexts_.push_back(as_known_ ? request(slot).context_tokens
                                    : board_.ragged(slot).true_context);
    return contexts_.data();
  }
  const bool all = plan_.decodes_everyone();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    if (request(slot).phase == Phase::decoding && (all || plan_.holds(slot)))
      contexts_.push_back(context_tokens(view(), request(slot)));
  }
  return contexts_.data();
}

std::vector<std::int32_t> Replica::planned_decode_ids() const {
  std::vector<std::int32_t> ids;
  const bool all = plan_.decodes_everyone();
  for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
    if (request(slot).phase == Phase::decoding && (all || plan_.holds(slot)))
      ids.push_back(request(slot).id);
  }
  return ids;
}

const std::int32_t* Replica::planned_decode_widths() const {
  widths_.assign(static_cast<std::size_t>(plan_.view().decodes), 1);
  if (plan_.implies_rows()) {
    const std::span<const std::int32_t> members = ragged_->members();
    for (std::size_t i = 0; i < members.size(); ++i)
      widths_[i] = 1 + board_.ragged(members[i]).drafts;
  }
  for (std::size_t i = 0; i < plan_.rows().size(); ++i) widths_[i] = plan_.rows()[i].tokens();
  return widths_.data();
}

const std::int32_t* decode_widths(const Batch& batch) noexcept {
  if (batch.widths != nullptr || batch.origin == nullptr) return batch.widths;
  return batch.origin->planned_decode_widths();
}

const std::int32_t* decode_contexts(const Batch& batch) noexcept {
  if (batch.contexts != nullptr || batch.origin == nullptr) return batch.contexts;
  return batch.origin->planned_decode_contexts();
}

std::vector<std::int32_t> decode_ids(const Batch& batch) {
  if (batch.origin == nullptr) return {};
  return batch.origin->planned_decode_ids();
}

std::int32_t decode_context_max(const Batch& batch) noexcept {
  if (batch.decodes == 0) return 0;
  const std::int32_t* contexts = decode_contexts(batch);
  if (contexts != nullptr) return *std::max_element(contexts, contexts + batch.decodes);
  return static_cast<std::int32_t>(std::ceil(batch.decode_context_tokens / batch.decodes));
}

// --- commit

void Replica::commit(const StepPrice& price, Picoseconds now) {
  if (flight_) return send_off(price, now);
  Step& step = pipeline_.append();
  describe(step, price, now);
  if (plan_.view().tokens == 0) {
    step.rows.clear();
    return;
  }
  if (is_ragged()) {
    advance_rows(step);
  } else if (plan_.decodes_everyone() || plan_.walked()) {
    advance_all(step);
  } else if (!plan_.singles().empty()) {
    advance_singles(step);
  }
  advance_prefills(step);
  if (is_ragged()) first_drafts(step);
  by_admission(step.ending);
  if (!step.prefills.empty()) changed_ = true;
  step.plain = !is_ragged() && plan_.decodes_everyone() && step.own_gaps.empty() &&
               step.stamps.empty() && step.ending.empty() && step.fills.empty() &&
               step.prefills.empty() && step.filled.empty() && step.batch.adapter_loads == 0 &&
               step.batch.adapter_held == 0 && step.batch.expert_stall_s == 0 &&
               step.batch.expert_moved_bytes == 0 && step.batch.expert_rebalanced == 0;
}

/// What the step consists of, as the plan says.
void Replica::describe(Step& step, const StepPrice& price, Picoseconds now) {
  plan_.move_prefills(step.prefills);
  if (!filled_.empty()) {
    std::sort(filled_.begin(), filled_.end(), [this](const Filled& a, const Filled& b) {
      return board_.progress(a.slot).seat < board_.progress(b.slot).seat;
    });
    step.filled.swap(filled_);
  }
  step.serial = plan_.serial();
  step.planned = now;
  step.batch = batch_;
  step.batch.origin = nullptr;
  step.batch.bounds = nullptr;
  step.price = price;
  step.waiting = queued();
  step.running = view().seats;
  step.used_blocks = kv_.used_blocks();
  step.lacks_blocks = lacks_blocks_;
  if (!is_ragged()) return;
  step.drafted = step.accepted = step.overshoot = 0;
  step.accepted_counts.assign(static_cast<std::size_t>(widest_) + 1, 0);
}

void Replica::by_admission(std::vector<std::int32_t>& slots) const {
  if (slots.size() < 2) return;
  std::sort(slots.begin(), slots.end(), [this](std::int32_t a, std::int32_t b) {
    return board_.progress(a).seat < board_.progress(b).seat;
  });
}

/// All decoding requests advance, without those that decode_all did not reach.
void Replica::advance_all(Step& step) {
  std::vector<std::int32_t> left_out;
  if (plan_.walked() && plan_.view().decodes < view().decodes) {
    for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
      if (request(slot).phase != Phase::decoding || plan_.holds(slot)) continue;
      leave_common_pace(slot);
      left_out.push_back(slot);
      step.skipped.push_back(request(slot).id);
    }
  }
  for (const std::int32_t slot : pool_.newcomers()) {
    if (plan_.holds(slot)) step.own_gaps.push_back(slot);
  }
  step.decode_index = pool_.index();
  for (const std::int32_t slot : pool_.advance(left_out)) plan_last_token(slot, step);
}

void Replica::advance_singles(Step& step) {
  if (static_cast<std::int32_t>(plan_.singles().size()) < view().decodes) {
    for (std::int32_t slot = view().running_head; slot >= 0; slot = request(slot).next) {
      if (request(slot).phase == Phase::decoding && !plan_.holds(slot))
        step.skipped.push_back(request(slot).id);
    }
  }
  for (const std::int32_t slot : plan_.singles()) {
    leave_common_pace(slot);
    step.own_gaps.push_back(slot);
    step.stamps.push_back(slot);
    if (pool_.advance_alone(slot)) plan_last_token(slot, step);
  }
}

void Replica::advance_prefills(Step& step) {
  for (const PrefillWork& work : step.prefills) {
    Request& request = board_.request(work.slot);
    request.context_tokens += work.new_tokens;
    if (work.completes == 0) continue;
    ++request.emitted_tokens;
    const Progress& progress = board_.progress(work.slot);
    const bool last = request.emitted_tokens >= progress.stop_at;
    if (request.emitted_tokens < progress.limit) {
      seats_.end_prefill(work.slot);
      const bool shares = shares_output(work.slot);
      is_ragged() ? ragged_->join(work.slot, shares) : pool_.join(work.slot, shares);
    }
    if (last) plan_last_token(work.slot, step);
  }
  if (config_.content_from != ContentFrom::plan) land_chunks(step.prefills, false);
}

/// The step holds the last token of the request, by its end token or by its limit. By its limit it
/// is not planned again; by its end token it goes on like all others until that token lands.
void Replica::plan_last_token(std::int32_t slot, Step& step) {
  const Progress& progress = board_.progress(slot);
  const std::int32_t emitted = emitted_tokens(view(), request(slot));
  if (emitted == progress.stop_at) step.ending.push_back(slot);
  if (emitted == progress.limit) return finish(slot);
  if (is_ragged()) return;
  pool_.prolong(slot, progress.limit - progress.stop_at);
}

void Replica::finish(std::int32_t slot) {
  if (request(slot).phase == Phase::decoding)
    is_ragged() ? ragged_->leave(slot) : pool_.leave(slot);
  leave_adapter(slot);
  seats_.finish(slot);
  changed_ = true;
}

// --- the end of a step
//
// A request ends by its limit or by its end token. The first can be foreseen: the request is not
// planned again once its last token is in flight. The second cannot: the request is planned as one
// that goes on until the token lands, so that with async_depth 2 the step after may hold one more
// row of it, which costs what a row costs and is discarded.   @source SERVING A1.7

StepDone Replica::land(Picoseconds now, bool keep_blocks, std::vector<Picoseconds>& gaps,
                       std::vector<std::int32_t>& ended) {
  ROOFLUA_ASSERT(pipeline_.executing() && pipeline_.front().end == now);
  gaps.clear();
  Pipeline::CommonGap common = pipeline_.stamp_decodes(*board_.requests, now, gaps);
  if (!keep_blocks) pipeline_.stamp_prefills(*board_.requests, now, gaps);
  if (is_ragged()) common = land_rows(pipeline_.front(), now, gaps);
  if (config_.content_from != ContentFrom::plan) land_chunks(pipeline_.front().prefills, true);
  finished_ids_.clear();
  ended.clear();
  ended.swap(pipeline_.at(0).ending);
  // Request by request in the order of admission: a state takes what the one in front gave back.
  // @source vLLM v1/core/sched/scheduler.py, update_from_output
  by_admission(pipeline_.at(0).fills);
  std::span<const std::int32_t> fills = pipeline_.front().fills;
  for (const std::int32_t slot : ended) {
    fills = land_fills(fills, board_.progress(slot).seat);
    if (!keep_blocks) board_.progress(slot).last_token = now;
    finished_ids_.push_back(request(slot).id);
    end(slot, keep_blocks);
    changed_ = true;
  }
  land_fills(fills, std::numeric_limits<std::int64_t>::max());
  if (flight_) come_back(pipeline_.front());
  if (is_ragged()) tell_landed(pipeline_.at(0), now);
  StepDone done = describe(pipeline_.retire(), common);
  done.other_gaps = gaps;
  return done;
}

StepDone Replica::describe(const Step& step, Pipeline::CommonGap common) const {
  StepDone done{.replica = view().index,
                .serial = step.serial,
                .planned = step.planned,
                .start = step.start,
                .end = step.end,
                .batch = &step.batch,
                .price = &step.price,
                .waiting = step.waiting,
                .running = step.running,
                .used_blocks = step.used_blocks,
                .total_blocks = view().total_blocks,
                .left_blocks = kv_.used_blocks(),
                .lacks_blocks = step.lacks_blocks,
                .max_num_seqs = view().max_num_seqs,
                .max_num_batched_tokens = view().max_num_batched_tokens,
                .common_gap = common.gap,
                .common_gaps = common.count,
                .other_gaps = {},
                .rows = {},
                .accepted_at = {},
                .prefills = {},
                .skipped = {},
                .finished = {},
                .filled = {}};
  if (step.plain) return done;  // no observer needs more
  done.discarded = step.discarded;
  done.speculates = speculator_ != nullptr;
  done.rows = step.rows;
  done.drafted = step.drafted;
  done.accepted = step.accepted;
  done.overshoot = step.overshoot;
  done.accepted_at = accepted_at(step);
  done.prefills = step.prefills;
  done.skipped = step.skipped;
  done.finished = finished_ids_;
  done.filled = step.filled;
  return done;
}

/// The request's last token landed: it leaves from where later plans left it.
void Replica::end(std::int32_t slot, bool keep_blocks) {
  switch (request(slot).phase) {
    case Phase::decoding:
    case Phase::finishing:
    case Phase::in_flight:
      leave_seat(slot);
      if (is_ragged())
        end_ragged(slot);
      else if (request(slot).emitted_tokens > board_.progress(slot).stop_at)
        discard_row(slot);
      if (!keep_blocks) release_blocks(slot, 0, false);
      break;
    case Phase::waiting:  // it was preempted before its end token was known
      leave_queue(slot);
      break;
    default:  // it was preempted, and released its blocks early or could not have come back
      std::erase_if(failing_, [slot](const Failing& each) { return each.slot == slot; });
  }
  board_.request(slot).phase = Phase::pending;
}

/// The step after computes one more token of the request: its KV is no content, and it does not
/// land.
void Replica::discard_row(std::int32_t slot) {
  pipeline_.discard_behind(slot);
  board_.request(slot).context_tokens -= DecodePool::tokens_per_step;
  board_.request(slot).emitted_tokens -= DecodePool::tokens_per_step;
}

}  // namespace rooflua
