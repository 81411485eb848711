// The loop: one instant of the clock after another.
//
// At one instant, in this order:
//   1. steps that end now land, by replica index: tokens, finished requests (in admission order),
//      freed blocks; each end is told to observers, then to the workload, which may answer
//   2. KV transfers that complete now, in the order they began: the prefill replica's blocks are
//      free, and the request waits for its seat at the decode replica. Over links those that begin
//      or end now change what the others get (links/flows.h).
//      Moment::due: parts of starts, graces, repairs and slow times that are over now, by engine,
//      then faults; leases that end now.
//      What the workload has to do now: cancels, and requests that wait for others (serve/plays).
//      Then clients lose their patience, by id of the request: it is aborted (abort.cpp).
//      Moment::late: deadlines pass of requests that a gate holds, or that wait at a replica, by
//      id; requests that waited for a replica go, if one is ready now, in the order they came
//   3. requests that leave the frontend now, in order of sending; then requests that are sent now:
//      those of the workload's stream, then follow-ups and requests that clients send again, in the
//      order they were given. Parts may take each on its way to the router (OnRequest::takes).
//      Moment::sent: requests go that a gate lets go; autoscalers that are due are asked
//   4. every group of replicas that saw an event, by its first replica, fills its pipeline:
//        while fewer than async_depth steps are planned:
//          plan; stop if it holds no token; price; commit; start it if no step is running
//          (an empty plan that preempted or rejected is followed by another if nothing is planned)
//      A replica is alone in its group unless ReplicaConfig::group says otherwise. Ranks of one
//      group plan one after the other, by index, before any of them is priced. Their step lasts
//      as long as that of the slowest, and dp_sync_s besides. A rank without tokens gets an
//      empty step if another one has any (group.h).
//      A running step's successor starts at the instant the step ends, before the next plan is
//      made. So with async_depth 2 plan k+1 is made when step k starts and sees the state after
//      step k-1: what arrives during step k can run in step k+2 at the earliest. An idle group
//      plans twice at one instant. While a step is running, arrivals only queue.
//      A replica with several stages has as many steps under way as ReplicaConfig::stages says, in
//      place of async_depth. Each starts when it is planned, or when the first stage is free; plans
//      are made when the oldest one lands, at once after 1 (a client cannot answer before), or
//      when none is under way (lanes/flight.h). What comes then, enters with the next plans
//      (lanes/reception.h).
//   5. a replica that preempted 100,000 times without a token that landed: its requests that have
//      or had a seat fail: starved
//      Moment::over: engines that drain and have nothing left are absent
//   6. when nothing is running, sent, transferred or due and requests are left, they fail: starved
// Between two instants, requests may be aborted (abort.cpp): what comes free then may be planned
// for at the same time of the clock.
// Signals of a router with staleness s are those before the first event at or after k*s.
//
// A step that decodes the same requests as the one before takes a short way through 1 and 4
// (plain_step.cpp); its price may have been asked for ahead (replica/priced_run.h).

#include <algorithm>

#include "base/error.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

bool wanted(const std::atomic<int>* stop) {
  return stop != nullptr && *stop != 0;
}

}  // namespace

std::int64_t Simulation::advance(std::int64_t most, Picoseconds until) {
  const Picoseconds time = next_instant();
  if (time == never) return starve() ? 1 : 0;
  core_.signals.pass_time(time, core_.replicas);
  core_.now = time;
  for (OnTime* part : parts_.on_time) part->pass(Moment::before);
  if (const std::int32_t replica = step_plainly(); replica >= 0)
    return most > 1 ? 1 + repeat_steps(replica, most - 1, until) : 1;
  land_steps();
  deliver();
  plan_steps();
  for (OnTime* part : parts_.on_time) part->pass(Moment::over);
  return 1;
}

bool Simulation::run(const std::atomic<int>* stop, std::int64_t instants) {
  while (instants > 0) {
    const std::int64_t passed = wanted(stop) ? 0 : advance(instants);
    if (passed == 0) return true;
    instants -= passed;
  }
  return false;
}

bool Simulation::run_until(double time_s, const std::atomic<int>* stop, std::int64_t instants) {
  const Picoseconds end = picoseconds(time_s, "run_until");
  core_.until = end;
  while (next_instant() <= end) {
    if (wanted(stop)) return true;
    if (instants == 0) return false;
    const std::int64_t passed = advance(instants, end);
    if (passed == 0) break;
    instants -= passed;
  }
  if (wanted(stop)) return true;
  if (next_instant() == never) return core_.requests.alive() == 0 || run(stop, instants);
  core_.now = std::max(core_.now, end);
  return true;
}

bool Simulation::step() {
  const std::int64_t before = core_.totals.steps;
  while (core_.totals.steps == before) {
    if (!advance()) return false;
  }
  return true;
}

Picoseconds Simulation::next_instant() {
  while (!core_.alarms.empty() && !core_.alarm_holds(core_.alarms.front())) core_.take_alarm();
  Picoseconds time = core_.alarms.empty() ? never : core_.alarms.front().time;
  if (!core_.deliveries.empty()) time = std::min(time, core_.deliveries.front().time);
  if (!core_.sent_now.empty()) time = core_.now;
  if (arrivals_.next_open >= 0) time = std::min(time, core_.progress(arrivals_.next_open).arrival);
  time = std::min(time, core_.workload_due);
  return parts_.next <= time ? parts_.due(time) : time;
}

bool Simulation::is_alone(const OnTime& part) {
  const Picoseconds now = core_.now;
  for (OnTime* other : parts_.on_time)
    if (other != &part && other->due(0) <= now) return false;
  if (!core_.alarms.empty() && core_.alarms.front().time <= now) return false;
  if (!core_.sent_now.empty() || core_.workload_due <= now) return false;
  if (arrivals_.next_open >= 0 && core_.progress(arrivals_.next_open).arrival <= now) return false;
  return core_.deliveries.empty() || core_.deliveries.front().time > now;
}

void Simulation::land_steps() {
  while (!core_.alarms.empty() && core_.alarms.front().time == core_.now) {
    const Alarm due = core_.take_alarm();
    if (!core_.alarm_holds(due)) continue;
    core_.touch(due.replica);
    Replica& replica = core_.at(due.replica);
    if (!replica.pipeline().executing()) continue;
    const bool hands_over = replica.config().role == Role::prefill;
    const StepDone done = replica.land(core_.now, hands_over, scratch_.gaps, scratch_.ending);
    ++core_.totals.steps;
    if (!hands_over) core_.totals.output_tokens += done.tokens_landed();
    if (done.tokens_landed() > 0)
      core_.fruitless_preemptions[static_cast<std::size_t>(due.replica)] = 0;
    core_.tell(&Observer::on_step, done);
    if (knowledge_ && knowledge_->counts()) {
      for (const PrefillWork& work : done.prefills)
        if (work.completes != 0) knowledge_->compute(work.slot, due.replica);
    }
    for (OnStep* part : parts_.on_step) part->landed(done);
    if (arrivals_.watches_first_tokens) tell_first_tokens(done.prefills);
    for (const std::int32_t slot : scratch_.ending) {
      const auto goes_on = [&](OnStep* part) { return part->completed(slot, due.replica); };
      if (std::none_of(parts_.on_step.begin(), parts_.on_step.end(), goes_on))
        finish(slot, Outcome::completed);
    }
    if (!core_.left.empty()) free_left_seats(due.replica);
    if (core_.signals.reads_reports())
      core_.signals.step_ended(done, replica.kv().used_blocks(), replica.view().seats);
    // With stages the next plan is made before a client can answer.
    if (!replica.has_stages()) continue;
    fill_stages(core_.group_with(due.replica));
    core_.signals.changed(due.replica);
  }
}

void Simulation::deliver() {
  const auto due = [&](Delivery::Kind last) {
    return !core_.deliveries.empty() && core_.deliveries.front().time == core_.now &&
           core_.deliveries.front().kind <= last;
  };
  while (due(Delivery::Kind::transfer)) {
    const Delivery delivery = core_.deliveries.pop();
    if (delivery.kind == Delivery::Kind::flows) {
      pass_flows();
      continue;
    }
    for (OnFlow* part : parts_.on_flow) part->delivered(delivery.slot);
  }
  for (OnTime* part : parts_.on_time) part->pass(Moment::due);
  if (core_.workload_due <= core_.now) ask_workload();
  for (OnTime* part : parts_.on_time) part->pass(Moment::late);
  while (due(Delivery::Kind::through_frontend)) {  // or flows that a lease's end lets begin
    const Delivery delivery = core_.deliveries.pop();
    delivery.kind == Delivery::Kind::through_frontend ? route(delivery.slot) : pass_flows();
  }
  while (arrivals_.next_open >= 0 && core_.progress(arrivals_.next_open).arrival == core_.now) {
    const std::int32_t slot = arrivals_.next_open;
    read_ahead();
    send(slot);
  }
  while (due(Delivery::Kind::sent)) {  // or flows that began just now and move at once
    const Delivery next = core_.deliveries.pop();
    next.kind == Delivery::Kind::flows ? pass_flows() : send(next.slot);
  }
  send_follow_ups();
  for (OnTime* part : parts_.on_time) part->pass(Moment::sent);
}

void Simulation::send_follow_ups() {
  for (std::size_t i = 0; i < core_.sent_now.size(); ++i)
    send(core_.sent_now[i]);  // which may add to it
  core_.sent_now.clear();
}

void Simulation::plan_steps() {
  if (core_.touched.size() > 1) std::sort(core_.touched.begin(), core_.touched.end());
  for (std::size_t i = 0; i < core_.touched.size(); ++i) {
    const auto index = static_cast<std::size_t>(core_.touched[i]);
    core_.is_touched[index] = 0;
    fill_pipeline(core_.groups[index]);
    for (const std::int32_t member : core_.groups[index].members) core_.signals.changed(member);
  }
  core_.touched.clear();
}

void Simulation::tell_preemptions(Replica& replica) {
  const auto preempted = replica.plan().preempted();
  const auto count = static_cast<std::int64_t>(preempted.size());
  core_.totals.preemptions += count;
  core_.fruitless_preemptions[static_cast<std::size_t>(replica.view().index)] += count;
  for (Observer* observer : core_.bindings.observers) {
    for (const std::int32_t slot : preempted) observer->on_preempt(core_.requests[slot], core_.now);
  }
  for (OnStep* part : parts_.on_step)
    for (const std::int32_t slot : preempted) part->preempted(slot);
}

}  // namespace rooflua
