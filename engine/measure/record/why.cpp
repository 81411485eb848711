#include "measure/record/why.h"

#include <algorithm>

#include "serve/replica/replica.h"

namespace rooflua {

namespace {

bool worked(LatencyHeading w) {
  return w == LatencyHeading::prefill || w == LatencyHeading::recompute ||
         w == LatencyHeading::decode || w == LatencyHeading::decode_mixed;
}

bool waits(LatencyHeading w) {
  return w == LatencyHeading::queue_prefill || w == LatencyHeading::queue_decode ||
         w == LatencyHeading::preempted;
}

std::size_t bound_of(const StepPrice& price) {
  const auto bound = static_cast<std::size_t>(price.bound);
  return bound < bound_count ? bound : 0;
}

/// Divides `whole` by weights; the parts add up to it exactly.
template <class Weights, class Weight, class Give>
void divide(Picoseconds whole, const Weights& weights, Weight weight, Give give) {
  double total = 0, sum = 0;
  for (const auto& each : weights) total += weight(each);
  Picoseconds given = 0;
  std::size_t left = weights.size();
  for (const auto& each : weights) {
    sum += weight(each);
    const bool last = --left == 0;
    const Picoseconds upto =
        last ? whole : static_cast<Picoseconds>(static_cast<double>(whole) * (sum / total));
    give(each, upto - given);
    given = upto;
  }
}

}  // namespace

void WhyObserver::pass(LatencyHeading heading, Picoseconds until) {
  if (until <= since_) return;
  why_.time[static_cast<std::size_t>(heading)] += until - since_;
  since_ = until;
}

/// Of the time in which its replica runs nothing.
LatencyHeading WhyObserver::between_steps() const {
  if (phase_ == Phase::loading) return LatencyHeading::load;
  return phase_ == Phase::preempted ? LatencyHeading::preempted : LatencyHeading::queue_idle;
}

void WhyObserver::on_arrival(const Request& request, Picoseconds now) {
  if (request.id == request_) since_ = now;
}

void WhyObserver::on_held(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(LatencyHeading::frontend, now);
  is_held_ = true;
}

void WhyObserver::on_passed(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(LatencyHeading::held, now);
  is_held_ = false;
}

void WhyObserver::on_queued(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(phase_ == Phase::waiting ? between_steps() : LatencyHeading::frontend, now);
  replica_ = request.replica;
  phase_ = Phase::waiting;
  has_rank_ = request.phase != rooflua::Phase::pending;
}

void WhyObserver::on_preempt(const Request& request, Picoseconds) {
  if (request.id != request_) return;
  // The token that was sampled last has no KV.
  if (phase_ == Phase::decoding)
    reached_ = std::max(reached_, request.prompt_tokens + request.emitted_tokens - 1);
  phase_ = Phase::preempted;
  ++why_.lost_seats;
  for (Planned& each : planned_[replica_]) each.seat_was_lost = true;
}

LatencyHeading WhyObserver::during(const StepDone& step, const Planned* planned) const {
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_) continue;
    return prefill.context_tokens < reached_ ? LatencyHeading::recompute : LatencyHeading::prefill;
  }
  if (planned != nullptr && planned->works)
    return step.prefills.empty() ? LatencyHeading::decode : LatencyHeading::decode_mixed;
  switch (phase_) {
    case Phase::preempted:
      return LatencyHeading::preempted;
    case Phase::loading:
      return LatencyHeading::load;
    case Phase::seated:
      return LatencyHeading::prefill_stalled;
    case Phase::decoding: {
      const bool skipped =
          step.batch->decodes == 0 ||
          std::find(step.skipped.begin(), step.skipped.end(), request_) != step.skipped.end();
      if (skipped) return LatencyHeading::decode_stalled;
      return step.prefills.empty() ? LatencyHeading::decode : LatencyHeading::decode_mixed;
    }
    case Phase::waiting:
    case Phase::away:
      break;
  }
  if (step.empty()) return LatencyHeading::queue_ranks;
  return step.prefills.empty() ? LatencyHeading::queue_decode : LatencyHeading::queue_prefill;
}

/// What is known of the step that ends now: nothing if it was planned before this observer began.
std::optional<WhyObserver::Planned> WhyObserver::landed(const StepDone& step) {
  const auto found = planned_.find(step.replica);
  if (found == planned_.end() || found->second.empty()) return std::nullopt;
  if (found->second.front().serial > step.serial) return std::nullopt;
  std::optional<Planned> out = std::move(found->second.front());
  found->second.pop_front();
  return out;
}

void WhyObserver::on_step(const StepDone& step) {
  const std::optional<Planned> planned = landed(step);
  if (step.replica != replica_ || phase_ == Phase::away || step.end <= since_) return;
  const bool in_stages = step.price->stages > 1;
  const bool works = planned && planned->works;
  if (in_stages && !works && is_under_way()) return;  // its own step is in another stage
  pass(between_steps(), in_stages && works ? step.planned : step.start);
  const LatencyHeading heading = during(step, planned ? &*planned : nullptr);
  ++why_.steps[static_cast<std::size_t>(heading)];
  const Picoseconds part = step.end - since_;
  const double part_s = seconds(part);
  pass(heading, step.end);
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_ || (planned && planned->seat_was_lost)) continue;
    phase_ = prefill.completes != 0 ? Phase::decoding : Phase::seated;
    if (phase_ == Phase::decoding && !first_token_) note_first_token();
    reached_ = std::max(reached_, prefill.context_tokens + prefill.new_tokens);
  }
  if (planned && waits(heading)) count_waiting(step, *planned, part);
  if (!worked(heading)) return;
  if (planned) {
    const Picoseconds waited = in_stages ? count_stages(step, heading, part) : 0;
    divide(
        part - waited, planned->ops, [](const OpTime& op) { return op.time_s; },
        [&](const OpTime& op, Picoseconds time) {
          why_.ops[{heading, op.name, op.evidence}] += time;
        });
  }
  const StepPrice& price = *step.price;
  why_.bound_s[bound_of(price)] += part_s;
  for (int i = 0; i < evidence_count && price.time_s > 0; ++i) {
    why_.evidence.seconds[i] += price.evidence_s[i] * (part_s / price.time_s);
  }
}

PassedStep::PassedStep(const StepDone& step, const PassedStep* before)
    : start(step.start), end(step.end), bound(bound_of(*step.price)), price(*step.price) {
  const bool alone = step.prefills.empty();
  waiting = alone ? LatencyHeading::queue_decode : LatencyHeading::queue_prefill;
  if (step.empty()) waiting = LatencyHeading::queue_ranks;
  decoding = alone ? LatencyHeading::decode : LatencyHeading::decode_mixed;
  if (step.batch->decodes == 0) decoding = LatencyHeading::decode_stalled;
  part_s = seconds(end - start);
  for (int i = 0; i < evidence_count && price.time_s > 0; ++i)
    evidence_s[i] = price.evidence_s[i] * (part_s / price.time_s);
  if (before != nullptr && continues(*before)) stretch = before->stretch + 1;
}

bool PassedStep::continues(const PassedStep& before) const {
  return start == before.end && end > start && before.end > before.start && worked(decoding) &&
         decoding == before.decoding && bound == before.bound;
}

LatencyHeading WhyObserver::during(const PassedStep& step) const {
  if (phase_ == Phase::decoding) return step.decoding;
  if (phase_ == Phase::seated) return LatencyHeading::prefill_stalled;
  if (phase_ == Phase::loading) return LatencyHeading::load;
  return phase_ == Phase::preempted ? LatencyHeading::preempted : step.waiting;
}

void WhyObserver::on_passed(std::span<const PassedStep> steps) {
  if (phase_ == Phase::away) return;
  while (!steps.empty()) {
    const bool whole = steps.front().start == since_ && steps.front().end > since_;
    std::size_t count = 1;
    if (phase_ == Phase::decoding && whole && worked(steps.front().decoding)) {
      count = on_stretch(steps);
    } else {
      on_passed(steps.front());
    }
    steps = steps.subspan(count);
  }
}

void WhyObserver::on_passed(const PassedStep& step) {
  if (step.end <= since_) return;
  pass(between_steps(), step.start);
  const LatencyHeading heading = during(step);
  ++why_.steps[static_cast<std::size_t>(heading)];
  const bool whole = since_ == step.start;
  const double part_s = whole ? step.part_s : seconds(step.end - since_);
  pass(heading, step.end);
  if (!worked(heading)) return;
  why_.bound_s[step.bound] += part_s;
  for (int i = 0; i < evidence_count && step.price.time_s > 0; ++i) {
    why_.evidence.seconds[i] +=
        whole ? step.evidence_s[i] : step.price.evidence_s[i] * (part_s / step.price.time_s);
  }
}

/// The same for the first steps, as many as are of one stretch. Seconds are added step by step,
/// because sums of doubles depend on their order. @returns how many
std::size_t WhyObserver::on_stretch(std::span<const PassedStep> steps) {
  const PassedStep& first = steps.front();
  std::size_t count = steps.size();
  if (steps.back().stretch < count - 1) {  // it is of another stretch
    count = 1;
    while (steps[count].stretch > first.stretch) ++count;
  }
  double& bound_s = why_.bound_s[first.bound];
  double sum_s = bound_s;
  EvidenceSeconds evidence = why_.evidence;
  for (const PassedStep& step : steps.first(count)) {
    sum_s += step.part_s;
    for (int i = 0; i < evidence_count; ++i) evidence.seconds[i] += step.evidence_s[i];
  }
  bound_s = sum_s;
  why_.evidence = evidence;
  why_.steps[static_cast<std::size_t>(first.decoding)] += static_cast<std::int64_t>(count);
  pass(first.decoding, steps[count - 1].end);
  return count;
}

/// Whether a step of several stages that works for the request has not ended.
bool WhyObserver::is_under_way() const {
  const auto found = planned_.find(replica_);
  return found != planned_.end() && std::any_of(found->second.begin(), found->second.end(),
                                                [](const Planned& each) { return each.works; });
}

/// What the step waited for stages that were busy with other steps, with the evidence that most of
/// its own time has.
Picoseconds WhyObserver::count_stages(const StepDone& step, LatencyHeading heading,
                                      Picoseconds part) {
  const StepPrice& price = *step.price;
  const Picoseconds waited = part - picoseconds(price.time_s, "step");
  if (waited <= 0) return 0;
  const auto most = std::max_element(std::begin(price.evidence_s), std::end(price.evidence_s));
  const auto evidence = static_cast<Evidence>(most - std::begin(price.evidence_s));
  why_.ops[{heading, "wait_for_stages", evidence}] += waited;
  return waited;
}

void WhyObserver::note_first_token() {
  first_token_ = since_;
  why_.time_to_first = why_.time;
}

/// A step that the request waited through: the reason, and the requests that were served.
void WhyObserver::count_waiting(const StepDone& step, const Planned& planned, Picoseconds part) {
  std::vector<std::pair<std::int32_t, double>> holders = planned.holders;
  if (!planned.waited) {
    for (const PrefillWork& prefill : step.prefills)
      holders.emplace_back(prefill.id, prefill.new_tokens);
    if (step.batch->decodes > 0) holders.emplace_back(Why::anybody, step.batch->decode_tokens);
  }
  if (holders.empty()) holders.emplace_back(Why::anybody, 1.0);
  const WaitReason held = planned.waited ? planned.held : WaitReason::pipeline;
  why_.held[static_cast<std::size_t>(held)] += part;
  divide(
      part, holders, [](const auto& holder) { return holder.second; },
      [&](const auto& holder, Picoseconds time) { why_.behind[holder.first] += time; });
}

bool WhyObserver::works_for_it(const Batch& batch) const {
  if (batch.replica != replica_) return false;
  for (std::int32_t i = 0; i < batch.prefill_count; ++i) {
    if (batch.prefills[i].id == request_) return true;
  }
  if (phase_ == Phase::away || batch.decodes == 0) return false;
  const std::vector<std::int32_t> ids = decode_ids(batch);
  return std::find(ids.begin(), ids.end(), request_) != ids.end();
}

PriceDetail WhyObserver::wanted_detail(const Batch& batch) const {
  return works_for_it(batch) ? PriceDetail::operations : PriceDetail::time;
}

void WhyObserver::on_priced(const StepPriced& step) {
  const Batch& batch = step.batch;
  Planned out;
  out.serial = step.serial;
  out.works = works_for_it(batch);
  if (out.works) out.ops.assign(step.operations.begin(), step.operations.end());
  if (out.works && out.ops.empty()) out.ops.push_back({"unrecorded", Evidence::assumed, 1});
  if (batch.replica == replica_ && (phase_ == Phase::waiting || phase_ == Phase::preempted))
    find_holders(step, out);
  planned_[batch.replica].push_back(std::move(out));
}

void WhyObserver::find_holders(const StepPriced& step, Planned& out) const {
  const Batch& batch = step.batch;
  const Replica& replica = step.replica;
  const ReplicaView& view = replica.view();
  std::vector<std::pair<std::int32_t, double>> ahead, seats, contexts, work;
  std::int32_t slot = view.waiting_head;
  for (; slot >= 0 && replica.request(slot).id != request_; slot = replica.request(slot).next)
    ahead.emplace_back(replica.request(slot).id, 1.0);
  if (slot < 0 && has_rank_) return;
  for (std::int32_t s = view.running_head; s >= 0; s = replica.request(s).next) {
    const Request& holder = replica.request(s);
    seats.emplace_back(holder.id, 1.0);
    contexts.emplace_back(holder.id, std::max(1, context_tokens(view, holder)));
  }
  const std::vector<std::int32_t> decodes = decode_ids(batch);
  const std::int32_t* widths = decode_widths(batch);
  for (std::size_t i = 0; i < decodes.size(); ++i) work.emplace_back(decodes[i], widths[i]);
  for (std::int32_t i = 0; i < batch.prefill_count; ++i)
    work.emplace_back(batch.prefills[i].id, batch.prefills[i].new_tokens);
  const auto because = [&](WaitReason held, auto& holders) {
    out.waited = true;
    out.held = held;
    out.holders = std::move(holders);
  };
  if (!has_rank_ || (view.max_num_seqs > 0 && view.seats >= view.max_num_seqs))
    return because(WaitReason::seats, seats);
  if (view.max_num_batched_tokens > 0 && batch.tokens >= view.max_num_batched_tokens)
    return because(WaitReason::budget, work);
  if (!replica.plan().preempted().empty()) return because(WaitReason::preempting, contexts);
  if (view.free_blocks < replica.missing_blocks(slot)) return because(WaitReason::cache, contexts);
  if (!ahead.empty()) return because(WaitReason::order, ahead);
  because(WaitReason::choice, work);
}

/// It waits aside. One that loads layer by layer does not: its steps take longer.
void WhyObserver::on_load(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(between_steps(), now);
  phase_ = Phase::loading;
}

void WhyObserver::on_loaded(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(LatencyHeading::load, now);
  phase_ = Phase::waiting;
}

void WhyObserver::on_transfer(const TransferSeen& transfer) {
  if (transfer.id != request_ || transfer.store >= 0 || transfer.is_pushed) return;
  pass(LatencyHeading::queue_idle, transfer.start);
  pass(LatencyHeading::transfer, transfer.end);
  replica_ = transfer.to;
  phase_ = Phase::waiting;
}

void WhyObserver::on_computed(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(phase_ == Phase::waiting ? between_steps() : LatencyHeading::prefill, now);
  phase_ = Phase::away;
}

void WhyObserver::on_kv(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(LatencyHeading::transfer, now);
  replica_ = request.replica;
  phase_ = Phase::waiting;
}

void WhyObserver::on_done(const RequestDone& done) {
  if (done.id != request_) return;
  if (since_ > done.now) {  // it was aborted, and its KV is on its way
    why_.time[static_cast<std::size_t>(LatencyHeading::transfer)] -= since_ - done.now;
    since_ = done.now;
  }
  if (is_held_) pass(LatencyHeading::held, done.now);
  pass(LatencyHeading::frontend, done.last_token == never ? done.now : done.last_token);
  phase_ = Phase::away;
  // The time from the end of that step to the client is the frontend's.
  if (first_token_ && done.first_token != never) {
    auto& frontend = why_.time_to_first[static_cast<std::size_t>(LatencyHeading::frontend)];
    frontend += done.first_token - *first_token_;
  }
  why_.done = done;
  answer_ = why_;
}

}  // namespace rooflua
