#include "serve/loop/simulation.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "serve/loop/life.h"

namespace rooflua {

namespace {

void check(const Bindings& bindings, std::size_t replicas) {
  const auto one_each = [&](std::size_t found, const char* what) {
    if (found != replicas)
      throw Error(what, "found " + std::to_string(found) + " for " + std::to_string(replicas) +
                            " replicas; each has its own");
  };
  one_each(bindings.schedulers.size(), "schedulers");
  one_each(bindings.steps.size(), "steps");
  if (!bindings.speculators.empty()) {
    one_each(bindings.speculators.size(), "speculators");
    one_each(bindings.acceptances.size(), "acceptances");
  }
  for (std::size_t i = 0; i < replicas; ++i)
    ROOFLUA_ASSERT(bindings.schedulers[i] != nullptr && bindings.steps[i] != nullptr);
  ROOFLUA_ASSERT(bindings.workload != nullptr);
}

/// The configuration with `ragged` where the bindings have a speculator.
ClusterConfig with_rows(ClusterConfig config, const Bindings& bindings) {
  for (std::size_t i = 0; i < std::min(config.replicas.size(), bindings.speculators.size()); ++i)
    config.replicas[i].ragged |= bindings.speculators[i] != nullptr;
  return config;
}

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

/// By replica: the place of its group.
std::vector<std::int32_t> places_of(const std::vector<RankGroup>& groups, std::size_t replicas) {
  std::vector<std::int32_t> out(replicas);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::int32_t index : groups[g].members)
      out[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(g);
  }
  return out;
}

PrefixIndex index_of(const ReplicaConfig& config, const Workload& workload, bool tiers) {
  if (!config.prefix_caching) return PrefixIndex::none;
  // A hit that loses a block leaves a second copy behind, and the order of copies counts.
  const bool real = config.real_blocks || config.drops_last_hit || config.state_blocks > 0 || tiers;
  return real || workload.shares_content() ? PrefixIndex::shared : PrefixIndex::own;
}

std::vector<std::int32_t> block_sizes(const std::vector<ReplicaConfig>& replicas) {
  std::vector<std::int32_t> out;
  for (const ReplicaConfig& each : replicas) out.push_back(each.block_size);
  return out;
}

bool starts_over_links(const ClusterConfig& config) {
  return std::any_of(config.pools.begin(), config.pools.end(),
                     [](const PoolConfig& pool) { return !pool.start.link.empty(); });
}

}  // namespace

Simulation::Simulation(const ClusterConfig& config, const Bindings& bindings)
    : config_(with_rows(config, bindings)),
      bindings_(bindings),
      groups_(rank_groups(config.replicas)),
      group_of_(places_of(groups_, config.replicas.size())),
      signals_(group_of_, config.replicas) {
  validate(config_);
  check(bindings_, config_.replicas.size());
  replicas_.reserve(config_.replicas.size());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(config_.replicas.size()); ++i) {
    const ReplicaConfig& replica = config_.replicas[static_cast<std::size_t>(i)];
    replicas_.emplace_back(i, replica,
                           index_of(replica, *bindings_.workload, !config_.tiers.stores.empty()),
                           requests_);
    ++built_[replica.role == Role::decode ? 1 : 0];
    split_ = split_ || replica.role == Role::prefill;
  }
  if (!config_.pools.empty() || bindings_.faults != nullptr) Life(*this).open();
  Life(*this).gather_candidates();
  fruitless_preemptions_.assign(replicas_.size(), 0);
  std::size_t most = 0;
  for (const RankGroup& group : groups_) most = std::max(most, group.members.size());
  runs_.resize(replicas_.size());
  receptions_.resize(replicas_.size());
  look_at_observers();
  prices_.resize(most);
  operations_.resize(most);
  is_touched_.assign(groups_.size(), 0);
  if (bindings_.experts != nullptr) experts_.resize(groups_.size());
  bind_groups();
  bind_holders();
  bind_speculation();
  frontend_token_ = picoseconds(config_.frontend.per_output_token_s, "frontend.per_output_token_s");
  bind_router();
  if (bindings_.admission != nullptr) gate_.emplace(bindings_.admission->rules());
  if (config_.transfer.over_links() || !config_.tiers.stores.empty() || starts_over_links(config_))
    kv_links_.emplace(config_.links, nodes_of(config_.replicas), config_.transfer.path);
  if (!config_.tiers.stores.empty())
    tiers_.emplace(config_.tiers, block_sizes(config_.replicas), kv_links_->wires());
  bind_tiers();
  watches_first_tokens_ = bindings_.workload->watches_first_tokens();
  if (bindings_.faults != nullptr) Life(*this).ask_faults();
  read_ahead();
  read_due();
  if (fleet_) Life(*this).bind_autoscalers();
}

Simulation::~Simulation() = default;
Simulation::Simulation(const Simulation& other) = default;

// --- from outside

std::int32_t Simulation::slot_of(std::int32_t id) const {
  for (std::int32_t slot = 0; slot < requests_.slots(); ++slot) {
    if (requests_[slot].id == id && is_live(slot)) return slot;
  }
  return -1;
}

// --- other policies

/// Replicas that step together see their group.
void Simulation::bind_groups() {
  for (const RankGroup& group : groups_) {
    for (const std::int32_t index : group.members)
      at(index).see_group(group.shared() ? &group.view : nullptr);
  }
}

void Simulation::bind_speculation() {
  for (std::size_t i = 0; i < bindings_.speculators.size(); ++i) {
    if (replicas_[i].is_ragged())
      replicas_[i].speculate_by(bindings_.speculators[i], bindings_.acceptances[i]);
  }
}

void Simulation::set_scheduler(std::int32_t index, SchedulerPolicy& policy) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  at(index).rekey(policy);  // asks for keys, which may be an error
  bindings_.schedulers[static_cast<std::size_t>(index)] = &policy;
  if (at(index).pipeline().executing()) return;
  at(index).wake_at(now_);
  alarms_.push({now_, index});
}

void Simulation::set_steps(std::int32_t index, StepModel& model) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  bindings_.steps[static_cast<std::size_t>(index)] = &model;
  runs_[static_cast<std::size_t>(index)].forget();
  if (!slowed_.empty()) Life(*this).set_speed(index);
}

void Simulation::set_speculation(std::int32_t index, SpeculatorPolicy& speculator,
                                 AcceptanceModel& acceptance) {
  const auto place = static_cast<std::size_t>(index);
  ROOFLUA_ASSERT(place < bindings_.speculators.size() && replicas_[place].is_ragged());
  bindings_.speculators[place] = &speculator;
  bindings_.acceptances[place] = &acceptance;
  bind_speculation();
}

std::unique_ptr<Simulation> Simulation::fork(const Bindings& bindings) const {
  check(bindings, replicas_.size());
  check_fork(bindings, bindings_);
  if ((bindings.admission == nullptr) != (bindings_.admission == nullptr))
    throw Error("admission", "a copy has a gate where the original has one");
  std::unique_ptr<Simulation> copy(new Simulation(*this));
  copy->bindings_ = bindings;
  copy->look_at_observers();
  for (PricedRun& run : copy->runs_) run.forget();
  for (Replica& replica : copy->replicas_) replica.rebind(copy->requests_);
  copy->bind_router();
  copy->bind_groups();
  copy->bind_holders();
  copy->bind_speculation();
  copy->bind_tiers();
  for (std::size_t i = 0; i < copy->slowed_.size(); ++i)
    Life(*copy).set_speed(static_cast<std::int32_t>(i));
  return copy;
}

Totals simulate(const ClusterConfig& config, const Bindings& bindings) {
  Simulation simulation(config, bindings);
  simulation.run();
  return simulation.totals();
}

}  // namespace rooflua
