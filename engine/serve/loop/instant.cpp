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
//      Then requests end that are due to, by id: they are aborted (request.cpp).
//      Moment::late: deadlines pass of requests that a part holds, or that wait at a replica, by
//      id; requests that waited for a replica go, if one is ready now, in the order they came
//   3. requests that leave the frontend now, in order of sending, and those that an engine which
//      drains has sent back at this instant, by replica; then requests that are sent now:
//      those of the workload's stream, then follow-ups and requests that are sent again, in the
//      order they were given. Parts may take each on its way to the router (OnRequest::takes).
//      Moment::sent: requests go that a part lets go; autoscalers that are due are asked
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
// Between two instants, requests may be aborted (request.cpp): what comes free then may be planned
// for at the same time of the clock.
// Signals of a router with staleness s are those before the first event at or after k*s.
//
// A step that decodes the same requests as the one before takes a short way through 1 and 4
// (step_plainly()); its price may have been asked for ahead (replica/priced_run.h).

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "serve/core/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

bool wanted(const std::atomic<int>* stop) {
  return stop != nullptr && *stop != 0;
}

/// The waiting and seated requests that `picks` holds for fail, in order of arrival.
template <class Picks>
void starve_where(Core& core, Loop& loop, Picks picks) {
  std::vector<std::int32_t> starved = core.live_slots();
  std::erase_if(starved, [&](std::int32_t slot) {
    const Phase phase = core.requests[slot].phase;
    return (phase != Phase::waiting && phase != Phase::prefilling && phase != Phase::decoding) ||
           !picks(core.requests[slot]);
  });
  for (const std::int32_t slot : starved) {
    core.at(core.requests[slot].replica).evict(slot);
    core.signals.changed(core.requests[slot].replica);
    loop.finish(slot, Outcome::starved);
  }
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
  const Picoseconds step = core_.alarms.empty() ? never : core_.alarms.front().time;
  const Picoseconds time = std::min(step, next_besides_steps());
  return parts_.next <= time ? parts_.due(time) : time;
}

/// When something is due that is no step's, and of no part.
Picoseconds Simulation::next_besides_steps() const {
  Picoseconds time = core_.workload_due;
  if (!core_.sent_now.empty()) time = std::min(time, core_.now);
  if (!core_.deliveries.empty()) time = std::min(time, core_.deliveries.front().time);
  if (arrivals_.next_open >= 0) time = std::min(time, core_.progress(arrivals_.next_open).arrival);
  return time;
}

bool Simulation::is_alone(const OnTime& part) {
  const Picoseconds now = core_.now;
  for (OnTime* other : parts_.on_time)
    if (other != &part && other->due(0) <= now) return false;
  if (!core_.alarms.empty() && core_.alarms.front().time <= now) return false;
  return next_besides_steps() > now;
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
    if (routing_.counts()) routing_.landed(done);
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

// --- the short way of a step that decodes the same requests as the one before it, of a replica
// that steps alone: what land_steps() and fill_pipeline() do, without what cannot matter. Observers
// are told of each such step as of any other.

void Simulation::look_at_observers() {
  unread_prices_ = true;
  bool reads_waits = false;
  for (const Observer* observer : core_.bindings.observers) {
    unread_prices_ = unread_prices_ && !observer->reads_prices();
    reads_waits = reads_waits || observer->reads_waits();
  }
  for (Replica& replica : core_.replicas) replica.watch_waits(reads_waits);
}

/// The whole instant, if one plain step that ends is all that happens now.
/// @returns whose step; -1: nothing was done
std::int32_t Simulation::step_plainly() {
  if (!unread_prices_ || core_.alarms.empty() || core_.alarms.front().time != core_.now ||
      core_.alarms.is_tied(core_.now))
    return -1;
  if (next_besides_steps() <= core_.now || parts_.next <= core_.now) return -1;
  for (const OnTime* part : parts_.on_time)
    if (part->next_tick() <= core_.now) return -1;
  const std::int32_t index = core_.alarms.front().replica;
  Replica& replica = core_.at(index);
  if (!replica.repeats(core_.now)) return -1;
  for (const OnStep* part : parts_.on_step)
    if (part->same_for(index) == 0) return -1;
  const StepPrice* price = replica.price_of_repeat(core_.runs[static_cast<std::size_t>(index)]);
  if (price == nullptr) return -1;
  core_.take_alarm();
  core_.signals.changed(index);
  const StepDone done = replica.land_plain(core_.now);
  ++core_.totals.steps;
  ++core_.totals.plain_steps;
  core_.totals.output_tokens += done.tokens_landed();
  core_.fruitless_preemptions[static_cast<std::size_t>(index)] = 0;
  idle_asks_ = 0;
  core_.tell(&Observer::on_step, done);
  if (core_.signals.reads_reports()) core_.signals.step_ended(done, done.left_blocks, done.running);
  const bool behind = replica.pipeline().planned() > 0;  // with a depth of 2
  if (!behind) replica.repeat(*price, core_.now);
  const Picoseconds end = after(core_.now, replica.pipeline().front().price.time_s, "step model");
  replica.start_front(core_.now, end);
  if (behind) replica.repeat(*price, core_.now);
  for (OnStep* part : parts_.on_step) part->took(index, core_.now, replica.view().decodes);
  core_.alarms.push({end, index});
  return index;
}

/// Several plain steps of one replica at once, while nothing else happens: no other replica's step
/// ends, nothing arrives, and their prices are known ahead. Each of them is planned and ends when
/// it would alone. @pre a plain step of that replica has just ended  @returns how many
std::int64_t Simulation::repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until) {
  const Alarm alarm = core_.alarms.front();
  if (alarm.replica != index) return 0;
  if (routing_.hears()) return 0;  // caches report at the time of each step
  Picoseconds before = std::min(core_.signals.next_tick(), until == never ? never : until + 1);
  before = std::min(before, parts_.next);
  for (const OnTime* part : parts_.on_time) before = std::min(before, part->next_tick());
  if (const Alarm* other = core_.alarms.ahead(1)) before = std::min(before, other->time);
  before = std::min(before, next_besides_steps());
  if (alarm.time >= before) return 0;
  Replica& replica = core_.at(index);
  PricedRun& run = core_.runs[static_cast<std::size_t>(index)];
  for (const OnStep* part : parts_.on_step) most = std::min(most, part->same_for(index));
  const auto limit = static_cast<std::size_t>(most);
  const std::size_t ended = replica.repeat_until(before, limit, run, scratch_.repeats);
  if (ended == 0) return 0;
  const std::span<const RepeatedStep> steps(scratch_.repeats);
  const StepsDone done{replica.first_repeat(steps.front()), steps.first(ended)};
  core_.tell(&Observer::on_steps, done);
  if (core_.signals.reads_reports())
    core_.signals.step_ended(done.first, steps[ended - 1].left_blocks, done.first.running);
  const auto count = static_cast<std::int64_t>(ended);
  for (OnStep* part : parts_.on_step)
    for (const RepeatedStep& each : steps.first(ended))
      part->took(index, each.end, replica.view().decodes);
  core_.totals.steps += count;
  core_.totals.plain_steps += count;
  core_.totals.output_tokens += count * done.first.tokens_landed();
  replica.settle_repeats(steps, ended, run);
  core_.now = steps[ended - 1].end;
  core_.alarms.pop();
  core_.alarms.push({replica.pipeline().front().end, index});
  return count;
}

// --- requests that no scheduler will ever run to their end

/// Requests preempt each other for ever: those that have a seat on this replica, or lost one, fail.
/// Those that never had one may still run.
void Simulation::starve_contenders(const Replica& replica) {
  const std::int32_t index = replica.view().index;
  core_.fruitless_preemptions[static_cast<std::size_t>(index)] = 0;
  starve_where(core_, *this, [&](const Request& request) {
    return request.replica == index && (request.phase != Phase::waiting || request.preemptions > 0);
  });
}

/// No event can happen any more: all requests that are left fail. True if there were any.
bool Simulation::starve() {
  const std::int64_t before = core_.requests.alive();
  for (Replica& replica : core_.replicas) end_failing(replica);
  for (RankGroup& group : core_.groups) Ranks(core_, *this).let_all_in(group);
  for (OnTime* part : parts_.on_time) part->pass(Moment::stuck);
  starve_where(core_, *this, [](const Request&) { return true; });
  for (OnTime* part : parts_.on_time) part->pass(Moment::failed);
  return core_.requests.alive() < before || !core_.deliveries.empty() || !core_.sent_now.empty();
}

}  // namespace rooflua
