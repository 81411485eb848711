// Requests that wait in front of the router: what a gate's policy sees and decides.
//
// A held request keeps its slot, in the phase pending, without a replica and without blocks. One
// that passes is routed at the same instant. next() is asked after the arrivals of an instant,
// until it says no. It is not asked again before something that it reads has changed
// (GateRules::interval_s): a policy that reads the clock says when to ask again.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/loop/life.h"
#include "serve/loop/simulation.h"

namespace rooflua {

void Simulation::set_admission(AdmissionPolicy& policy) {
  ROOFLUA_ASSERT(gate_);
  gate_->change(policy.rules());
  bindings_.admission = &policy;
}

// --- a request comes

void Simulation::meet_gate(std::int32_t slot) {
  Request& request = requests_[slot];
  Progress& progress = requests_.progress(slot);
  const std::vector<double>& limits = gate_->rules().class_deadline_s;
  const auto klass = static_cast<std::size_t>(std::max(0, request.klass));
  const bool is_limited = klass < limits.size() && limits[klass] > 0;
  const double limit_s = is_limited ? limits[klass] : gate_->rules().deadline_s;
  if (progress.deadline == never && limit_s > 0)
    progress.deadline = after(progress.arrival, limit_s, "admission: deadline_s");
  if (progress.deadline <= now_) return abort(slot, Outcome::expired);
  const Verdict verdict = bindings_.admission->admit(request, look_at_gate(slot));
  if (verdict == Verdict::pass) return pass_gate(slot);
  if (verdict == Verdict::reject || !gate_->has_room(request))
    return finish(slot, Outcome::refused);
  gate_->hold(slot, request, progress.deadline, now_);
  gate_->expect(slot, request.id, progress.deadline);
  for (Observer* observer : bindings_.observers) observer->on_held(request, now_);
}

void Simulation::pass_gate(std::int32_t slot) {
  const Request& request = requests_[slot];
  const Progress& progress = requests_.progress(slot);
  const std::int32_t id = request.id;
  if (gate_->rules().expire_queued && progress.held == 0) {
    gate_->expect(slot, id, progress.deadline);
  }
  gate_->pass(slot, request, now_);
  send_to_router(slot);
  if (requests_[slot].id == id && requests_[slot].replica >= 0)
    gate_->credit(requests_[slot].replica, requests_[slot]);
}

/// Here, because outstanding requests are counted for routers (router_signals.h).
void Gate::show(GateView& view, std::span<const std::int32_t> candidates,
                const std::vector<Replica>& replicas, const RouterSignals& own, Picoseconds now) {
  if (staleness_ == 0 || signals_.size() != replicas.size()) {
    taken_at_ = now;
    take(replicas);
  }
  double sum = 0;
  for (const std::int32_t each : candidates) {
    ReplicaSignals& signals = signals_[static_cast<std::size_t>(each)];
    signals.outstanding = own.outstanding(each);
    signals.group = own.group_of(each);
    sum += std::max(signals.waiting / rules_.queue_threshold,
                    signals.kv_used_frac / rules_.kv_threshold);
  }
  view.pool.signals = signals_.data();
  view.pool.signals_s = seconds(taken_at_);
  view.saturation = candidates.empty() ? 1 : sum / static_cast<double>(candidates.size());
  view.ready = static_cast<std::int32_t>(candidates.size());
  view.held = queue_.size();
  view.held_tokens = static_cast<double>(queue_.tokens());
  view.in_flight = in_flight_;
  view.in_flight_tokens = in_flight_tokens_;
  queue_.list_bands(bands_);
  view.bands = bands_.data();
  view.band_count = static_cast<std::int32_t>(bands_.size());
  view.held_by_class = held_by_class_.data();
  view.class_count = static_cast<std::int32_t>(held_by_class_.size());
}

GateView Simulation::look_at_gate(std::int32_t slot) {
  GateView view;
  gate_->show(view, candidates(Stage::prompt), replicas_, signals_, now_);
  view.pool.now_s = now_s();
  view.pool.candidates = candidates(Stage::prompt).data();
  view.pool.candidate_count = static_cast<std::int32_t>(candidates(Stage::prompt).size());
  view.pool.replica_count = replica_count();
  view.pool.slot = slot;
  view.pool.source = this;
  if (slot < 0) return view;
  if (gate_->holds(slot)) view.held_s = seconds(now_ - gate_->queue().held(slot).since);
  const Picoseconds deadline = requests_.progress(slot).deadline;
  if (deadline != never) view.deadline_s = seconds(deadline);
  return view;
}

// --- held requests go

void Simulation::let_go() {
  while (gate_->held() > 0) {
    std::int32_t turns = gate_->turns(now_);
    while (turns > 0 && gate_->held() > 0 && ask_next()) --turns;
    if (sent_now_.empty()) return;
    send_follow_ups();  // of requests that ended at once
  }
}

/// Whether one went.
bool Simulation::ask_next() {
  count_outputs();
  const std::int32_t slot = next_held();
  const AdmissionPolicy::Next next = bindings_.admission->next(requests_[slot], look_at_gate(slot));
  if (!next.passes) {
    const bool again = next.again_s >= 0;
    gate_->refused(again ? std::max(now_ + 1, picoseconds(next.again_s, "admission: next"))
                         : never);
    return false;
  }
  gate_->agreed();
  requests_.progress(slot).held = gate_->let_go(slot, requests_[slot], now_);
  for (Observer* observer : bindings_.observers) observer->on_passed(requests_[slot], now_);
  pass_gate(slot);
  return true;
}

std::int32_t Simulation::next_held() {
  if (!bindings_.admission->chooses()) return gate_->queue().first();
  const std::span<const GateFlow> flows = gate_->flows(now_);
  GateView view = look_at_gate(flows.front().slot);
  view.flows = flows.data();
  view.flow_count = static_cast<std::int32_t>(flows.size());
  const std::int32_t place = bindings_.admission->choose(flows, view);
  if (place < 0 || place >= view.flow_count)
    throw Error("admission", "choose: found flow " + std::to_string(place + 1) + " of " +
                                 std::to_string(flows.size()));
  return flows[static_cast<std::size_t>(place)].slot;
}

/// What requests in flight have generated counts as service of their flows.
void Simulation::count_outputs() {
  for (const std::int32_t slot : gate_->counted()) {
    const Request& request = requests_[slot];
    if (request.replica < 0) continue;
    const std::int32_t tokens = emitted_tokens(replica(request.replica).view(), request);
    gate_->serve(slot, std::min(tokens, requests_.progress(slot).output_tokens), now_);
  }
}

// --- ends

/// @returns whether it was held
bool Simulation::leave_gate(std::int32_t slot, std::int32_t output_tokens) {
  if (!gate_->holds(slot)) return gate_->end(slot, output_tokens, now_), false;
  gate_->let_go(slot, requests_[slot], now_);
  return true;
}

bool Simulation::is_late(const Gate::Due& due) const {
  const Request& request = requests_[due.slot];
  if (request.id != due.id || !is_live(due.slot)) return false;
  if (gate_->holds(due.slot)) return true;
  return gate_->rules().expire_queued && request.phase == Phase::waiting &&
         requests_.progress(due.slot).scheduled == never;
}

/// Deadlines that pass now end what is held, or waits for its first seat.
void Simulation::end_late() {
  while (gate_->next_deadline() <= now_) {
    const Gate::Due due = gate_->take_due();
    if (is_late(due)) abort(due.slot, Outcome::expired);
  }
}

/// When something of the gate is due. Deadlines that matter no more are forgotten.
Picoseconds Simulation::gate_due() {
  while (gate_->next_deadline() != never) {
    const Gate::Due& due = gate_->first_due();
    const bool is_here = requests_[due.slot].id == due.id && is_live(due.slot);
    const bool waits =
        gate_->rules().expire_queued && requests_.progress(due.slot).scheduled == never;
    if (is_here && (waits || gate_->holds(due.slot))) break;
    gate_->take_due();
  }
  return std::min(gate_->next_turn(), gate_->next_deadline());
}

/// Nothing will happen any more, and the policy lets no request go.
void Simulation::starve_held() {
  std::vector<std::pair<std::int32_t, std::int32_t>> held;  // id, slot
  for (const std::int32_t slot : gate_->queue().slots())
    held.emplace_back(requests_[slot].id, slot);
  std::sort(held.begin(), held.end());
  for (const auto& [id, slot] : held) finish(slot, Outcome::starved);
}

// --- instants

/// Whether the gate's turn is all that happens now.
bool Simulation::only_gate_is_due() {
  if (!alarms_.empty() && alarms_.front().time <= now_) return false;
  if (!sent_now_.empty() || workload_due_ <= now_ || gate_->next_deadline() <= now_) return false;
  if (!leases_.empty() && next_lease() <= now_) return false;
  if (fleet_ && next_life() <= now_) return false;
  if (next_open_ >= 0 && requests_.progress(next_open_).arrival <= now_) return false;
  return deliveries_.empty() || deliveries_.front().time > now_;
}

void Simulation::pass_instant_with_held() {
  const bool futile = only_gate_is_due();
  const std::int32_t before = gate_->held();
  land_steps();
  deliver();
  plan_steps();
  if (fleet_) Life(*this).settle_drains();
  gate_->end_instant(!futile || gate_->held() != before, now_);
}

}  // namespace rooflua
