// The gate of the naive cluster. While a request is held, the policy is asked at every instant at
// which it may be, whether or not anything has changed since it said no.

#include <algorithm>
#include <stdexcept>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

namespace {

Ps next_multiple(Ps time, Ps of) {
  return (time / of + 1) * of;
}

}  // namespace

void NaiveCluster::bind_gate() {
  if (cluster_.gate.kind == 0) return;
  gate_.emplace(cluster_.gate.rules.queue);
  gate_policy_.emplace(cluster_.gate);
}

Ps NaiveCluster::gate_deadline(int id) const {
  const PlainRequest& plain = prompts()[static_cast<std::size_t>(id)].plain;
  const GateRules& rules = cluster_.gate.rules;
  if (deadline_of(cluster_.origin_of(id)) > 0) return plain.arrival + deadline_of(cluster_.origin_of(id));
  const double limit_s =
      !rules.class_deadline_s.empty() ? rules.class_deadline_s.front() : rules.deadline_s;
  return limit_s > 0 ? plain.arrival + picoseconds(limit_s, "deadline") : unset;
}

void NaiveCluster::consider_gate(const std::function<void(Ps)>& consider) const {
  if (!gate_) return;
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const bool waits = gate_->find(static_cast<int>(id)) != nullptr ||
                       (cluster_.gate.rules.expire_queued && has_no_seat(static_cast<int>(id)));
    if (waits && gate_deadline(static_cast<int>(id)) > now_)
      consider(gate_deadline(static_cast<int>(id)));
  }
  if (gate_->held().empty()) return;
  // Where nothing else is to come, asking again changes nothing: but signals may be old.
  const bool asks_later =
      now_ <= last_event_ + 2 * cluster_.gate.staleness + 2 * cluster_.gate.interval;
  if (gate_again_ > now_) consider(gate_again_);
  if (!asks_later) return;
  if (cluster_.gate.interval > 0) consider(next_multiple(now_, cluster_.gate.interval));
  if (cluster_.gate.staleness > 0) consider(next_multiple(now_, cluster_.gate.staleness));
}

/// It is at a replica and never had a seat.
bool NaiveCluster::has_no_seat(int id) const {
  const auto place = static_cast<std::size_t>(id);
  if (over_[place] || at_[place] < 0) return false;
  const NaiveRequest& r = engines_[static_cast<std::size_t>(at_[place])]->request(id);
  return r.scheduled == unset && history_.requests[place].scheduled == unset;
}

/// Signals as old as the gate's, with what it let go since they were taken.
GateView NaiveCluster::look_at_gate(int id) {
  const GateCase& gate = cluster_.gate;
  const Ps tick = gate.staleness > 0 ? now_ - now_ % gate.staleness : now_;
  gate_signals_ = look();
  if (gate.staleness > 0) {
    const Snapshot* last = &past_.front();
    for (const Snapshot& each : past_)
      if (each.time < tick) last = &each;
    gate_signals_ = last->signals;
  }
  for (const Credit& each : credits_) {
    if (!gate.rules.credit || gate.staleness == 0 || each.time < tick) continue;
    ++gate_signals_[static_cast<std::size_t>(each.replica)].waiting;
    gate_signals_[static_cast<std::size_t>(each.replica)].waiting_tokens += each.prompt;
  }
  gate_candidates_.clear();
  GateView view;
  double sum = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (cluster_.replicas[i].role == Role::decode || !is_candidate(i)) continue;
    gate_candidates_.push_back(static_cast<std::int32_t>(i));
    sum += std::max(gate_signals_[i].waiting / gate.rules.queue_threshold,
                    gate_signals_[i].kv_used_frac / gate.rules.kv_threshold);
  }
  const auto candidates = static_cast<double>(gate_candidates_.size());
  view.saturation = candidates == 0 ? 1 : sum / candidates;
  view.pool.now_s = seconds(now_);
  view.pool.signals = gate_signals_.data();
  view.pool.candidates = gate_candidates_.data();
  view.pool.candidate_count = static_cast<std::int32_t>(gate_candidates_.size());
  view.pool.slot = id;
  view.held = static_cast<std::int32_t>(gate_->held().size());
  view.in_flight = gate_->in_flight();
  if (const NaiveGate::Held* held = gate_->find(id)) view.held_s = seconds(now_ - held->since);
  return view;
}

int NaiveCluster::gate_key(int id) const {
  switch (cluster_.gate.rules.queue.flow) {
    case FlowKey::tenant:
      return tenant_of(cluster_.origin_of(id));
    case FlowKey::program:
      return program_of(cluster_.origin_of(id));
    case FlowKey::session:
      return -1;
    case FlowKey::klass:
      return 0;
    default:
      return id;
  }
}

void NaiveCluster::meet_gate(int id) {
  if (!gate_) return route(id);
  const PlainRequest& plain = prompts()[static_cast<std::size_t>(id)].plain;
  const Ps deadline = gate_deadline(id);
  if (deadline != unset && deadline <= now_) return expire(id);
  const Verdict verdict = gate_policy_->admit(shown_[id], look_at_gate(id));
  if (verdict == Verdict::pass) return pass_gate(id);
  if (verdict == Verdict::reject || !gate_->has_room(plain.priority, plain.prompt)) {
    over_[static_cast<std::size_t>(id)] = true;
    ++history_.aborted["refused"];
    served(id).replica = -1;
    return;
  }
  gate_->hold({id, plain.priority, gate_key(id), plain.prompt, now_, deadline});
  ++gate_came_;
}

void NaiveCluster::pass_gate(int id) {
  const PlainRequest& plain = prompts()[static_cast<std::size_t>(id)].plain;
  const double estimate = plain.predicted >= 0 ? plain.predicted
                          : plain.max_new > 0  ? plain.max_new
                                               : cluster_.gate.rules.queue.estimate_tokens;
  gate_->pass(id, plain.priority, gate_key(id), plain.prompt, estimate);
  ++passes_;
  route(id);
  const int to = at_[static_cast<std::size_t>(id)];
  if (to >= 0) credits_.push_back({now_, to, plain.prompt});
}

/// Requests of which the deadline is now, by id.
void NaiveCluster::expire_late() {
  if (!gate_) return;
  for (int id = 0; id < static_cast<int>(prompts().size()); ++id) {
    const auto place = static_cast<std::size_t>(id);
    if (!sent_[place] || over_[place] || gate_deadline(id) != now_) continue;
    bool late = gate_->find(id) != nullptr;
    if (!late && cluster_.gate.rules.expire_queued && has_no_seat(id)) {
      const NaiveReplica& engine = *engines_[static_cast<std::size_t>(at_[place])];
      late = engine.request(id).phase == Phase::waiting;
    }
    if (late) expire(id);
  }
}

void NaiveCluster::expire(int id) {
  ++history_.aborted["expired"];
  abort(id);
}

void NaiveCluster::ask_gate() {
  if (!gate_) return;
  const GateCase& gate = cluster_.gate;
  const bool is_tick = gate.interval == 0 || now_ % gate.interval == 0;
  const bool asks = is_tick || gate_came_ > 0 || (gate_again_ != unset && gate_again_ <= now_);
  int turns =
      gate.rules.most == 0
          ? 1 << 30
          : gate.rules.most * std::max(1, gate_came_ + (gate.interval > 0 && is_tick ? 1 : 0));
  gate_came_ = 0;
  if (!asks) return;
  while (turns-- > 0 && !gate_->held().empty() && ask_next()) {
  }
}

bool NaiveCluster::ask_next() {
  if (cluster_.gate.rules.queue.count == ServiceCount::generated) {
    for (const auto& [id, own] : gate_->passed()) {
      const int at = at_[static_cast<std::size_t>(id)];
      const int output = at < 0 ? 0 : engines_[static_cast<std::size_t>(at)]->request(id).output;
      gate_->count(id, std::min(output, prompts()[static_cast<std::size_t>(id)].plain.output));
    }
  }
  int id = gate_->first();
  if (gate_policy_->chooses()) {
    const std::vector<GateFlow> flows = gate_->flows();
    const GateView view = look_at_gate(flows.front().slot);
    id = flows[static_cast<std::size_t>(gate_policy_->choose(flows, view))].slot;
  }
  const AdmissionPolicy::Next next = gate_policy_->next(shown_[id], look_at_gate(id));
  gate_again_ = unset;
  if (!next.passes) {
    if (next.again_s >= 0) gate_again_ = picoseconds(next.again_s, "again");
    return false;
  }
  served(id).held = now_ - gate_->remove(id).since;
  pass_gate(id);
  return true;
}

}  // namespace rooflua::reference
