#include "serve/loop/simulation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

/// A copy speculates where the original does.
void check_fork(const Bindings& given, const Bindings& own) {
  const auto speculates = [](const Bindings& bindings, std::size_t i) {
    return i < bindings.speculators.size() && bindings.speculators[i] != nullptr;
  };
  for (std::size_t i = 0; i < own.schedulers.size(); ++i) {
    if (speculates(given, i) == speculates(own, i)) continue;
    throw Error("speculators",
                "replica " + std::to_string(i + 1) +
                    (speculates(own, i) ? " speculates, and its copy has none"
                                        : " does not speculate, and its copy has one"));
  }
}

/// Observers hear of a transfer that has ended, if it is one of their kind, and of one that failed.
void tell_ended(Core& core, const Parts& parts, const FlowEnded& flow) {
  const FlowRequest& what = flow.what;
  TransferSeen seen{.from = what.from,
                    .to = what.to,
                    .start = flow.start,
                    .end = flow.end,
                    .bytes = flow.failed ? flow.through : what.bytes,
                    .alone_end = flow.alone_end,
                    .wires = what.path};
  const auto knows = [&](const OnFlow* part) { return part->describes(what, seen); };
  const bool is_known = std::any_of(parts.on_flow.begin(), parts.on_flow.end(), knows);
  if (flow.failed)
    core.tell(&Observer::on_failed_transfer, seen);
  else if (is_known)
    core.tell(&Observer::on_transfer, seen);
}

}  // namespace

Simulation::Simulation(const ClusterConfig& config, const Bindings& bindings)
    : core_(config, bindings), routing_(core_, parts_) {
  look_at_observers();
  keep_room();
  core_.bind_groups();
  routing_.bind_holders();
  core_.bind_speculation();
  routing_.bind();
  parts_.make(core_, *this);
  arrivals_.watches_first_tokens = core_.bindings.workload->watches_first_tokens();
  read_ahead();
  read_due();
}

Simulation::~Simulation() = default;

/// For the ranks of each group.
void Simulation::keep_room() {
  std::size_t most = 0;
  for (const RankGroup& group : core_.groups) most = std::max(most, group.members.size());
  scratch_.prices.resize(most);
  scratch_.operations.resize(most);
}

/// Without parts: fork() adds them when its policies are bound.
Simulation::Simulation(const Simulation& other)
    : core_(other.core_),
      arrivals_(other.arrivals_),
      routing_(other.routing_, core_, parts_),
      idle_asks_(other.idle_asks_) {
  keep_room();
}

// --- from outside

std::int32_t Simulation::slot_of(std::int32_t id) const {
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    if (core_.requests[slot].id == id && core_.is_live(slot)) return slot;
  }
  return -1;
}

// --- other policies

void Simulation::set_router(Router& router) {
  core_.bindings.router = &router;
  routing_.bind();
}

void Simulation::set_scheduler(std::int32_t index, SchedulerPolicy& policy) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  core_.at(index).rekey(policy);  // asks for keys, which may be an error
  core_.bindings.schedulers[static_cast<std::size_t>(index)] = &policy;
  if (core_.at(index).pipeline().executing()) return;
  core_.at(index).wake_at(core_.now);
  core_.alarms.push({core_.now, index});
}

void Simulation::set_parts(const Bindings& bindings) {
  const Bindings before = core_.bindings;
  core_.bindings.take_parts(bindings);
  parts_.rebind(before);
}

Part& Simulation::part(std::string_view name) {
  return parts_.demand(name, core_, *this);
}

void Simulation::set_steps(std::int32_t index, StepModel& model) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  const Bindings before = core_.bindings;
  core_.bindings.steps[static_cast<std::size_t>(index)] = &model;
  core_.steps[static_cast<std::size_t>(index)] = &model;
  core_.runs[static_cast<std::size_t>(index)].forget();
  parts_.rebind(before);
}

void Simulation::set_speculation(std::int32_t index, SpeculatorPolicy& speculator,
                                 AcceptanceModel& acceptance) {
  const auto place = static_cast<std::size_t>(index);
  ROOFLUA_ASSERT(place < core_.bindings.speculators.size() && core_.replicas[place].is_ragged());
  core_.bindings.speculators[place] = &speculator;
  core_.bindings.acceptances[place] = &acceptance;
  core_.bind_speculation();
}

std::unique_ptr<Simulation> Simulation::fork(const Bindings& bindings) const {
  check_each(bindings, core_.replicas.size());
  check_fork(bindings, core_.bindings);
  std::unique_ptr<Simulation> copy(new Simulation(*this));
  copy->core_.bindings = bindings;
  copy->core_.steps = bindings.steps;
  copy->look_at_observers();
  for (PricedRun& run : copy->core_.runs) run.forget();
  for (Replica& replica : copy->core_.replicas) replica.rebind(copy->core_.requests);
  copy->routing_.bind();
  copy->core_.bind_groups();
  copy->routing_.bind_holders();
  copy->core_.bind_speculation();
  copy->parts_.copy(parts_, copy->core_, *copy);
  return copy;
}

// --- transfers over links: those that end, and those that stood still for too long

void Simulation::pass_flows() {
  scratch_.flows_ended.clear();
  core_.kv_links->flows().pass(core_.now, scratch_.flows_ended);
  core_.flows_expected = never;
  core_.expect_flows();
  for (OnFlow* part : parts_.on_flow) part->moved(scratch_.flows_ended);
  std::vector<FlowEnded> failed;
  for (const FlowEnded& flow : scratch_.flows_ended) {
    if (flow.failed) {
      failed.push_back(flow);
      continue;
    }
    tell_ended(core_, parts_, flow);
    for (OnFlow* part : parts_.on_flow)
      if (part->arrived(flow)) break;
  }
  if (failed.empty()) return;
  for (const FlowEnded& flow : failed) tell_ended(core_, parts_, flow);
  for (const FlowEnded& flow : failed)
    for (OnFlow* part : parts_.on_flow)
      if (part->failed(flow.what)) break;
  core_.expect_flows();  // others may be faster now
}

Totals simulate(const ClusterConfig& config, const Bindings& bindings) {
  Simulation simulation(config, bindings);
  simulation.run();
  return simulation.totals();
}

}  // namespace rooflua
