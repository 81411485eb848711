// The metrics of the parts of a run that only some runs have: speculation, links, stores, prefill
// and decode split, plays, clients, failures, adapters, experts.

#include "measure/record/metrics.h"

namespace rooflua {

namespace {

using enum Better;

using S = SpeculationSummary;
constexpr MetricOf<S> of_speculation[] = {
    {"rounds", "rounds", "rows", neither, "decodes that landed", &S::rounds},
    {"drafted_tokens", "drafted", "tokens", neither, "drafts that rounds verified",
     &S::drafted_tokens},
    {"accepted_tokens", "accepted", "tokens", more, "drafts of rounds that were accepted",
     &S::accepted_tokens},
    {"acceptance_rate", "accepted", "1", more, "accepted over drafted tokens", &S::acceptance_rate},
    {"tokens_per_round", "tokens/round", "tokens", more,
     "1 + accepted tokens over rounds, as engines count it", &S::tokens_per_round},
    {"overshoot_tokens", "overshoot", "tokens", less, "accepted after the end of an answer",
     &S::overshoot_tokens},
    {"discarded_tokens", "discarded", "tokens", less,
     "tokens of decodes whose request had ended when they ran, or was aborted",
     &S::discarded_tokens},
    {"wasted_share", "wasted", "1", less,
     "refused, overshoot and discarded tokens over the tokens of all decodes", &S::wasted_share},
    {"draft_time_share", "drafting", "1", less, "share of the time of steps that drafts took",
     &S::draft_time_share},
};

using L = LinkSummary;
constexpr MetricOf<L> of_link[] = {
    {"transfers", "transfers", "transfers", neither, "transfers that went over it", &L::transfers},
    {"bytes", "bytes", "bytes", neither, "that they carried", &L::bytes},
    {"stretch_mean", "stretch", "times", less,
     "time of a transfer over what it takes where no other shares its links, on average",
     &L::stretch_mean},
    {"stretch_max", "stretch max", "times", less, "the largest of them", &L::stretch_max},
    {"busiest_frac", "busiest wire", "1", neither,
     "bytes of its busiest wire over what that could carry in the run", &L::busiest_frac},
};

using T = TierSummary;
constexpr MetricOf<T> of_tier[] = {
    {"hit_tokens", "hit tokens", "tokens", more, "tokens that were loaded from it", &T::hit_tokens},
    {"peer_hit_tokens", "from peers", "tokens", neither,
     "tokens that were loaded from another instance of it", &T::peer_hit_tokens},
    {"hit_frac", "hits", "1", more,
     "tokens that were loaded over the prompt tokens of completed requests", &T::hit_frac},
    {"loads", "loads", "transfers", neither, "transfers to a GPU", &T::loads},
    {"loaded_bytes", "loaded", "bytes", neither, "that they carried", &T::loaded_bytes},
    {"load_s", "load", "s", less, "a transfer to a GPU", &T::load_s},
    {"stores", "stores", "transfers", neither, "transfers from a GPU", &T::stores},
    {"stored_bytes", "stored", "bytes", neither, "that they carried", &T::stored_bytes},
    {"skipped_stores", "skipped", "transfers", less, "for which there was no room",
     &T::skipped_stores},
    {"evictions", "evicted", "chunks", neither, "chunks that left for others", &T::evictions},
    {"capacity_bytes", "capacity", "bytes", neither, "of one instance", &T::capacity_bytes},
    {"used_bytes_max", "most used", "bytes", neither, "by one instance at any time",
     &T::used_bytes_max},
};

using A = SplitSummary;
constexpr MetricOf<A> of_split[] = {
    {"split_frac", "split", "1", neither,
     "part of the completed requests whose prompt a prefill replica computed", &A::split_frac},
    {"kv_bytes", "KV sent", "bytes", neither, "KV that was sent between replicas", &A::kv_bytes},
    {"recomputed", "recomputed", "requests", less,
     "completed requests whose computed prompt was kept no longer (lease_s), and computed again",
     &A::recomputed},
    {"room_wait_s", "wait for room", "s", less,
     "from the computed prompt to blocks for it at the decode replica; 0: they were taken before",
     &A::room_wait_s},
    {"kv_wait_s", "wait for KV", "s", less,
     "from the computed prompt to all of its KV at the decode replica", &A::kv_wait_s},
    {"stretch_mean", "stretch", "times", less,
     "time of a transfer over what it takes where no other shares its links, on average",
     &A::stretch_mean},
    {"stretch_max", "stretch max", "times", less, "the largest of them", &A::stretch_max},
    {"kept_block_s", "kept", "block-seconds", less,
     "blocks of computed prompts at prefill replicas, times how long they are kept",
     &A::kept_block_s},
};

using Fleet = PoolSummary;
constexpr MetricOf<Fleet> of_pool[] = {
    {"replica_s", "replica-s", "s", less, "time of its engines that are ready, start or drain",
     &Fleet::replica_s},
    {"ready_s", "ready", "s", neither, "of it, ready", &Fleet::ready_s},
    {"starting_s", "starting", "s", less, "of it, starting", &Fleet::starting_s},
    {"draining_s", "draining", "s", less, "of it, draining", &Fleet::draining_s},
    {"failed_s", "failed", "s", less, "time that they had failed", &Fleet::failed_s},
    {"gpu_hours", "GPU-h", "GPU-hours", less, "hours of their GPUs, of replica_s",
     &Fleet::gpu_hours},
    {"replicas_mean", "replicas", "replicas", less, "replica_s over the time of the run",
     &Fleet::replicas_mean},
    {"replicas_peak", "peak", "replicas", neither, "most that were ready", &Fleet::replicas_peak},
    {"replicas_least", "least", "replicas", neither, "fewest that were ready",
     &Fleet::replicas_least},
    {"starts", "starts", "starts", neither, "starts that began", &Fleet::starts},
    {"stops", "stops", "stops", neither, "engines that began to drain", &Fleet::stops},
    {"changes_per_hour", "changes/h", "changes/h", less,
     "times that its autoscaler wanted another number", &Fleet::changes_per_hour},
    {"start_s", "start", "s", less, "from the beginning of a start to ready", &Fleet::start_s},
    {"lag_s", "lag", "s", less, "from wanting more engines than are ready to one more",
     &Fleet::lag_s},
    {"dollars", "cost", "dollars", less, "gpu_hours at the price of its GPU, where one is known",
     &Fleet::dollars},
    {"dollars_per_million_output_tokens", "$ per 1M", "dollars", less,
     "dollars over the output tokens of all completed requests, in millions",
     &Fleet::dollars_per_million_output_tokens},
    {"slo_missed_frac", "SLO missed", "1", less,
     "seconds in which a request of the pool was sent that did not hold the SLO, over the seconds "
     "of the run",
     &Fleet::slo_missed_frac},
};

using P = PlaySummary;
constexpr MetricOf<P> of_plays[] = {
    {"completed", "completed", "plays", more,
     "plays of which every request that was sent completed, or the play itself cancelled it",
     &P::completed},
    {"failed", "failed", "plays", less, "plays with a request that ended in another way",
     &P::failed},
    {"cut", "cut", "plays", neither, "plays under way when the workload's time was over", &P::cut},
    {"plays_per_hour", "plays/h", "plays/h", more, "completed plays over duration_s",
     &P::plays_per_hour},
    {"play_s", "play", "s", less, "start to end of a completed play", &P::play_s},
    {"play_turns", "turns", "turns", neither, "completed requests of a completed play",
     &P::play_turns},
    {"queue_s", "queue", "s", less,
     "of play_s, requests on the critical path were sent and not scheduled", &P::queue_s},
    {"load_s", "load", "s", less, "of play_s, their KV came from stores", &P::load_s},
    {"prefill_s", "prefill", "s", less, "of play_s, scheduled to first token", &P::prefill_s},
    {"decode_s", "decode", "s", less, "of play_s, first token to last", &P::decode_s},
    {"tool_s", "tools", "s", neither, "of play_s, no request on the critical path ran: delays",
     &P::tool_s},
    {"reuse", "reuse", "1", more,
     "prompt tokens whose KV was cached over prompt tokens, of completed requests of ended plays",
     &P::reuse},
    {"reuse_ideal", "ideal reuse", "1", neither,
     "the same of a cache without end: whole blocks of what prompts and answers before begin with",
     &P::reuse_ideal},
};

using Gated = GateSummary;
constexpr MetricOf<Gated> of_gate[] = {
    {"offered", "offered", "requests", neither, "requests that were sent", &Gated::offered},
    {"admitted", "admitted", "requests", more, "requests that reached a replica", &Gated::admitted},
    {"refused", "refused", "requests", less, "requests that the gate or the router refused",
     &Gated::refused},
    {"expired", "expired", "requests", less, "requests of which the deadline passed first",
     &Gated::expired},
    {"held", "held", "requests", neither, "requests that the gate held for some time",
     &Gated::held},
    {"completed_frac", "completed", "1", more, "completed over offered requests",
     &Gated::completed_frac},
    {"held_s", "held", "s", less, "how long requests were held that were admitted after it",
     &Gated::held_s},
};

using Fair = FairnessSummary;
constexpr MetricOf<Fair> of_fairness[] = {
    {"tenants", "tenants", "tenants", neither, "tenants that sent a request", &Fair::tenants},
    {"jain_tokens", "Jain tokens", "1", more,
     "Jain's index over tenants of prompt tokens + 2 output tokens, of completed requests",
     &Fair::jain_tokens},
    {"jain_ttft", "Jain TTFT", "1", more, "Jain's index over tenants of their mean ttft_s",
     &Fair::jain_ttft},
};

using C = ClientSummary;
constexpr MetricOf<C> of_clients[] = {
    {"asked", "asked", "questions", neither, "questions of clients: requests and their retries",
     &C::asked},
    {"answered", "answered", "questions", more, "of which an attempt completed", &C::answered},
    {"given_up", "given up", "questions", less, "that the client will not send again",
     &C::given_up},
    {"answered_frac", "answered", "1", more, "answered over asked", &C::answered_frac},
    {"attempts_mean", "attempts", "attempts", less, "of a question that is over",
     &C::attempts_mean},
    {"attempts_max", "most attempts", "attempts", less, "of one question", &C::attempts_max},
    {"retried_frac", "retried", "1", less, "part of the requests that are retries",
     &C::retried_frac},
    {"client_ttft_s", "client TTFT", "s", less,
     "of answered questions: first sending to the first token that the client kept",
     &C::client_ttft_s},
    {"client_e2e_s", "client E2E", "s", less,
     "of answered questions: first sending to the last token", &C::client_e2e_s},
    {"client_goodput_per_s", "client goodput", "questions/s", more,
     "answered questions whose times from the first sending on hold the limits, over duration_s",
     &C::client_goodput_per_s},
    {"kept_output_tokens", "kept output", "tokens", more,
     "of attempts that failed: output with which the next attempt went on", &C::kept_output_tokens},
};

using F = FaultSummary;
constexpr MetricOf<F> of_faults[] = {
    {"failures", "failures", "failures", less, "replicas that failed", &F::failures},
    {"availability", "available", "1", more,
     "part of the replicas' time in which they had not failed and did not start again",
     &F::availability},
    {"lost_requests", "lost", "requests", less, "requests that ended with their replica",
     &F::lost_requests},
    {"lost_tokens", "lost tokens", "tokens", less,
     "computed or generated for these requests, and not kept", &F::lost_tokens},
    {"recomputed_tokens", "recomputed", "tokens", less,
     "prompt tokens that the next attempts of their clients computed", &F::recomputed_tokens},
    {"failed_transfers", "failed transfers", "transfers", less,
     "transfers of KV that stood still on a link for timeout_s", &F::failed_transfers},
    {"degraded_s", "degraded", "s", less,
     "sum over the wires of links: time in which they carried less than all of their bytes/s",
     &F::degraded_s},
    {"recovery_s", "recovery", "s", less,
     "first failure to 95 % of the good requests/s before it, over 30 s; 0: it never fell below",
     &F::recovery_s},
};

using Moved = ExpertSummary;
constexpr MetricOf<Moved> of_experts[] = {
    {"rebalancings", "rebalancings", "rebalancings", neither, "times that experts were placed anew",
     &Moved::rebalancings},
    {"moved_bytes", "moved", "bytes", less, "weights of experts that ranks received",
     &Moved::moved_bytes},
    {"stall_s", "stalled", "s", less, "what engines waited for experts that moved",
     &Moved::stall_s},
    {"load_mean", "expert load", "1", less,
     "tokens of the fullest rank over those of a balanced one, mean of layers and steps",
     &Moved::load_mean},
    {"load_max", "most expert load", "1", less, "the same in the step where it was largest",
     &Moved::load_max},
};

using Low = AdapterSummary;
constexpr MetricOf<Low> of_adapters[] = {
    {"loads", "loads", "loads", less, "copies of adapters into slots of GPUs", &Low::loads},
    {"load_s", "loading", "s", less, "what these took, in their steps or before admissions",
     &Low::load_s},
    {"held", "held", "requests", less,
     "requests that were not admitted at once because their adapter had no slot", &Low::held},
    {"adapters_mean", "adapters", "adapters", neither, "different ones in a step, on average",
     &Low::adapters_mean},
    {"adapters_max", "most adapters", "adapters", neither, "different ones in a step, at most",
     &Low::adapters_max},
    {"token_share", "with adapter", "1", neither,
     "tokens of requests with an adapter over the tokens of all steps", &Low::token_share},
};

}  // namespace

std::span<const MetricOf<ExpertSummary>> expert_metrics() {
  return of_experts;
}

std::span<const MetricOf<AdapterSummary>> adapter_metrics() {
  return of_adapters;
}

std::span<const MetricOf<GateSummary>> gate_metrics() {
  return of_gate;
}

std::span<const MetricOf<FairnessSummary>> fairness_metrics() {
  return of_fairness;
}

std::span<const MetricOf<FaultSummary>> fault_metrics() {
  return of_faults;
}

std::span<const MetricOf<ClientSummary>> client_metrics() {
  return of_clients;
}

std::span<const MetricOf<SpeculationSummary>> speculation_metrics() {
  return of_speculation;
}

std::span<const MetricOf<LinkSummary>> link_metrics() {
  return of_link;
}

std::span<const MetricOf<TierSummary>> tier_metrics() {
  return of_tier;
}

std::span<const MetricOf<SplitSummary>> split_metrics() {
  return of_split;
}

std::span<const MetricOf<PoolSummary>> pool_metrics() {
  return of_pool;
}

std::span<const MetricOf<PlaySummary>> play_metrics() {
  return of_plays;
}

}  // namespace rooflua
