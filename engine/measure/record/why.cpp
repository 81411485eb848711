#include "measure/record/why.h"

#include <algorithm>

#include "serve/replica.h"

namespace rooflua {

namespace {

bool worked(Whereabouts w) {
  return w == Whereabouts::prefill || w == Whereabouts::recompute || w == Whereabouts::decode ||
         w == Whereabouts::decode_mixed;
}

bool waits(Whereabouts w) {
  return w == Whereabouts::queue_prefill || w == Whereabouts::queue_decode ||
         w == Whereabouts::preempted;
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

void WhyObserver::pass(Whereabouts whereabouts, Picoseconds until) {
  if (until <= since_) return;
  why_.time[static_cast<std::size_t>(whereabouts)] += until - since_;
  since_ = until;
}

void WhyObserver::on_arrival(const Request& request, Picoseconds now) {
  if (request.id == request_) since_ = now;
}

void WhyObserver::on_queued(const Request& request, Picoseconds now) {
  if (request.id != request_) return;
  pass(Whereabouts::frontend, now);
  replica_ = request.replica;
  phase_ = Phase::waiting;
}

void WhyObserver::on_preempt(const Request& request, Picoseconds) {
  if (request.id != request_) return;
  phase_ = Phase::preempted;
  ++why_.lost_seats;
  for (Planned& each : planned_[replica_]) each.seat_was_lost = true;
}

Whereabouts WhyObserver::during(const StepSeen& step, const Planned* planned) const {
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_) continue;
    return prefill.context_tokens < reached_ ? Whereabouts::recompute : Whereabouts::prefill;
  }
  if (planned != nullptr && planned->works)
    return step.prefills.empty() ? Whereabouts::decode : Whereabouts::decode_mixed;
  switch (phase_) {
    case Phase::preempted:
      return Whereabouts::preempted;
    case Phase::seated:
      return Whereabouts::prefill_stalled;
    case Phase::decoding: {
      const bool skipped =
          step.batch->decodes == 0 ||
          std::find(step.skipped.begin(), step.skipped.end(), request_) != step.skipped.end();
      if (skipped) return Whereabouts::decode_stalled;
      return step.prefills.empty() ? Whereabouts::decode : Whereabouts::decode_mixed;
    }
    case Phase::waiting:
    case Phase::away:
      break;
  }
  return step.prefills.empty() ? Whereabouts::queue_decode : Whereabouts::queue_prefill;
}

/// What was known of the step of this replica that ends now.
std::optional<WhyObserver::Planned> WhyObserver::landed(std::int32_t replica) {
  const auto found = planned_.find(replica);
  if (found == planned_.end() || found->second.empty()) return std::nullopt;
  std::optional<Planned> out = std::move(found->second.front());
  found->second.pop_front();
  return out;
}

void WhyObserver::on_step(const StepSeen& step) {
  const std::optional<Planned> planned = landed(step.replica);
  if (step.replica != replica_ || phase_ == Phase::away || step.end <= since_) return;
  pass(phase_ == Phase::preempted ? Whereabouts::preempted : Whereabouts::queue_idle, step.start);
  const Whereabouts whereabouts = during(step, planned ? &*planned : nullptr);
  ++why_.steps[static_cast<std::size_t>(whereabouts)];
  const Picoseconds part = step.end - since_;
  const double part_s = seconds(part);
  pass(whereabouts, step.end);
  for (const PrefillWork& prefill : step.prefills) {
    if (prefill.id != request_ || (planned && planned->seat_was_lost)) continue;
    phase_ = prefill.completes != 0 ? Phase::decoding : Phase::seated;
    if (phase_ == Phase::decoding && !first_token_) note_first_token();
    reached_ = std::max(reached_, prefill.context_tokens + prefill.new_tokens);
  }
  if (planned && waits(whereabouts)) count_waiting(step, *planned, part);
  if (!worked(whereabouts)) return;
  if (planned) {
    divide(
        part, planned->ops, [](const OpTime& op) { return op.time_s; },
        [&](const OpTime& op, Picoseconds time) {
          why_.ops[{whereabouts, op.name, op.evidence}] += time;
        });
  }
  if (whereabouts == Whereabouts::decode || whereabouts == Whereabouts::decode_mixed) ++reached_;
  const StepPrice& price = *step.price;
  const auto bound = static_cast<std::size_t>(price.bound);
  why_.bound_s[bound < why_.bound_s.size() ? bound : 0] += part_s;
  for (int i = 0; i < evidence_count && price.time_s > 0; ++i) {
    why_.evidence.seconds[i] += price.evidence_s[i] * (part_s / price.time_s);
  }
}

void WhyObserver::note_first_token() {
  first_token_ = since_;
  why_.time_to_first = why_.time;
}

/// A step that it waited through: why, and behind whom.
void WhyObserver::count_waiting(const StepSeen& step, const Planned& planned, Picoseconds part) {
  std::vector<std::pair<std::int32_t, double>> holders = planned.holders;
  if (!planned.waited) {
    for (const PrefillWork& prefill : step.prefills)
      holders.emplace_back(prefill.id, prefill.new_tokens);
    if (step.batch->decodes > 0) holders.emplace_back(Why::anybody, step.batch->decodes);
  }
  if (holders.empty()) holders.emplace_back(Why::anybody, 1.0);
  const Held held = planned.waited ? planned.held : Held::pipeline;
  why_.held[static_cast<std::size_t>(held)] += part;
  divide(
      part, holders, [](const auto& holder) { return holder.second; },
      [&](const auto& holder, Picoseconds time) { why_.behind[holder.first] += time; });
}

bool WhyObserver::works_for_it(const Batch& batch) const {
  if (batch.replica != replica_ || batch.origin == nullptr) return false;
  for (std::int32_t i = 0; i < batch.prefill_count; ++i) {
    if (batch.prefills[i].id == request_) return true;
  }
  if (phase_ == Phase::away || batch.decodes == 0) return false;
  const std::vector<std::int32_t> ids = decode_ids(batch);
  return std::find(ids.begin(), ids.end(), request_) != ids.end();
}

void WhyObserver::planned(const Batch& batch, bool works, std::vector<OpTime> ops) {
  Planned out;
  out.works = works;
  out.ops = std::move(ops);
  if (works && out.ops.empty()) out.ops.push_back({"unrecorded", Evidence::assumed, 1});
  if (batch.replica == replica_ && (phase_ == Phase::waiting || phase_ == Phase::preempted))
    find_holders(batch, out);
  planned_[batch.replica].push_back(std::move(out));
}

void WhyObserver::find_holders(const Batch& batch, Planned& out) const {
  const Replica& replica = *batch.origin;
  const ReplicaView& view = replica.view();
  std::vector<std::pair<std::int32_t, double>> ahead, seats, contexts, work;
  std::int32_t slot = view.waiting_head;
  for (; slot >= 0 && replica.request(slot).id != request_; slot = replica.request(slot).next)
    ahead.emplace_back(replica.request(slot).id, 1.0);
  if (slot < 0) return;
  for (std::int32_t s = view.running_head; s >= 0; s = replica.request(s).next) {
    const Request& holder = replica.request(s);
    seats.emplace_back(holder.id, 1.0);
    contexts.emplace_back(holder.id, std::max(1, context_tokens(view, holder)));
  }
  for (const std::int32_t id : decode_ids(batch)) work.emplace_back(id, 1.0);
  for (std::int32_t i = 0; i < batch.prefill_count; ++i)
    work.emplace_back(batch.prefills[i].id, batch.prefills[i].new_tokens);
  const std::int32_t needed = replica.missing_blocks(slot);
  const auto because = [&](Held held, auto& holders) {
    out.waited = true;
    out.held = held;
    out.holders = std::move(holders);
  };
  if (view.max_num_seqs > 0 && view.running >= view.max_num_seqs)
    return because(Held::seats, seats);
  if (view.max_num_batched_tokens > 0 && batch.tokens >= view.max_num_batched_tokens)
    return because(Held::budget, work);
  if (!replica.preempted_now().empty()) return because(Held::preempting, contexts);
  if (view.free_blocks < needed) return because(Held::cache, contexts);
  if (!ahead.empty()) return because(Held::order, ahead);
  because(Held::choice, work);
}

void FollowedSteps::price(const Batch& batch, StepPrice& price) {
  std::vector<OpTime> ops;
  const bool works = observer_->works_for_it(batch);
  works ? explain_(batch, price, ops) : inner_->price(batch, price);
  observer_->planned(batch, works, std::move(ops));
}

void WhyObserver::on_transfer(const TransferSeen& transfer) {
  if (transfer.id != request_) return;
  pass(Whereabouts::queue_idle, transfer.start);
  pass(Whereabouts::transfer, transfer.end);
  replica_ = transfer.to;
  phase_ = Phase::waiting;
}

void WhyObserver::on_done(const RequestDone& done) {
  if (done.id != request_) return;
  pass(Whereabouts::frontend, done.last_token == never ? done.now : done.last_token);
  phase_ = Phase::away;
  // The way from the step that made the token to the user is the front end's.
  if (first_token_ && done.first_token != never) {
    auto& frontend = why_.time_to_first[static_cast<std::size_t>(Whereabouts::frontend)];
    frontend += done.first_token - *first_token_;
  }
  why_.done = done;
  answer_ = why_;
}

}  // namespace rooflua
