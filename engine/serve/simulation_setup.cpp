// The rest of simulation.h: setting up, signals, looking in from outside, swapping and forking.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "serve/simulation.h"

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
  for (std::size_t i = 0; i < replicas; ++i)
    ROOFLUA_ASSERT(bindings.schedulers[i] != nullptr && bindings.steps[i] != nullptr);
  ROOFLUA_ASSERT(bindings.workload != nullptr);
}

PrefixIndex index_of(const ReplicaConfig& config, const Workload& workload) {
  if (!config.prefix_caching) return PrefixIndex::none;
  return config.real_blocks || workload.shares_content() ? PrefixIndex::shared : PrefixIndex::own;
}

}  // namespace

Simulation::Simulation(const ClusterConfig& config, const Bindings& bindings)
    : config_(config), bindings_(bindings) {
  validate(config_);
  check(bindings_, config_.replicas.size());
  replicas_.reserve(config_.replicas.size());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(config_.replicas.size()); ++i) {
    const ReplicaConfig& replica = config_.replicas[static_cast<std::size_t>(i)];
    replicas_.emplace_back(i, replica, index_of(replica, *bindings_.workload), requests_);
    if (replica.role != Role::decode) open_candidates_.push_back(i);
    if (replica.role == Role::decode) decode_candidates_.push_back(i);
  }
  outstanding_.assign(replicas_.size(), 0);
  fruitless_.assign(replicas_.size(), 0);
  is_touched_.assign(replicas_.size(), 0);
  signals_.resize(replicas_.size());
  frontend_token_ = picoseconds(config_.frontend.per_output_token_s, "frontend.per_output_token_s");
  bind_router();
  read_ahead();
}

Simulation::~Simulation() = default;
Simulation::Simulation(const Simulation& other) = default;

void Simulation::bind_router() {
  if (bindings_.router == nullptr) {
    if (open_candidates_.size() > 1 || decode_candidates_.size() > 1)
      throw Error("router", "there is none; several replicas need one");
    return;
  }
  staleness_ = picoseconds(bindings_.router->staleness_s(), "router: staleness_s");
}

// --- signals

/// Before anything happens at `time`: the state since the last instant is the state at every tick
/// up to `time`.
void Simulation::take_signals(Picoseconds time) {
  if (staleness_ == 0 || time < signals_next_) return;
  signals_at_ = time - time % staleness_;
  signals_next_ = signals_at_ + staleness_;
  for (std::size_t i = 0; i < replicas_.size(); ++i) signals_[i] = replicas_[i].signals();
}

const ReplicaSignals* Simulation::fresh_signals() {
  if (staleness_ == 0) {
    signals_at_ = now_;
    for (std::size_t i = 0; i < replicas_.size(); ++i) signals_[i] = replicas_[i].signals();
  }
  for (std::size_t i = 0; i < replicas_.size(); ++i) signals_[i].outstanding = outstanding_[i];
  return signals_.data();
}

// --- from outside

std::int32_t Simulation::cached_tokens(std::int32_t slot, std::int32_t index) const noexcept {
  return replicas_[static_cast<std::size_t>(index)].cached_tokens(slot);
}

std::int32_t Simulation::slot_of(std::int32_t id) const {
  for (std::int32_t slot = 0; slot < requests_.slots(); ++slot) {
    if (requests_[slot].phase != Phase::absent && requests_[slot].id == id) return slot;
  }
  return -1;
}

std::vector<RequestDone> Simulation::unfinished() const {
  std::vector<RequestDone> out;
  for (std::int32_t slot = 0; slot < requests_.slots(); ++slot) {
    const Request& request = requests_[slot];
    if (request.phase == Phase::absent || request.id < 0) continue;
    RequestDone each = describe(slot, Outcome::unfinished);
    each.last_token = never;
    if (request.replica >= 0)
      each.output_tokens = std::min(emitted_tokens(replica(request.replica).view(), request),
                                    requests_.progress(slot).stop_at);
    out.push_back(each);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

void Simulation::set_scheduler(std::int32_t index, SchedulerPolicy& policy) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  bindings_.schedulers[static_cast<std::size_t>(index)] = &policy;
  at(index).rekey(policy);
  if (at(index).executing()) return;
  at(index).wake_at(now_);
  alarms_.push_back({now_, index});
  std::push_heap(alarms_.begin(), alarms_.end(),
                 [](const Alarm& a, const Alarm& b) { return a.later_than(b); });
}

void Simulation::set_steps(std::int32_t index, StepModel& model) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  bindings_.steps[static_cast<std::size_t>(index)] = &model;
}

void Simulation::set_router(Router& router) {
  bindings_.router = &router;
  bind_router();
}

std::unique_ptr<Simulation> Simulation::fork(const Bindings& bindings) const {
  check(bindings, replicas_.size());
  std::unique_ptr<Simulation> copy(new Simulation(*this));
  copy->bindings_ = bindings;
  for (Replica& replica : copy->replicas_) replica.rebind(copy->requests_);
  copy->bind_router();
  return copy;
}

Totals simulate(const ClusterConfig& config, const Bindings& bindings) {
  Simulation simulation(config, bindings);
  simulation.run();
  return simulation.totals();
}

}  // namespace rooflua
