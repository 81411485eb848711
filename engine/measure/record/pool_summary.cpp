// Figures of pools of engines: how many there were, and how long.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "measure/record/summary.h"

namespace rooflua {

namespace {
std::size_t place(Lifecycle state) {
  return static_cast<std::size_t>(state);
}
}  // namespace

void SummaryObserver::open_pools() {
  for (const PoolOptions& options : options_.pools) {
    PoolCount& count = pools_.emplace_back();
    const auto engines = static_cast<std::int32_t>(options.engines.size());
    count.engines[place(Lifecycle::ready)] = std::min(options.count, engines);
    count.engines[place(Lifecycle::absent)] = engines - count.engines[place(Lifecycle::ready)];
    count.peak = count.lowest = count.engines[place(Lifecycle::ready)];
    count.wanted = options.count;
  }
}

/// The time up to `now` counts for the engines as they are.
void SummaryObserver::PoolCount::pass(Picoseconds now) {
  for (std::size_t state = 0; state < engines.size(); ++state)
    times[state] += seconds(now - since) * engines[state];
  since = now;
}

void SummaryObserver::on_replica(const ReplicaChanged& change) {
  told_.reset();
  if (options_.faults) note_failure(change);
  for (std::size_t p = 0; p < options_.pools.size(); ++p) {
    const std::vector<std::int32_t>& engines = options_.pools[p].engines;
    if (std::find(engines.begin(), engines.end(), change.replica) == engines.end()) continue;
    PoolCount& count = pools_[p];
    count.pass(change.time);
    --count.engines[place(change.before)];
    ++count.engines[place(change.now)];
    count.starts += change.now == Lifecycle::starting;
    count.stops += change.before == Lifecycle::ready && change.now == Lifecycle::draining;
    if (change.now == Lifecycle::starting) count.started[change.replica] = change.time;
    if (change.now == Lifecycle::ready) {
      if (const auto found = count.started.find(change.replica); found != count.started.end()) {
        count.start.add(change.time - found->second);
        count.started.erase(found);
      }
      const std::int32_t ready = count.engines[place(Lifecycle::ready)];
      count.peak = std::max(count.peak, ready);
      if (count.short_since != never) {
        count.lag.add(change.time - count.short_since);
        count.short_since = ready >= count.wanted ? never : change.time;
      }
    }
    count.lowest = std::min(count.lowest, count.engines[place(Lifecycle::ready)]);
  }
}

void SummaryObserver::on_scale(const ScaleAsked& asked) {
  const auto p = static_cast<std::size_t>(asked.pool);
  if (p >= pools_.size()) return;
  told_.reset();
  PoolCount& count = pools_[p];
  count.changes += asked.wanted != count.wanted;
  count.wanted = asked.wanted;
  if (asked.wanted <= asked.ready)
    count.short_since = never;
  else if (count.short_since == never)
    count.short_since = asked.time;
}

/// The second in which a request was sent that did not hold the SLO counts for its pools, for all
/// of them where none had it.
void SummaryObserver::note_pools(const RequestDone& done, bool is_good) {
  if (is_good || (!options_.slo.given() && options_.class_slo.empty())) return;
  const auto second = static_cast<std::size_t>(done.arrival / 1'000'000'000'000);
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    const PoolOptions& pool = options_.pools[p];
    const auto has = [&pool](std::int32_t replica) {
      return replica >= pool.first && replica < pool.first + pool.replicas;
    };
    if (done.replica >= 0 && !has(done.replica) && !has(done.prefill_replica)) continue;
    std::vector<bool>& missed = pools_[p].missed;
    if (second >= missed.size()) missed.resize(second + 1);
    missed[second] = true;
  }
}

std::vector<PoolSummary> SummaryObserver::pool_summaries(const GroupSummary& all) const {
  std::vector<PoolSummary> out;
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    PoolCount count = pools_[p];
    const Picoseconds end = std::max({count.since, last_completion_, last_step_end_});
    count.pass(end);
    PoolSummary& summary = out.emplace_back();
    summary.name = options_.pools[p].name;
    summary.ready_s = count.times[place(Lifecycle::ready)];
    summary.starting_s = count.times[place(Lifecycle::starting)];
    summary.draining_s = count.times[place(Lifecycle::draining)];
    summary.failed_s = count.times[place(Lifecycle::failed)];
    summary.replica_s = summary.ready_s + summary.starting_s + summary.draining_s;
    summary.gpu_hours = summary.replica_s * options_.pools[p].gpus / 3600;
    summary.replicas_mean = end > 0 ? summary.replica_s / seconds(end) : 0;
    summary.replicas_peak = count.peak;
    summary.replicas_least = count.lowest;
    summary.starts = count.starts;
    summary.stops = count.stops;
    summary.changes_per_hour =
        end > 0 ? static_cast<double>(count.changes) * 3600 / seconds(end) : 0;
    summary.start_s = count.start.statistics(1e-12);
    summary.lag_s = count.lag.statistics(1e-12);
    if (const std::optional<double> price = options_.pools[p].dollars_per_gpu_hour) {
      summary.dollars = summary.gpu_hours * *price;
      if (all.output_tokens > 0)
        summary.dollars_per_million_output_tokens =
            *summary.dollars * 1e6 / static_cast<double>(all.output_tokens);
    }
    if (end > 0 && (options_.slo.given() || !options_.class_slo.empty()))
      summary.slo_missed_frac =
          static_cast<double>(std::count(count.missed.begin(), count.missed.end(), true)) /
          std::ceil(seconds(end));
  }
  return out;
}

}  // namespace rooflua
