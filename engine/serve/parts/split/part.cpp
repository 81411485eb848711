// What a run calls of split prompts, and KV of which a link fails.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/contract/fault.h"
#include "serve/parts/split/split.h"

namespace rooflua {

std::unique_ptr<Part> make_split(Core& core, Loop& loop) {
  return std::make_unique<SplitPart>(core, loop, std::deque<Lease>());
}

Picoseconds SplitPart::due(Picoseconds) {
  return next_lease();
}

void SplitPart::pass(Moment moment) {
  if (moment == Moment::due) end_leases();
}

// --- requests

void SplitPart::sent(std::int32_t slot, const RowSent*) {
  const auto place = static_cast<std::size_t>(slot);
  if (core_.hand_overs.size() <= place) core_.hand_overs.resize(place + 1);
  core_.hand_overs[place] = {};
}

bool SplitPart::takes(std::int32_t slot) {
  if (core_.config.disaggregation.order != SplitOrder::decode_first) return false;
  route_to_decode(slot);
  return true;
}

void SplitPart::finished(std::int32_t slot) {
  cancel_reserved(slot);
  leave_promise(slot);
}

void SplitPart::fills(std::int32_t slot, RequestDone& done) const {
  const HandOver& hand_over = core_.hand_over_of(slot);
  done.computed = hand_over.computed;
  done.room = hand_over.room;
  done.arrived = hand_over.arrived;
  done.kept_blocks = hand_over.kept_blocks;
  done.sent_bytes = hand_over.sent_bytes;
}

// --- steps

void SplitPart::planned(Replica& replica) {
  for (const StepPlan::Pulled& pulled : replica.plan().pulled()) pull(pulled);
}

void SplitPart::started(const Replica& replica) {
  if (replica.config().role == Role::prefill && core_.config.disaggregation.push == Push::layers)
    push_layers(replica);
}

void SplitPart::landed(const StepDone& done) {
  const bool is_prefill = core_.at(done.replica).config().role == Role::prefill;
  if (is_prefill && core_.config.disaggregation.push == Push::chunks) push_computed(done.prefills);
}

bool SplitPart::completed(std::int32_t slot, std::int32_t replica) {
  if (core_.at(replica).config().role != Role::prefill) return false;
  hand_over(slot, replica);
  return true;
}

// --- transfers over links

bool SplitPart::arrived(const FlowEnded& flow) {
  if (flow.what.errand != Errand::hand_over) return false;
  end_flow(flow.what.slot);
  return true;
}

bool SplitPart::describes(const FlowRequest& what, TransferSeen& seen) const {
  if (what.errand != Errand::hand_over) return false;
  seen.id = core_.requests[what.slot].id;
  seen.is_pushed = core_.hand_over_of(what.slot).pushed;
  return true;
}

bool SplitPart::failed(const FlowRequest& what) {
  if (what.errand != Errand::hand_over) return false;
  if (std::find(failed_.begin(), failed_.end(), what.slot) != failed_.end()) return true;
  failed_.push_back(what.slot);
  fail_hand_over(what.slot);
  return true;
}

void SplitPart::fail_hand_over(std::int32_t slot) {
  Progress& progress = core_.progress(slot);
  const bool is_computed = progress.kept_blocks > 0;
  core_.kv_links->flows().stop_hand_over(slot, core_.now);
  progress.flows = 0;
  if (!core_.has_left(slot) && core_.bindings.faults->ends_requests())
    loop_.abort(slot, Outcome::replica_lost);
  else if (!core_.has_left(slot) && !is_computed)
    return cancel_reserved(slot);
  if (!is_computed) {
    if (core_.has_left(slot)) end_left(slot);  // else loop_.abort() has freed it
    return;
  }
  progress.remote_tokens = core_.hand_over_of(slot).cached_tokens;
  arrive(slot);
}

void SplitPart::stopped(std::int32_t slot) {
  Progress& progress = core_.progress(slot);
  if (progress.flows == 0) return;
  if (core_.kv_links) core_.kv_links->flows().stop_hand_over(slot, core_.now);
  core_.deliveries.erase_if([slot](const Delivery& each) {
    return each.kind == Delivery::Kind::transfer && each.slot == slot;
  });
  progress.flows = 0;
}

}  // namespace rooflua
