// Pools of engines that come and go: how many there were, and how long.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "measure/parts/part.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

using enum Better;

/// A pool of engines that come and go, from time 0 to the end of the last step or request. Times
/// are summed over its engines.
struct PoolFigures {
  std::string name;
  double replica_s = 0, ready_s = 0, starting_s = 0, draining_s = 0, failed_s = 0, gpu_hours = 0,
         replicas_mean = 0, changes_per_hour = 0;
  std::int64_t replicas_peak = 0, replicas_least = 0, starts = 0, stops = 0;
  Statistics start_s, lag_s;
  std::optional<double> dollars, dollars_per_million_output_tokens, slo_missed_frac;
};

constexpr PartMetric pool_metrics[] = {
    {"name", "pool", "", neither, "its name", in<&PoolFigures::name>},
    {"replica_s", "replica-s", "s", less, "time of its engines that are ready, start or drain",
     in<&PoolFigures::replica_s>},
    {"ready_s", "ready", "s", neither, "of it, ready", in<&PoolFigures::ready_s>},
    {"starting_s", "starting", "s", less, "of it, starting", in<&PoolFigures::starting_s>},
    {"draining_s", "draining", "s", less, "of it, draining", in<&PoolFigures::draining_s>},
    {"failed_s", "failed", "s", less, "time that they had failed", in<&PoolFigures::failed_s>},
    {"gpu_hours", "GPU-h", "GPU-hours", less, "hours of their GPUs, of replica_s",
     in<&PoolFigures::gpu_hours>},
    {"replicas_mean", "replicas", "replicas", less, "replica_s over the time of the run",
     in<&PoolFigures::replicas_mean>},
    {"replicas_peak", "peak", "replicas", neither, "most that were ready",
     in<&PoolFigures::replicas_peak>},
    {"replicas_least", "least", "replicas", neither, "fewest that were ready",
     in<&PoolFigures::replicas_least>},
    {"starts", "starts", "starts", neither, "starts that began", in<&PoolFigures::starts>},
    {"stops", "stops", "stops", neither, "engines that began to drain", in<&PoolFigures::stops>},
    {"changes_per_hour", "changes/h", "changes/h", less,
     "times that its autoscaler wanted another number", in<&PoolFigures::changes_per_hour>},
    {"start_s", "start", "s", less, "from the beginning of a start to ready",
     in<&PoolFigures::start_s>},
    {"lag_s", "lag", "s", less, "from wanting more engines than are ready to one more",
     in<&PoolFigures::lag_s>},
    {"dollars", "cost", "dollars", less, "gpu_hours at the price of its GPU, where one is known",
     in<&PoolFigures::dollars>},
    {"dollars_per_million_output_tokens", "$ per 1M", "dollars", less,
     "dollars over the output tokens of all completed requests, in millions",
     in<&PoolFigures::dollars_per_million_output_tokens>},
    {"slo_missed_frac", "SLO missed", "1", less,
     "seconds in which a request of the pool was sent that did not hold the SLO, over the seconds "
     "of the run",
     in<&PoolFigures::slo_missed_frac>},
};

std::string pool_text(const PoolFigures& pool) {
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

constexpr std::size_t place(Lifecycle state) {
  return static_cast<std::size_t>(state);
}

struct PoolCount {
  explicit PoolCount(const PoolOptions& given) : options(given), wanted(given.count) {
    const auto all = static_cast<std::int32_t>(given.engines.size());
    std::int32_t& ready = engines[place(Lifecycle::ready)];
    ready = peak = lowest = std::min(given.count, all);
    engines[place(Lifecycle::absent)] = all - ready;
  }
  /// The time up to `now` counts for the engines as they are.
  void pass(Picoseconds now) {
    for (std::size_t state = 0; state < engines.size(); ++state)
      times[state] += seconds(now - since) * engines[state];
    since = now;
  }
  bool has(std::int32_t replica) const {
    return replica >= options.first && replica < options.first + options.replicas;
  }
  void note(const ReplicaChanged& change);
  PoolFigures figures(Picoseconds end, const Summary& of, bool has_limits) const;

  PoolOptions options;
  std::array<std::int32_t, 5> engines{};  // by Lifecycle
  std::array<double, 5> times{};          // the same, in engine seconds
  Picoseconds since = 0, short_since = never;
  std::int32_t peak = 0, lowest = 0, wanted = 0;
  std::int64_t starts = 0, stops = 0, changes = 0;
  std::map<std::int32_t, Picoseconds> started;  // by replica
  LogHistogram start, lag;
  std::vector<bool> missed;  // by second of sending
};

void PoolCount::note(const ReplicaChanged& change) {
  pass(change.time);
  --engines[place(change.before)];
  ++engines[place(change.now)];
  starts += change.now == Lifecycle::starting;
  stops += change.before == Lifecycle::ready && change.now == Lifecycle::draining;
  if (change.now == Lifecycle::starting) started[change.replica] = change.time;
  const std::int32_t ready = engines[place(Lifecycle::ready)];
  if (change.now == Lifecycle::ready) {
    if (const auto found = started.find(change.replica); found != started.end()) {
      start.add(change.time - found->second);
      started.erase(found);
    }
    peak = std::max(peak, ready);
    if (short_since != never) {
      lag.add(change.time - short_since);
      short_since = ready >= wanted ? never : change.time;
    }
  }
  lowest = std::min(lowest, ready);
}

PoolFigures PoolCount::figures(Picoseconds end, const Summary& of, bool has_limits) const {
  PoolFigures out;
  out.name = options.name;
  out.ready_s = times[place(Lifecycle::ready)];
  out.starting_s = times[place(Lifecycle::starting)];
  out.draining_s = times[place(Lifecycle::draining)];
  out.failed_s = times[place(Lifecycle::failed)];
  out.replica_s = out.ready_s + out.starting_s + out.draining_s;
  out.gpu_hours = out.replica_s * options.gpus / 3600;
  out.replicas_mean = quotient(out.replica_s, seconds(end));
  out.replicas_peak = peak;
  out.replicas_least = lowest;
  out.starts = starts;
  out.stops = stops;
  out.changes_per_hour = quotient(static_cast<double>(changes) * 3600, seconds(end));
  out.start_s = start.statistics(1e-12);
  out.lag_s = lag.statistics(1e-12);
  if (options.dollars_per_gpu_hour) {
    out.dollars = out.gpu_hours * *options.dollars_per_gpu_hour;
    if (of.output_tokens > 0)
      out.dollars_per_million_output_tokens =
          *out.dollars * 1e6 / static_cast<double>(of.output_tokens);
  }
  if (end > 0 && has_limits)
    out.slo_missed_frac = static_cast<double>(std::count(missed.begin(), missed.end(), true)) /
                          std::ceil(seconds(end));
  return out;
}

class PoolCounter final : public CounterOf<PoolCounter> {
 public:
  explicit PoolCounter(const SummaryOptions& options)
      : has_limits_(options.has_limits()), pools_(options.pools.begin(), options.pools.end()) {}

  void on_replica(const ReplicaChanged& change) override {
    for (PoolCount& pool : pools_) {
      const std::vector<std::int32_t>& engines = pool.options.engines;
      if (std::find(engines.begin(), engines.end(), change.replica) != engines.end())
        pool.note(change);
    }
  }

  void on_scale(const ScaleAsked& asked) override {
    const auto p = static_cast<std::size_t>(asked.pool);
    if (p >= pools_.size()) return;
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
  void on_end(const RequestDone& done, bool is_good) override {
    if (is_good || !has_limits_) return;
    const auto second = static_cast<std::size_t>(done.arrival / 1'000'000'000'000);
    for (PoolCount& pool : pools_) {
      if (done.replica >= 0 && !pool.has(done.replica) && !pool.has(done.prefill_replica)) continue;
      if (second >= pool.missed.size()) pool.missed.resize(second + 1);
      pool.missed[second] = true;
    }
  }

  std::vector<std::any> figures(const Summary& of, const RunSpan& span) const override {
    std::vector<std::any> out;
    for (PoolCount pool : pools_) {
      const Picoseconds end = std::max({pool.since, span.last_completion, span.last_step_end});
      pool.pass(end);
      out.emplace_back(pool.figures(end, of, has_limits_));
    }
    return out;
  }

 private:
  bool has_limits_;
  std::vector<PoolCount> pools_;
};

std::unique_ptr<PartCounter> pool_counter(const SummaryOptions& options, const Json*) {
  if (options.pools.empty()) return nullptr;
  return std::make_unique<PoolCounter>(options);
}

}  // namespace

extern const PartRow pools_part = {
    .name = "pools",
    .help = "Replicas that come and go; of an entry of `replicas` with an autoscaler.",
    .metrics = pool_metrics,
    .many = true,
    .empty = empty<PoolFigures>,
    .text = says<pool_text>,
    .in_report = {.rank = 9},
    .on_page = {.rank = 8},
    .counter = pool_counter};

}  // namespace rooflua
