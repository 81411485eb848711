#include "tests/reference/plan_policies.h"

#include <algorithm>

#include "serve/replica/replica.h"

namespace rooflua::reference {

namespace {

int budget_left(const VllmConfig& config, const Plan& plan) {
  return config.max_num_batched_tokens - plan.view().tokens;
}

}  // namespace

int VllmThroughPlan::chunk(int pending, int budget) const {
  const int threshold = config_.long_prefill_token_threshold;
  return std::min({pending, budget, threshold > 0 ? threshold : pending});
}

std::int32_t VllmThroughPlan::victim(const VisibleReplica& replica) {
  const ReplicaView& view = replica.view();
  if (!config_.by_priority) return view.running_tail;
  std::int32_t worst = view.running_head;
  for (std::int32_t slot = worst; slot >= 0; slot = replica.request(slot).next) {
    const rooflua::Request &a = replica.request(slot), &b = replica.request(worst);
    if (a.priority > b.priority || (a.priority == b.priority && a.arrival_s > b.arrival_s))
      worst = slot;
  }
  return worst;
}

void VllmThroughPlan::plan(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  // Decodes are one call where they stand before the only unfinished prompt, and no other
  // could be a victim.
  const bool in_front =
      view.prefilling == 0 || (view.prefilling == 1 && view.prefilling_head == view.running_tail);
  if (singly_ || !in_front || (config_.by_priority && view.prefilling > 0)) {
    run_in_order(replica, plan);
  } else {
    const int budget = config_.max_num_batched_tokens;
    plan.decode_all(decode_tokens(view) > budget ? budget : Plan::no_limit);
    if (view.prefilling == 1 && budget_left(config_, plan) > 0)
      run_one(replica, plan, view.prefilling_head);
  }
  if (plan.view().preempted == 0) admit_waiting(replica, plan);
}

/// False: it fell victim itself.
bool VllmThroughPlan::run_one(const VisibleReplica& replica, Plan& plan, std::int32_t slot) {
  const rooflua::Request& request = replica.request(slot);
  const int pending = pending_tokens(replica.view(), request);
  const bool decodes = request.phase == Phase::decoding;
  const int most = chunk(pending, budget_left(config_, plan));
  const int tokens = decodes ? most : plan.encodable(slot, most);
  if (!decodes && tokens == 0) {
    plan.wake_at(seconds(picoseconds(replica.view().now_s, "now") + 1000));
    return true;
  }
  const int row = std::min(1 + request.draft_tokens, budget_left(config_, plan));
  while (!(decodes ? plan.decode(slot, row) : plan.prefill(slot, tokens))) {
    const std::int32_t gone = victim(replica);
    plan.preempt(gone);
    if (gone == slot) return false;
  }
  return true;
}

void VllmThroughPlan::run_in_order(const VisibleReplica& replica, Plan& plan) {
  std::int32_t slot = replica.view().running_head;
  while (slot >= 0 && budget_left(config_, plan) > 0) {
    const Phase phase = replica.request(slot).phase;
    const bool under_way = phase == Phase::finishing || phase == Phase::in_flight;
    if (!under_way && !run_one(replica, plan, slot)) return;
    slot = replica.request(slot).next;
  }
}

void VllmThroughPlan::admit_waiting(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  std::int32_t slot = view.waiting_head;
  while (slot >= 0 && budget_left(config_, plan) > 0) {
    const rooflua::Request& request = replica.request(slot);
    const int sequence = request.prompt_tokens + request.emitted_tokens;
    int tokens = sequence - replica.cached_tokens(slot);
    if (config_.long_prefill_token_threshold > 0)
      tokens = std::min(tokens, config_.long_prefill_token_threshold);
    const int budget = budget_left(config_, plan);
    if (!config_.chunked_prefill && tokens > budget) return;
    tokens = plan.encodable(slot, std::min(tokens, budget));
    if (tokens == 0) return;
    Admission wish{tokens, 0, config_.reserve_full_isl ? sequence : 0, 0};
    if (view.seats > 0) wish.spare_blocks = static_cast<int>(config_.watermark * config_.blocks);
    const std::int32_t next = request.next;
    if (!plan.admit(slot, wish) && plan.view().held_for == 0) return;
    slot = next;
  }
}

}  // namespace rooflua::reference
