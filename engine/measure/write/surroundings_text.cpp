#include "measure/write/surroundings_text.h"

#include <algorithm>

#include "measure/write/table.h"

namespace rooflua {

namespace {

/// What a gate did, in a line.
std::string gate_lines(const GateSummary& gate) {
  return "gate      " + grouped(gate.admitted) + " of " + grouped(gate.offered) +
         " requests admitted, " + grouped(gate.refused) + " refused, " + grouped(gate.expired) +
         " expired; " + grouped(gate.held) + " held, " + duration(gate.held_s.mean) +
         " on average (p99 " + duration(gate.held_s.p99) + ")\n";
}

/// What clients got, in two lines.
std::string client_lines(const ClientSummary& c) {
  std::string out = "clients   " + grouped(c.answered) + " of " + grouped(c.asked) +
                    " questions answered (" + percent(c.answered_frac) + "), " +
                    grouped(c.given_up) + " given up; " + figure(c.attempts_mean) +
                    " attempts (max " + grouped(c.attempts_max) + "), " + percent(c.retried_frac) +
                    " of requests are retries\n          from the first sending: TTFT " +
                    duration(c.client_ttft_s.p50) + " (p99 " + duration(c.client_ttft_s.p99) +
                    "), E2E " + duration(c.client_e2e_s.p50) + " (p99 " +
                    duration(c.client_e2e_s.p99) + ")";
  if (c.client_goodput_per_s) out += ", goodput " + figure(*c.client_goodput_per_s) + "/s";
  return out + "\n";
}

/// What failures cost, in a line.
std::string fault_line(const FaultSummary& f) {
  std::string out = "faults    " + grouped(f.failures) + " replicas failed, " +
                    percent(f.availability) + " available; " + grouped(f.lost_requests) +
                    " requests and " + grouped(f.lost_tokens) + " tokens lost, " +
                    grouped(f.recomputed_tokens) + " prompt tokens computed again";
  if (f.degraded_s > 0)
    out += "; links degraded for " + duration(f.degraded_s) + ", " + grouped(f.failed_transfers) +
           " transfers failed";
  if (f.recovery_s) out += "; 95 % of the goodput after " + duration(*f.recovery_s);
  return out + "\n";
}

std::string survivors(std::int64_t completed, std::int64_t requests, const std::string& of) {
  if (completed >= requests || completed == 0) return "";
  const double frac = static_cast<double>(completed) / static_cast<double>(requests);
  return percent(frac) + " of the requests" + of + " completed: quantiles are of these alone\n";
}

double completed_frac(const Summary& s) {
  return s.requests > 0 ? static_cast<double>(s.completed) / static_cast<double>(s.requests) : 1;
}

/// How many engines a pool had, and what its starts took, in two lines.
std::string pool_line(const PoolSummary& pool) {
  std::string out = "pool      " + pool.name + ": " + figure(pool.replicas_mean) + " replicas (" +
                    grouped(pool.replicas_least) + " to " + grouped(pool.replicas_peak) +
                    " ready), " + figure(pool.gpu_hours) + " GPU-hours, of which starting " +
                    figure(pool.replica_s > 0 ? 100 * pool.starting_s / pool.replica_s : 0) + " %";
  out += "\n          " + grouped(pool.starts) + " starts, " + grouped(pool.stops) + " stops, " +
         figure(pool.changes_per_hour) + " changes/h";
  if (pool.starts > 0)
    out += "; a start " + duration(pool.start_s.mean) + ", more replicas after " +
           duration(pool.lag_s.mean) + " (p99 " + duration(pool.lag_s.p99) + ")";
  if (pool.dollars_per_million_output_tokens)
    out += "\n          $" + figure(*pool.dollars) + ", $" +
           figure(*pool.dollars_per_million_output_tokens) + " per 1M output tokens";
  if (pool.slo_missed_frac)
    out += "\n          " + percent(*pool.slo_missed_frac) +
           " of the seconds had a request that missed the SLO";
  return out + "\n";
}

/// What experts that move did, in a line.
std::string expert_line(const ExpertSummary& experts) {
  return "experts  " + grouped(experts.rebalancings) + " rebalancings moved " +
         figure(experts.moved_bytes / 1e9) + " GB" + ", engines waited " +
         duration(experts.stall_s) + "; load of the fullest rank " + figure(experts.load_mean) +
         " (at most " + figure(experts.load_max) + ")\n";
}

/// What adapters did, in a line.
std::string adapter_line(const AdapterSummary& adapters) {
  return "adapters  " + figure(adapters.adapters_mean) + " in a step (at most " +
         grouped(adapters.adapters_max) + "), " + grouped(adapters.loads) + " loads (" +
         duration(adapters.load_s) + "), " + grouped(adapters.held) +
         " requests waited for a slot\n";
}

}  // namespace

std::string survivors_text(const Summary& s) {
  return survivors(s.completed, s.requests, "");
}

std::string survivors_text(const std::vector<NamedSummary>& runs) {
  const auto worst =
      std::min_element(runs.begin(), runs.end(), [](const NamedSummary& a, const NamedSummary& b) {
        return completed_frac(*a.summary) < completed_frac(*b.summary);
      });
  if (worst == runs.end()) return "";
  const std::string of = runs.size() > 1 ? " of " + std::string(worst->name) : "";
  return survivors(worst->summary->completed, worst->summary->requests, of);
}

std::string surroundings_text(const Summary& summary) {
  std::string out;
  if (summary.gate) out += "\n" + gate_lines(*summary.gate);
  if (summary.clients) out += "\n" + client_lines(*summary.clients);
  if (summary.adapters) out += "\n" + adapter_line(*summary.adapters);
  if (summary.experts) out += "\n" + expert_line(*summary.experts);
  if (summary.faults) out += "\n" + fault_line(*summary.faults);
  for (const PoolSummary& pool : summary.pools) out += "\n" + pool_line(pool);
  return out;
}

}  // namespace rooflua
