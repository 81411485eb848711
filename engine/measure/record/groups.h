#pragma once
// What a run amounted to by groups: requests of a class, a tenant or a replica, and sessions.

#include <cstdint>
#include <optional>
#include <string>

#include "measure/record/quantile.h"

namespace rooflua {

/// Limits a request must hold to count as good; nothing = no limit.
struct Slo {
  std::optional<double> ttft_s, tpot_s, e2e_s;
  bool given() const { return ttft_s || tpot_s || e2e_s; }
};

/// Requests of one class, or of one replica, or all.
struct GroupSummary {
  std::string name;
  Slo slo;  // its own, in place of that of all requests
  std::int64_t completed = 0, failed = 0, good = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0, cached_tokens = 0;  // of completed requests
  double requests_per_s = 0, output_tokens_per_s = 0;
  std::optional<double> goodput_per_s;                      // nothing without an SLO
  std::optional<double> tokens_per_round, acceptance_rate;  // nothing without speculation
  Statistics ttft_s, tpot_s, e2e_s, queue_s;
  /// Of requests that a gate held and let go; nothing where it held none, and of replicas.
  std::optional<double> held_s_mean, held_s_p99;
};

struct ReplicaSummary {
  GroupSummary requests;  // those that ended there
  std::int64_t steps = 0, preemptions = 0;
  /// Of first arrival to last completion, or step if that is later. With continuous batching one
  /// request that decodes is enough for a step after the other, so busy_frac is 1 long before a
  /// replica is loaded; load_frac weighs each step by how full it is (fill_of_step).
  double busy_frac = 0, load_frac = 0;
  double decode_batch_mean = 0;  // decodes per step that has any, weighted by steps
  double kv_used_frac_max = 0;
  std::optional<double> wait_frac;  // nothing for a replica that steps alone
};

struct SessionSummary {
  std::int64_t count = 0;
  Statistics turns, duration_s;  // completed turns; first arrival to last completion
};

}  // namespace rooflua
