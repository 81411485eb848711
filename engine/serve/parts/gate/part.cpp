// Requests that wait in front of the router: what a gate's policy sees and decides.
//
// A held request keeps its slot, in the phase pending, without a replica and without blocks. One
// that passes is routed at the same instant. next() is asked after the arrivals of an instant,
// until it says no. It is not asked again before something that it reads has changed
// (GateRules::interval_s): a policy that reads the clock says when to ask again.

#include "serve/core/part.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/parts/gate/gate.h"

namespace rooflua {

namespace {

class GatePart final : public Part, public OnTime, public OnRequest {
 public:
  GatePart(Core& core, Loop& loop, const Gate& gate) : core_(core), loop_(loop), gate_(gate) {}

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override {
    return std::make_unique<GatePart>(core, loop, gate_);
  }
  void rebind(const Bindings& before) override {
    AdmissionPolicy* const policy = core_.bindings.admission;
    if (policy != before.admission) gate_.change(policy->rules());
  }
  std::string obstacle() const override { return "there is an admission policy"; }

  Picoseconds earliest() override { return std::min(gate_.next_turn(), gate_.next_deadline()); }
  Picoseconds due(Picoseconds other) override;
  Picoseconds next_tick() const override { return gate_.held() > 0 ? 0 : gate_.next_tick(); }
  void pass(Moment moment) override;

  bool takes(std::int32_t slot) override;
  void aborting(std::int32_t) override { gate_.pass_time(core_.now, core_.replicas); }
  void ended(std::int32_t slot, RequestDone& done) override;
  void fills(std::int32_t slot, RequestDone& done) const override;

 private:
  void starve();
  void meet(std::int32_t slot);
  void let_in(std::int32_t slot);
  GateView look(std::int32_t slot);
  void look_at_candidates();
  void let_go();
  bool ask_next();
  std::int32_t next_held();
  Picoseconds leave_queue(std::int32_t slot);
  void count_outputs();
  void end_late();
  bool is_late(const Gate::Due& due) const;

  Core& core_;
  Loop& loop_;
  Gate gate_;
  std::int64_t candidate_changes_ = 0;  // that the gate has seen
  bool futile_ = false;           // the gate's turn is all that happens at this instant
  std::int32_t held_before_ = 0;  // this instant
};

// --- a request comes

bool GatePart::takes(std::int32_t slot) {
  if (gate_.has_passed(slot)) return false;
  meet(slot);
  loop_.due_changed();
  return true;
}

void GatePart::meet(std::int32_t slot) {
  Request& request = core_.requests[slot];
  Progress& progress = core_.progress(slot);
  const std::vector<double>& limits = gate_.rules().class_deadline_s;
  const auto klass = static_cast<std::size_t>(std::max(0, request.klass));
  const bool is_limited = klass < limits.size() && limits[klass] > 0;
  const double limit_s = is_limited ? limits[klass] : gate_.rules().deadline_s;
  if (progress.deadline == never && limit_s > 0)
    progress.deadline = after(progress.arrival, limit_s, "admission: deadline_s");
  if (progress.deadline <= core_.now) return loop_.abort(slot, Outcome::expired);
  const Verdict verdict = core_.bindings.admission->admit(request, look(slot));
  if (verdict == Verdict::pass) return let_in(slot);
  if (verdict == Verdict::reject || !gate_.has_room(request)) {
    ++core_.totals.refused_at_gate;
    return loop_.finish(slot, Outcome::refused);
  }
  gate_.hold(slot, request, progress.deadline, core_.now);
  ++core_.held;
  gate_.expect(slot, request.id, progress.deadline);
  core_.tell(&Observer::on_held, request, core_.now);
}

void GatePart::let_in(std::int32_t slot) {
  const Request& request = core_.requests[slot];
  const Progress& progress = core_.progress(slot);
  const std::int32_t id = request.id;
  if (gate_.rules().expire_queued && progress.held == 0) {
    gate_.expect(slot, id, progress.deadline);
  }
  gate_.pass(slot, request, core_.now);
  loop_.route(slot);
  if (core_.requests[slot].id == id && core_.requests[slot].replica >= 0)
    gate_.credit(core_.requests[slot].replica, core_.requests[slot]);
}

GateView GatePart::look(std::int32_t slot) {
  GateView view;
  const std::vector<std::int32_t>& candidates = core_.candidates_for(Stage::prompt);
  view.pool = core_.route_view(slot, candidates, loop_);
  gate_.show(view, candidates, core_.replicas, core_.signals, core_.now);
  if (slot < 0) return view;
  if (gate_.holds(slot)) view.held_s = seconds(core_.now - gate_.queue().held(slot).since);
  const Picoseconds deadline = core_.progress(slot).deadline;
  if (deadline != never) view.deadline_s = seconds(deadline);
  return view;
}

// --- held requests go

void GatePart::look_at_candidates() {
  if (std::exchange(candidate_changes_, core_.candidate_changes) != core_.candidate_changes)
    gate_.candidates_changed(core_.now);
}

void GatePart::let_go() {
  look_at_candidates();
  while (gate_.held() > 0) {
    std::int32_t turns = gate_.turns(core_.now);
    while (turns > 0 && gate_.held() > 0 && ask_next()) --turns;
    if (core_.sent_now.empty()) return;
    loop_.send_follow_ups();  // of requests that ended at once
  }
}

/// Whether one went.
bool GatePart::ask_next() {
  count_outputs();
  const std::int32_t slot = next_held();
  const AdmissionPolicy::Next next =
      core_.bindings.admission->next(core_.requests[slot], look(slot));
  if (!next.passes) {
    const bool again = next.again_s >= 0;
    gate_.refused(again ? std::max(core_.now + 1, picoseconds(next.again_s, "admission: next"))
                        : never);
    return false;
  }
  gate_.agreed();
  core_.progress(slot).held = leave_queue(slot);
  core_.tell(&Observer::on_passed, core_.requests[slot], core_.now);
  let_in(slot);
  return true;
}

std::int32_t GatePart::next_held() {
  if (!core_.bindings.admission->chooses()) return gate_.queue().first();
  const std::span<const GateFlow> flows = gate_.flows(core_.now);
  GateView view = look(flows.front().slot);
  view.flows = flows.data();
  view.flow_count = static_cast<std::int32_t>(flows.size());
  const std::int32_t place = core_.bindings.admission->choose(flows, view);
  if (place < 0 || place >= view.flow_count)
    throw Error("admission", "choose: found flow " + std::to_string(place + 1) + " of " +
                                 std::to_string(flows.size()));
  return flows[static_cast<std::size_t>(place)].slot;
}

/// What requests in flight have generated counts as service of their flows.
void GatePart::count_outputs() {
  for (const std::int32_t slot : gate_.counted()) {
    const Request& request = core_.requests[slot];
    if (request.replica < 0) continue;
    const std::int32_t tokens = emitted_tokens(core_.at(request.replica).view(), request);
    gate_.serve(slot, std::min(tokens, core_.progress(slot).output_tokens), core_.now);
  }
}

// --- ends

/// @returns how long it was held
Picoseconds GatePart::leave_queue(std::int32_t slot) {
  --core_.held;
  return gate_.let_go(slot, core_.requests[slot], core_.now);
}

void GatePart::ended(std::int32_t slot, RequestDone& done) {
  if (gate_.holds(slot))
    leave_queue(slot);
  else
    gate_.end(slot, done.output_tokens, core_.now);
  gate_.request_ended(core_.now);
  loop_.due_changed();
}

void GatePart::fills(std::int32_t slot, RequestDone& done) const {
  if (gate_.holds(slot)) done.held = core_.now - gate_.queue().held(slot).since;
}

bool GatePart::is_late(const Gate::Due& due) const {
  const Request& request = core_.requests[due.slot];
  if (request.id != due.id || !core_.is_live(due.slot)) return false;
  if (gate_.holds(due.slot)) return true;
  return gate_.rules().expire_queued && request.phase == Phase::waiting &&
         core_.progress(due.slot).scheduled == never;
}

/// Deadlines that pass now end what is held, or waits for its first seat.
void GatePart::end_late() {
  while (gate_.next_deadline() <= core_.now) {
    const Gate::Due due = gate_.take_due();
    if (is_late(due)) loop_.abort(due.slot, Outcome::expired);
  }
}

/// When something of the gate is due. Deadlines that matter no more are forgotten.
Picoseconds GatePart::due(Picoseconds) {
  look_at_candidates();
  while (gate_.next_deadline() != never) {
    const Gate::Due& due = gate_.first_due();
    const bool is_here = core_.requests[due.slot].id == due.id && core_.is_live(due.slot);
    const bool waits = gate_.rules().expire_queued && core_.progress(due.slot).scheduled == never;
    if (is_here && (waits || gate_.holds(due.slot))) break;
    gate_.take_due();
  }
  return earliest();
}

/// Nothing will happen any more, and the policy lets no request go.
void GatePart::starve() {
  for (const std::int32_t slot : core_.live_slots())
    if (gate_.holds(slot)) loop_.finish(slot, Outcome::never_admitted);
}

void GatePart::pass(Moment moment) {
  switch (moment) {
    case Moment::before:
      gate_.pass_time(core_.now, core_.replicas);
      held_before_ = gate_.held();
      futile_ = held_before_ > 0 && gate_.next_deadline() > core_.now && loop_.is_alone(*this);
      return;
    case Moment::late:
      end_late();
      break;
    case Moment::failed:
      starve();
      break;
    case Moment::sent:
      let_go();
      break;
    case Moment::over:
      gate_.end_instant(!futile_ || gate_.held() != held_before_, core_.now);
      break;
    default:
      return;
  }
  loop_.due_changed();
}

}  // namespace

std::unique_ptr<Part> make_gate(Core& core, Loop& loop) {
  return std::make_unique<GatePart>(core, loop, Gate(core.bindings.admission->rules()));
}

}  // namespace rooflua
