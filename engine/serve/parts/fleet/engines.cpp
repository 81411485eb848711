// Engines that come and go, and requests that wait until there is one.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/core/ranks.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua {

// --- from outside

void FleetPart::want_engines(std::int32_t pool, std::int32_t engines) {
  ROOFLUA_ASSERT(pool >= 0 && pool < static_cast<std::int32_t>(fleet_.pools.size()));
  core_.signals.pass_time(core_.now, core_.replicas);
  Fleet::Pool& own = fleet_.pools[static_cast<std::size_t>(pool)];
  own.wanted = std::clamp(engines, own.config.min, own.config.max);
  adjust(pool);
  settle_drains();
  loop_.due_changed();  // nobody may come any more for those that wait for a replica
}

void FleetPart::slow_replica(std::int32_t index, double factor, Picoseconds until) {
  ROOFLUA_ASSERT(index >= 0 && index < core_.replica_count());
  if (!(factor > 0))
    throw Error("slow_replica",
                "found the factor " + std::to_string(factor) + "; a number above 0 is right");
  Fleet::Slow& slow = fleet_.slow[static_cast<std::size_t>(index)];
  slow = {factor, until, slow.ticket + 1};
  if (until != never && factor != 1)
    fleet_.due.push({until, index, LifeAlarm::Kind::speed_over, slow.ticket});
  loop_.due_changed();
  set_speed(index);
}

void FleetPart::fail_replica(std::int32_t index, double repair_s) {
  ROOFLUA_ASSERT(index >= 0 && index < core_.replica_count());
  const std::int32_t engine = core_.engine_of(index);
  const Lifecycle state = fleet_.engine(engine).state;
  if (state == Lifecycle::absent || state == Lifecycle::failed) return;
  core_.signals.pass_time(core_.now, core_.replicas);
  if (state == Lifecycle::starting && core_.kv_links) {
    core_.kv_links->flows().stop(Errand::start, engine, core_.now);
    core_.expect_flows();
  }
  fleet_.engine(engine).will_be_repaired = std::isfinite(repair_s);
  set_state(engine, Lifecycle::failed);
  const double detect_s = core_.bindings.faults == nullptr ? 0 : core_.bindings.faults->detect_s();
  if (detect_s > 0 && state == Lifecycle::ready) {
    fleet_.engine(engine).is_undetected = true;
    gather_candidates();
    alarm(engine, LifeAlarm::Kind::detected, detect_s);
  }
  const std::vector<std::int32_t> members = core_.groups[static_cast<std::size_t>(engine)].members;
  for (const std::int32_t member : members) {
    lose_replica(core_, loop_, member);
    forget_content(member);
  }
  if (std::isfinite(repair_s)) alarm(engine, LifeAlarm::Kind::repaired, repair_s);
}

void FleetPart::lose_connection(std::int32_t slot, std::int32_t replica) {
  core_.requests[slot].replica = replica;
  const FaultPolicy* faults = core_.bindings.faults;
  const double connect_s = faults == nullptr ? 0 : faults->connect_s();
  if (!(connect_s >= 0)) throw Error("faults", "connect_s: seconds from 0 on are right");
  if (std::isinf(connect_s)) return;
  core_.end_at(slot, DueEnd::Kind::lost, after(core_.now, connect_s, "faults: connect_s"));
}

void FleetPart::forget_content(std::int32_t index) {
  core_.at(index).lose_steps();
  core_.at(index).lose_content();
  for (OnFlow* part : loop_.on_flow()) part->emptied(index);
  loop_.forget_content(index);
  core_.signals.changed(index);
  core_.tell_blocks(index);
}

// --- states

const RankGroup& FleetPart::group(std::int32_t engine) const {
  return core_.groups[static_cast<std::size_t>(engine)];
}

void FleetPart::gather_candidates() {
  for (std::vector<std::int32_t>& each : core_.candidates) each.clear();
  for (std::int32_t i = 0; i < core_.replica_count(); ++i) {
    const Fleet::Engine& engine = fleet_.engine(core_.engine_of(i));
    const bool believed = engine.is_undetected && !core_.is_decoder(i);
    if (believed || engine.state == Lifecycle::ready)
      core_.candidates[core_.is_decoder(i) ? 1 : 0].push_back(i);
  }
  core_.signals.set_candidates(core_.candidates);
  ++core_.candidate_changes;
  loop_.due_changed();
}

void FleetPart::set_state(std::int32_t engine, Lifecycle state) {
  Fleet::Engine& own = fleet_.engine(engine);
  const Lifecycle before = std::exchange(own.state, state);
  core_.states[static_cast<std::size_t>(engine)] = state;
  ++own.ticket;
  own.since = core_.now;
  const bool was_believed = std::exchange(own.is_undetected, false);
  std::erase(fleet_.drains, engine);
  if (state == Lifecycle::draining) fleet_.drains.push_back(engine);
  if (was_believed || (before == Lifecycle::ready) != (state == Lifecycle::ready))
    gather_candidates();
  for (const std::int32_t member : group(engine).members) {
    for (Observer* observer : core_.bindings.observers)
      observer->on_replica({member, before, state, core_.now});
  }
  loop_.due_changed();
}

void FleetPart::alarm(std::int32_t engine, LifeAlarm::Kind kind, double after_s) {
  fleet_.due.push({after(core_.now, after_s, "the life of a replica"), engine, kind,
                   fleet_.engine(engine).ticket});
  loop_.due_changed();
}

void FleetPart::pass_due() {
  while (fleet_.next() <= core_.now) {
    if (fleet_.due.empty() || fleet_.due.front().time > core_.now) {
      if (fleet_.fault_time > core_.now) return;  // an autoscaler is due
      const Fault fault = *fleet_.fault;
      ask_faults();
      come_to_pass(fault);
      continue;
    }
    const LifeAlarm due = fleet_.due.pop();
    switch (due.kind) {
      case LifeAlarm::Kind::part_over:
        end_part(due.engine);
        break;
      case LifeAlarm::Kind::repaired:
        start(due.engine);
        break;
      case LifeAlarm::Kind::grace_over:
        for (const std::int32_t member : group(due.engine).members) abort_all(member);
        break;
      case LifeAlarm::Kind::speed_over:
        fleet_.slow[static_cast<std::size_t>(due.engine)].factor = 1;
        set_speed(due.engine);
        break;
      case LifeAlarm::Kind::link_over:
        set_wires({&due.engine, 1}, 1);
        break;
      case LifeAlarm::Kind::detected:
        fleet_.engine(due.engine).is_undetected = false;
        gather_candidates();
        break;
    }
  }
}

// --- starts

void FleetPart::start(std::int32_t engine) {
  set_state(engine, Lifecycle::starting);
  fleet_.engine(engine).part = StartPart::provision;
  begin_part(engine);
}

void FleetPart::begin_part(std::int32_t engine) {
  Fleet::Engine& own = fleet_.engine(engine);
  static const StartConfig at_once;
  const StartConfig& start =
      own.pool < 0 ? at_once : fleet_.pools[static_cast<std::size_t>(own.pool)].config.start;
  ++own.ticket;
  while (own.part != StartPart::over) {
    if (own.part == StartPart::image && send(engine, start.image_bytes)) return;
    if (own.part == StartPart::weights && send(engine, start.weight_bytes)) return;
    const double time_s = own.part == StartPart::provision ? start.provision_s
                          : own.part == StartPart::init    ? start.init_s
                                                           : 0;
    if (time_s > 0) return alarm(engine, LifeAlarm::Kind::part_over, time_s);
    own.part = static_cast<StartPart>(static_cast<std::int32_t>(own.part) + 1);
  }
  set_state(engine, Lifecycle::ready);
}

/// Bytes of a start set off. False: there are none.
bool FleetPart::send(std::int32_t engine, double bytes) {
  if (!(bytes > 0)) return false;
  const Fleet::Engine& own = fleet_.engine(engine);
  const PoolConfig& pool = fleet_.pools[static_cast<std::size_t>(own.pool)].config;
  const std::int32_t to = group(engine).members.front();
  FlowRequest flow{.path = {}, .errand = Errand::start, .ticket = engine, .bytes = bytes, .to = to};
  const Wires& wires = core_.kv_links->wires();
  for (const std::string& name : pool.start.link) {
    const std::int32_t link = wires.link_named(name, "pools.start.link");
    flow.alpha_s += wires.links()[static_cast<std::size_t>(link)].alpha_s;
    wires.add_way(link, to, Wires::Way::in, flow.path);
  }
  core_.kv_links->flows().start(std::move(flow), core_.now);
  core_.expect_flows();
  return true;
}

void FleetPart::end_part(std::int32_t engine) {
  Fleet::Engine& own = fleet_.engine(engine);
  own.part = static_cast<StartPart>(static_cast<std::int32_t>(own.part) + 1);
  begin_part(engine);
}

// --- drains

/// Engines that start, are ready or will be repaired are as many as are wanted, as far as there are
/// absent ones. Those that start go first, the youngest of them; they had cost nothing yet that is
/// worth keeping.
/// @source Kubernetes pkg/controller/controller_utils.go (ActivePods: pods that are not ready are
/// deleted first, then younger ones)
void FleetPart::adjust(std::int32_t pool) {
  const Fleet::Pool& own = fleet_.pools[static_cast<std::size_t>(pool)];
  const auto present = [&] {
    return static_cast<std::int32_t>(
        std::count_if(own.engines.begin(), own.engines.end(), [&](std::int32_t engine) {
          return fleet_.takes_requests(engine) || fleet_.will_come(engine);
        }));
  };
  for (std::int32_t missing = own.wanted - present(); missing > 0; --missing) {
    const auto absent = std::find_if(
        own.engines.begin(), own.engines.end(),
        [&](std::int32_t engine) { return fleet_.engine(engine).state == Lifecycle::absent; });
    if (absent == own.engines.end()) break;
    start(*absent);
  }
  for (std::int32_t spare = present() - own.wanted; spare > 0; --spare) {
    const std::int32_t engine = engine_to_drain(own);
    if (engine < 0) break;
    if (fleet_.engine(engine).state == Lifecycle::ready) {
      drain(engine);
      continue;
    }
    if (core_.kv_links) {
      core_.kv_links->flows().stop(Errand::start, engine, core_.now);
      core_.expect_flows();
    }
    set_state(engine, Lifecycle::absent);
  }
}

/// -1: none may go.
std::int32_t FleetPart::engine_to_drain(const Fleet::Pool& pool) {
  std::int32_t best = -1;
  const auto goes_before = [&](std::int32_t a, std::int32_t b) {
    const Fleet::Engine &first = fleet_.engine(a), &second = fleet_.engine(b);
    const bool starts = first.state == Lifecycle::starting;
    if (starts != (second.state == Lifecycle::starting)) return starts;
    if (!starts && outstanding_of(a) != outstanding_of(b))
      return outstanding_of(a) < outstanding_of(b);
    return first.since != second.since ? first.since > second.since : a > b;
  };
  const bool any_starts = std::any_of(
      pool.engines.begin(), pool.engines.end(),
      [&](std::int32_t engine) { return fleet_.engine(engine).state == Lifecycle::starting; });
  if (!any_starts) {
    if (const std::int32_t chosen = chosen_to_drain(pool); chosen >= 0) return chosen;
  }
  for (const std::int32_t engine : pool.engines) {
    const Lifecycle state = fleet_.engine(engine).state;
    if (state != Lifecycle::ready && state != Lifecycle::starting) continue;
    if (best < 0 || goes_before(engine, best)) best = engine;
  }
  return best;
}

std::int32_t FleetPart::outstanding_of(std::int32_t engine) const {
  std::int32_t sum = 0;
  for (const std::int32_t member : group(engine).members) sum += core_.signals.outstanding(member);
  return sum;
}

void FleetPart::drain(std::int32_t engine) {
  set_state(engine, Lifecycle::draining);
  const PoolConfig& pool =
      fleet_.pools[static_cast<std::size_t>(fleet_.engine(engine).pool)].config;
  if (pool.grace_s > 0) alarm(engine, LifeAlarm::Kind::grace_over, pool.grace_s);
  for (const std::int32_t member : group(engine).members) {
    if (pool.drain == Drain::requeue) requeue_waiting(member);
    if (pool.drain == Drain::abort) abort_all(member);
  }
}

/// Whether no step has had anything of a request that waits at its replica, nor any other replica.
bool FleetPart::may_go_elsewhere(std::int32_t slot) const {
  const Request& request = core_.requests[slot];
  const Progress& progress = core_.progress(slot);
  const bool is_coming = request.phase == Phase::pending && Ranks(core_, loop_).are_without(slot);
  if (request.phase != Phase::waiting && !is_coming) return false;
  return request.preemptions == 0 && progress.held_blocks == 0 && progress.kept_blocks == 0 &&
         progress.prefill_replica < 0 && progress.flows == 0;
}

/// Requests of a replica that have not begun are at the router again.
void FleetPart::requeue_waiting(std::int32_t index) {
  for (const std::int32_t slot : core_.slots_at(index)) {
    if (!may_go_elsewhere(slot)) continue;
    Replica& replica = core_.at(index);
    loop_.leave_replica(slot, index);
    if (core_.is_split) {
      for (OnKv* part : loop_.on_kv()) part->leave_promise(slot);
      core_.hand_over_of(slot) = {};
    }
    if (core_.requests[slot].phase == Phase::waiting) replica.leave(slot, 0);
    Ranks(core_, loop_).leave(slot);
    replica.forget(slot);
    core_.requests[slot].replica = -1;
    core_.post({.time = core_.now, .kind = Delivery::Kind::through_frontend, .slot = slot});
  }
  core_.plan_again(index);
}

void FleetPart::abort_all(std::int32_t index) {
  for (const std::int32_t slot : core_.slots_at(index)) loop_.abort(slot, Outcome::replica_lost);
}

bool FleetPart::is_drained(std::int32_t engine) const {
  const auto& members = group(engine).members;
  return std::all_of(members.begin(), members.end(), [&](std::int32_t member) {
    const Replica& replica = core_.at(member);
    return core_.signals.outstanding(member) == 0 && replica.planned_steps() == 0 &&
           replica.kv().used_blocks() == 0;
  });
}

void FleetPart::settle_drains() {
  if (fleet_.drains.empty()) return;
  const std::vector<std::int32_t> drains = fleet_.drains;
  for (const std::int32_t engine : drains) {
    if (!is_drained(engine)) continue;
    for (const std::int32_t member : group(engine).members) forget_content(member);
    set_state(engine, Lifecycle::absent);
    adjust(fleet_.engine(engine).pool);
  }
}

// --- speed

void FleetPart::set_speed(std::int32_t index) {
  const auto place = static_cast<std::size_t>(index);
  const double factor = fleet_.slow[place].factor;
  StepModel* const model = core_.bindings.steps[place];
  slowed_.resize(core_.replicas.size());
  slowed_[place].reset();
  if (factor != 1) slowed_[place] = std::make_unique<SlowSteps>(*model, factor);
  core_.steps[place] = factor != 1 ? slowed_[place].get() : model;
  core_.runs[place].forget();
}

}  // namespace rooflua
