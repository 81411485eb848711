#pragma once
// The parts of a summary: of classes and replicas, and of what only some runs have.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost/price/ledger.h"
#include "measure/record/quantile.h"
#include "serve/contract/observer.h"

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

/// What speculation amounted to, over the replicas that speculate. Rounds are decodes that landed;
/// what a request's end cut off counts as accepted, as engines count it.
struct SpeculationSummary {
  std::int64_t rounds = 0, drafted_tokens = 0, accepted_tokens = 0;
  double acceptance_rate = 0;         // accepted / drafted; 0 without drafts
  double tokens_per_round = 0;        // 1 + accepted / rounds; 0 without rounds
  std::int64_t overshoot_tokens = 0;  // accepted after the end of an answer
  std::int64_t discarded_tokens = 0;  // of decodes of requests that had ended
  double wasted_share = 0;            // (refused + overshoot + discarded) / tokens of all decodes
  double draft_time_share = 0;        // of the time of all steps
  std::vector<double> accepted_by_position;  // share of rounds that accepted draft 1, 2, ...
};

/// What went over a link that transfers share.
struct LinkSummary {
  std::string name;
  std::int64_t transfers = 0;
  double bytes = 0;
  double stretch_mean = 0, stretch_max = 0;  // time of a transfer over what it takes alone
  double busiest_frac = 0;  // bytes of the link's busiest wire over what it could carry in the run
};

/// What a store of KV outside the GPUs amounted to, over its instances.
struct TierSummary {
  std::string name;
  std::int64_t hit_tokens = 0, peer_hit_tokens = 0;  // loaded from it; from other instances of it
  double hit_frac = 0;  // both, of the prompt tokens of completed requests
  std::int64_t loads = 0, stores = 0, skipped_stores = 0, evictions = 0;
  double loaded_bytes = 0, stored_bytes = 0;
  double capacity_bytes = 0, used_bytes_max = 0;  // of one instance
  Statistics load_s;                              // of its transfers to a GPU
};

/// What replicas that are split for prefill and decode amounted to, over completed requests unless
/// it says otherwise.
struct SplitSummary {
  double split_frac = 0;        // requests whose prompt a prefill replica computed
  double kv_bytes = 0;          // that were sent, of all requests
  std::int64_t recomputed = 0;  // of those split, whose KV was not asked for within the lease
  /// From the computed prompt to blocks for it at the decode replica; to all of its KV there. Of
  /// requests that were split and whose KV was sent.
  Statistics room_wait_s, kv_wait_s;
  double stretch_mean = 0, stretch_max = 0;  // of transfers, all: time over what each takes alone
  double kept_block_s =
      0;  // blocks that prefill replicas keep, times the seconds after the prefill
};

/// A pool of engines that come and go, from time 0 to the end of the last step or request. Times
/// are summed over its engines.
struct PoolSummary {
  std::string name;
  double replica_s = 0;  // ready, starting or draining: they are paid for
  double ready_s = 0, starting_s = 0, draining_s = 0, failed_s = 0;
  double gpu_hours = 0;                                // of replica_s
  double replicas_mean = 0;                            // replica_s over that time
  std::int64_t replicas_peak = 0, replicas_least = 0;  // that were ready at any time
  std::int64_t starts = 0, stops = 0;
  double changes_per_hour = 0;  // times that its autoscaler wanted another number
  Statistics start_s;           // from the beginning of a start to ready
  Statistics lag_s;             // from wanting more than there are to having them ready
  std::optional<double> dollars, dollars_per_million_output_tokens;  // where a price is known
  std::optional<double> slo_missed_frac;  // seconds with a request that missed the SLO
};

/// What plays amounted to (serve/plays): requests that depend on each other.
struct PlaySummary {
  /// Plays that ended: every request that was sent completed, or the play itself cancelled it; one
  /// ended in another way; the workload's end came first.
  std::int64_t completed = 0, failed = 0, cut = 0;
  double plays_per_hour = 0;      // completed, over duration_s
  Statistics play_s, play_turns;  // of completed plays: start to end; completed requests
  /// Of completed plays, where the time on the critical path went; of one play they add up to
  /// play_s.
  Statistics queue_s, load_s, prefill_s, decode_s, tool_s;
  /// Of completed requests of all plays: prompt tokens whose KV was in a cache, over prompt tokens;
  /// and those that an infinite cache would have had (serve/plays/seen_prompts.h).
  double reuse = 0, reuse_ideal = 0;
};

/// What a gate did (serve/gates).
struct GateSummary {
  std::int64_t offered = 0;                         // requests that were sent
  std::int64_t admitted = 0;                        // that reached a replica
  std::int64_t refused = 0, expired = 0, held = 0;  // held: for longer than an instant
  double completed_frac = 0;                        // completed over offered
  Statistics held_s;                                // of requests that were held and admitted
};

/// How equal tenants are, those that sent a request.
struct FairnessSummary {
  std::int64_t tenants = 0;
  /// Jain's index over tenants: of tokens of completed requests, an output token counted twice
  /// (arXiv 2401.00588); and of their mean ttft_s.
  double jain_tokens = 1, jain_ttft = 1;
};

/// What clients got that send requests again (contract/client.h). Attempts with one origin are one
/// question of a client.
struct ClientSummary {
  std::int64_t asked = 0, answered = 0, given_up = 0;  // questions; the rest were under way
  double answered_frac = 0;                            // answered / asked
  double attempts_mean = 0;                            // of questions that are over
  std::int64_t attempts_max = 0;
  double retried_frac = 0;  // attempts after a first one, of all requests
  /// Of answered questions: first sending to the first token that the client kept, and to the last.
  Statistics client_ttft_s, client_e2e_s;
  /// Questions whose answers hold the limits, by these two times; nothing without an SLO.
  std::optional<double> client_goodput_per_s;
  std::int64_t kept_output_tokens = 0;  // of attempts that failed, which the next ones went on with
};

/// What experts that move did (serve/contract/experts.h).
struct ExpertSummary {
  std::int64_t rebalancings = 0;
  double moved_bytes = 0;  // that ranks received
  double stall_s = 0;      // that engines waited for them
  /// Tokens of the fullest rank over those of a balanced one, in the mean of layers: over the steps
  /// of all replicas.
  double load_mean = 1, load_max = 1;
};

/// What low-rank adapters did (serve/adapters).
struct AdapterSummary {
  std::int64_t loads = 0;    // copies into slots
  double load_s = 0;         // what they took, in their steps or before admissions
  std::int64_t held = 0;     // requests that could not be admitted at once for their adapter
  double adapters_mean = 0;  // different ones in a step, over steps
  std::int64_t adapters_max = 0;
  double token_share = 0;  // tokens of requests with an adapter over tokens of steps
};

/// What failures of replicas cost.
struct FaultSummary {
  std::int64_t failures = 0;
  double availability = 1;  // 1 - time that replicas had failed or started again, over their time
  std::int64_t lost_requests = 0;  // that ended as replica_lost
  std::int64_t lost_tokens = 0;    // computed or generated for them, and not kept
  /// Prompt tokens that later attempts of the same clients computed.
  std::int64_t recomputed_tokens = 0;
  std::int64_t failed_transfers = 0;  // that stood still for too long on a link
  double degraded_s = 0;              // time of links' wires with less than all of their bytes/s
  /// From the first failure until so many requests complete well again, over 30 s, as 95 % of the
  /// mean before it; 0: it never fell below. Nothing where it does not come to that.
  std::optional<double> recovery_s;
};

}  // namespace rooflua
