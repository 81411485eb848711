#include "tests/reference/chaos.h"

#include <algorithm>
#include <vector>

#include "serve/replica/replica.h"

namespace rooflua::reference {

namespace {

std::vector<std::int32_t> listed(const VisibleReplica& replica, std::int32_t head) {
  std::vector<std::int32_t> slots;
  for (std::int32_t slot = head; slot >= 0; slot = replica.request(slot).next)
    slots.push_back(slot);
  return slots;
}

}  // namespace

double Chaos::key(const Request& request) {
  Dice dice(seed_ + static_cast<std::uint64_t>(request.id));
  return dice.between(0, 5) - request.cached_tokens / 64;
}

std::int32_t Chaos::victim(const VisibleReplica& replica) {
  const auto running = listed(replica, replica.view().running_head);
  return running[static_cast<std::size_t>(dice_.between(0, static_cast<int>(running.size()) - 1))];
}

int Chaos::left(const VisibleReplica& replica, const Plan& plan) const {
  return replica.view().max_num_batched_tokens - plan.view().tokens;
}

void Chaos::plan(const VisibleReplica& replica, Plan& plan) {
  asked_all_ = false;
  if (dice_.chance(4)) preempt_somebody(replica, plan);
  if (dice_.chance(30)) prefill_some(replica, plan);
  if (dice_.chance(10)) admit_some(replica, plan);
  if (dice_.chance(90)) decode_some(replica, plan);
  if (dice_.chance(80)) prefill_some(replica, plan);
  if (dice_.chance(2)) preempt_somebody(replica, plan);
  if (dice_.chance(80)) admit_some(replica, plan);
  if (plan.view().tokens == 0) do_something(replica, plan);
}

/// A request with a seat that was not admitted just now.
void Chaos::preempt_somebody(const VisibleReplica& replica, Plan& plan) {
  if (replica.view().seats == 0 || plan.view().admitted > 0) return;
  plan.preempt(victim(replica));
}

void Chaos::decode_some(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  if (has_victim() && plan.view().admitted > 0) return;  // it might pick the one just admitted
  const int budget = left(replica, plan);
  const int way = dice_.between(1, 10);
  if (way <= 3) {  // one by one, most of them, in any order of halves
    const auto running = listed(replica, view.running_head);
    const std::size_t from = running.size() * static_cast<std::size_t>(dice_.between(0, 1)) / 2;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::int32_t slot = running[(from + i) % running.size()];
      if (replica.request(slot).phase == Phase::decoding && dice_.chance(85) &&
          left(replica, plan) > 0)
        plan.decode(slot);
    }
    if (way > 1) return;
  }
  const int decodes = decode_tokens(view) - plan.view().decodes;
  const bool limited = way == 5 || decodes > std::min(budget, left(replica, plan));
  const int limit = limited ? dice_.between(0, std::min(decodes, left(replica, plan))) : 0;
  plan.decode_all(limited ? limit : Plan::no_limit);
  asked_all_ = view.speculates != 0 && (!limited || limit > 0);
}

void Chaos::prefill_some(const VisibleReplica& replica, Plan& plan) {
  std::vector<std::int32_t> slots;
  for (std::int32_t slot = replica.view().prefilling_head; slot >= 0;
       slot = replica.request(slot).next_prefilling)
    slots.push_back(slot);
  for (const std::int32_t slot : slots) {
    const rooflua::Request& request = replica.request(slot);
    const int most = std::min(pending_tokens(replica.view(), request), left(replica, plan));
    if (most < 1 || !dice_.chance(60) || plan.view().prefills > 0) continue;
    const int tokens = plan.encodable(slot, dice_.chance(50) ? most : dice_.between(1, most));
    if (tokens > 0) plan.prefill(slot, tokens);
  }
}

void Chaos::admit_some(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  if (plan.view().preempted > 0) return;
  for (const std::int32_t slot : listed(replica, view.waiting_head)) {
    const rooflua::Request& request = replica.request(slot);
    const int sequence = request.prompt_tokens + request.emitted_tokens;
    const int most = std::min(sequence - replica.cached_tokens(slot), left(replica, plan));
    if (most < 1 || !dice_.chance(40)) continue;
    const int tokens = dice_.chance(50) ? most : dice_.between(1, most);
    Admission wish{plan.encodable(slot, tokens), 0, 0, 0};
    if (dice_.chance(20))
      wish.hold_tokens = dice_.between(1, request.prompt_tokens + request.max_output_tokens);
    if (dice_.chance(30)) wish.fit_tokens = sequence;
    if (dice_.chance(20)) wish.spare_blocks = dice_.between(0, 3);
    if (wish.tokens > 0) plan.admit(slot, wish);
  }
}

/// Nothing so far: the first of running, or the head of the queue.
void Chaos::do_something(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  const int budget = left(replica, plan);
  for (const std::int32_t slot : listed(replica, view.running_head)) {
    const rooflua::Request& request = replica.request(slot);
    const int pending = pending_tokens(view, request);
    if (request.phase == Phase::prefilling && plan.prefill(slot, std::min(pending, budget))) return;
  }
  if (!asked_all_ && view.decodes > 0 && plan.view().decodes == 0 && plan.view().preempted == 0) {
    plan.decode_all(std::min(view.decodes, budget));
    return;
  }
  if (view.waiting == 0 || plan.view().preempted > 0) return;
  const rooflua::Request& head = replica.request(view.waiting_head);
  const int sequence = head.prompt_tokens + head.emitted_tokens;
  const int pending = sequence - replica.cached_tokens(view.waiting_head);
  plan.admit(view.waiting_head, std::min(pending, budget));
}

}  // namespace rooflua::reference
