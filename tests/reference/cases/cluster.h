#pragma once
// Random questions to clusters: replicas of their own hardware, seats and budgets, routers with
// fresh and stale signals, a frontend, prefill and decode split, and schedulers that sleep.

#include <memory>
#include <string>
#include <vector>

#include "serve/loop/simulation.h"
#include "tests/reference/cases/client.h"
#include "tests/reference/cases/experts.h"
#include "tests/reference/cases/fault.h"
#include "tests/reference/cases/gate.h"
#include "tests/reference/cases/pools.h"
#include "tests/reference/cases/serving.h"
#include "tests/reference/cases/tier.h"
#include "tests/reference/engines/adapter_worker.h"

namespace rooflua::reference {

struct ClusterReplica {
  VllmConfig config;
  Tariff tariff;
  Role role = Role::both;
  int policy = 0;  // 0: vLLM V1, 1: dice, 2: first come first served, after a while, 3: that, if
                   // every rank of the group has a prompt or some rank does not decode
  Ps hold = 0;     // of policy 2: time from a request's arrival until it may be admitted
  int group = -1;  // replicas of the same number step together; -1: this one alone
  Ps sync = 0;     // of a step of a group of several
};

struct ClusterCase {
  ServingCase question;  // its requests; its configuration is not used
  std::vector<ClusterReplica> replicas;
  int router = 0;    // 0: in turn, 1: outstanding, 2: waiting tokens, 3: cache, 4: dice; in turn,
                     // and ranks have one queue: 5 in the order of arrival, 6 the longest first
  Ps staleness = 0;  // of its signals
  Ps frontend_base = 0, frontend_prompt_token = 0, frontend_output_token = 0;
  Ps transfer_alpha = 0, transfer_token = 0;
  Ps transfer_fixed = 0, transfer_bounded = 0;  // of a state; of a token in a window
  int transfer_window = 0;
  bool pushes_chunks = false;  // KV of a chunk is sent when its step ends
  bool decode_first = false;  // the decode replica is chosen first; it computes some prompts itself
  std::vector<Abort> aborts;  // by time
  ClientCase client;
  FaultCase faults;
  std::vector<PoolCase> pools;  // of engines that come and go
  TierCase tiers;               // not of decode replicas
  GateCase gate;
  ExpertCase experts;
  AdapterCase adapters;  // each replica has such slots; count 0: there are none
  bool split() const { return replicas.front().role != Role::both; }
  /// The first attempt of a request: its number before any was sent again.
  int origin_of(int id) const {
    return client.on ? client.attempts[static_cast<std::size_t>(id)].client : id;
  }
  /// Whether two replicas step together.
  bool grouped() const {
    for (const ClusterReplica& a : replicas)
      for (const ClusterReplica& b : replicas)
        if (&a != &b && a.group >= 0 && a.group == b.group) return true;
    return false;
  }
};

/// Whether a prefill replica computes the prompt, where the decode replica is chosen first.
inline bool is_split(int id) {
  return id % 3 > 0;
}

ClusterCase draw_cluster(std::uint64_t seed);
std::string text(const ClusterCase& cluster);

/// Fresh instances, the same for both simulators.
std::unique_ptr<SchedulerPolicy> make_scheduler(const ClusterCase& cluster, std::size_t replica);
std::unique_ptr<Router> make_router(const ClusterCase& cluster);
/// A question to this replica alone.
ServingCase of_replica(const ClusterCase& cluster, std::size_t replica);

/// With the caller's router or with the case's own. The router says how stale its signals are.
History run_engine(const ClusterCase& cluster, Router& router);
History run_naive(const ClusterCase& cluster, Router& router);
History run_engine(const ClusterCase& cluster);
History run_naive(const ClusterCase& cluster);

}  // namespace rooflua::reference
