#include "tests/reference/cases/gate.h"

#include <cmath>

#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

Ps deadline_of(int id) {
  if (id % 3 != 1) return 0;
  return (Ps{1} << (8 + id * 7 % 12)) + id;
}

GateCase draw_gate(std::uint64_t seed, bool split) {
  Dice dice(seed * 2750159 + 17);
  GateCase out;
  out.kind = dice.chance(20) ? 3 : dice.between(1, 2);
  GateRules& rules = out.rules;
  rules.queue.flow = static_cast<FlowKey>(dice.between(0, 4));
  rules.queue.fair = static_cast<FairRule>(dice.between(0, 3));
  rules.queue.order = static_cast<FlowOrder>(dice.between(0, 1));
  rules.queue.count = static_cast<ServiceCount>(dice.between(split ? 1 : 0, 2));
  rules.queue.estimate_tokens = dice.between(0, 50);
  rules.queue.prompt_weight = dice.between(0, 2);
  if (dice.chance(20)) rules.queue.max_held = dice.between(1, 20);
  if (dice.chance(20)) rules.queue.max_held_tokens = dice.between(500, 5000);
  if (dice.chance(50)) out.staleness = dice.between(1, 1 << dice.between(4, 16));
  rules.credit = dice.chance(50);
  if (dice.chance(50)) {
    out.interval = dice.between(100, 1 << dice.between(8, 14));
    rules.most = dice.between(0, 2);
  }
  rules.staleness_s = seconds(out.staleness);
  rules.interval_s = seconds(out.interval);
  rules.queue_threshold = dice.between(1, 5);
  rules.kv_threshold = 0.25 * dice.between(1, 4);
  rules.expire_queued = dice.chance(50);
  if (dice.chance(30)) rules.class_deadline_s = {seconds(dice.between(1, 1 << 18))};
  if (dice.chance(30)) rules.deadline_s = seconds(dice.between(1, 1 << 18));
  out.delay = dice.between(1, 1 << dice.between(4, 16));
  out.limit = 0.5 * dice.between(1, 4);
  if (dice.chance(40)) out.most_in_flight = dice.between(1, 10);
  out.refuses = dice.chance(30);
  out.passes = dice.chance(30);
  return out;
}

Verdict CaseGate::admit(const rooflua::Request& request, const GateView& view) {
  if (gate_.kind == 4) return Verdict::pass;
  if (gate_.refuses && request.id % 11 == 7 && view.held > 2) return Verdict::reject;
  if (gate_.passes && request.id % 5 == 0 && view.in_flight % 3 != 1) return Verdict::pass;
  return Verdict::hold;
}

AdmissionPolicy::Next CaseGate::next(const rooflua::Request& request, const GateView& view) {
  if (gate_.kind == 3) {
    const Ps opens =
        std::llround(view.pool.now_s * 1e12) - std::llround(view.held_s * 1e12) + gate_.delay;
    if (std::llround(view.pool.now_s * 1e12) < opens) return {false, seconds(opens)};
    return {true};
  }
  double waiting = 0;
  for (std::int32_t i = 0; i < view.pool.candidate_count; ++i)
    waiting += view.pool.signals[view.pool.candidates[i]].waiting_tokens;
  const bool empty = view.in_flight == 0;
  const bool fits = view.saturation < gate_.limit && view.in_flight < gate_.most_in_flight &&
                    waiting < 20000 + request.prompt_tokens;
  return {empty || fits};
}

std::int32_t CaseGate::choose(std::span<const GateFlow> flows, const GateView& view) {
  std::int32_t best = 0;
  const auto score = [&](const GateFlow& flow) {
    return flow.service - 3 * flow.held + 10 * flow.granted + flow.served_output_tokens -
           1e6 * (view.pool.now_s - flow.oldest_s) + 0.1 * flow.held_tokens;
  };
  for (std::int32_t i = 1; i < static_cast<std::int32_t>(flows.size()); ++i)
    if (score(flows[static_cast<std::size_t>(i)]) < score(flows[static_cast<std::size_t>(best)]))
      best = i;
  return best;
}

}  // namespace rooflua::reference
