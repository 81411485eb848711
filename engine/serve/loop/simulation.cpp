#include "serve/loop/simulation.h"

#include <algorithm>
#include <string>

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

}  // namespace

Simulation::Simulation(const ClusterConfig& config, const Bindings& bindings)
    : core_(config, bindings) {
  std::size_t most = 0;
  for (const RankGroup& group : core_.groups) most = std::max(most, group.members.size());
  look_at_observers();
  scratch_.prices.resize(most);
  scratch_.operations.resize(most);
  core_.bind_groups();
  bind_holders();
  core_.bind_speculation();
  bind_router();
  parts_.make(core_, *this);
  arrivals_.watches_first_tokens = core_.bindings.workload->watches_first_tokens();
  read_ahead();
  read_due();
}

Simulation::~Simulation() = default;
/// Without parts: fork() adds them when its policies are bound.
Simulation::Simulation(const Simulation& other) = default;

// --- from outside

std::int32_t Simulation::slot_of(std::int32_t id) const {
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    if (core_.requests[slot].id == id && core_.is_live(slot)) return slot;
  }
  return -1;
}

// --- other policies

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
  core_.bindings.decider = bindings.decider;
  core_.bindings.admission = bindings.admission;
  core_.bindings.client = bindings.client;
  core_.bindings.faults = bindings.faults;
  core_.bindings.experts = bindings.experts;
  core_.bindings.tiers = bindings.tiers;
  core_.bindings.evictions = bindings.evictions;
  core_.bindings.autoscalers = bindings.autoscalers;
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
  copy->bind_router();
  copy->core_.bind_groups();
  copy->bind_holders();
  copy->core_.bind_speculation();
  copy->parts_.copy(parts_, copy->core_, *copy);
  return copy;
}

Totals simulate(const ClusterConfig& config, const Bindings& bindings) {
  Simulation simulation(config, bindings);
  simulation.run();
  return simulation.totals();
}

}  // namespace rooflua
