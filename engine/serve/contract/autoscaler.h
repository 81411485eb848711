#pragma once
// How many engines a pool has: what an autoscaler sees, and what it is asked.

#include <cstdint>
#include <span>
#include <vector>

#include "base/vocabulary.h"

namespace rooflua {

/// What is recorded of a pool, in buckets of a second. Counts have a rate; states are looked at
/// once a second; times are those of requests that ended.
enum class PoolSeries : std::int32_t {
  arrivals,
  prompt_tokens,
  cached_tokens,
  output_tokens,
  completed,
  refused,
  held,
  waiting,
  running,
  kv_used_frac,
  busy,
  ttft_s,
  itl_s,
  e2e_s,
  queue_s,
};
inline constexpr Word<PoolSeries> pool_series_words[] = {
    {PoolSeries::arrivals, "arrivals", "requests that were sent to the pool, or wait for it"},
    {PoolSeries::prompt_tokens, "prompt_tokens", "of these"},
    {PoolSeries::cached_tokens, "cached_tokens", "prefix hits of requests that ended"},
    {PoolSeries::output_tokens, "output_tokens", "of requests that ended"},
    {PoolSeries::completed, "completed", "requests that completed"},
    {PoolSeries::refused, "refused", "requests that were refused in front of all pools"},
    {PoolSeries::held, "held", "requests that wait in front of the pool, for a gate or a replica"},
    {PoolSeries::waiting, "waiting", "requests that wait at its replicas, in all"},
    {PoolSeries::running, "running", "requests that have a seat, in all"},
    {PoolSeries::kv_used_frac, "kv_used_frac", "share of KV blocks in use, mean of its replicas"},
    {PoolSeries::busy, "busy", "share of its replicas that run a step"},
    {PoolSeries::ttft_s, "ttft_s", "time to first token of requests that ended"},
    {PoolSeries::itl_s, "itl_s", "mean time per further token of requests that ended"},
    {PoolSeries::e2e_s, "e2e_s", "sending to last token of requests that completed"},
    {PoolSeries::queue_s, "queue_s", "sending to first plan of requests that ended"},
};
static_assert(in_order(pool_series_words));
inline constexpr int pool_series_count = std::size(pool_series_words);
inline constexpr int first_state = static_cast<int>(PoolSeries::held);
inline constexpr int first_time = static_cast<int>(PoolSeries::ttft_s);

/// What is asked of a series over the last `window_s`.
class PoolHistory {
 public:
  virtual ~PoolHistory() = default;
  /// Of a count or a state: the mean over seconds; of a time: over requests. NaN where there is
  /// none.
  virtual double mean(PoolSeries name, double window_s) const = 0;
  /// Of a count: per second; of a time: requests per second.
  virtual double rate(PoolSeries name, double window_s) const = 0;
  /// Of seconds, or of requests where it is a time; the smallest value that at least the share `q`
  /// does not exceed. NaN where there is none.
  virtual double quantile(PoolSeries name, double q, double window_s) const = 0;
};

struct PoolMember {
  std::int32_t replica = 0;  // the first one of an engine
  std::int32_t waiting = 0, running = 0, outstanding = 0;
  double waiting_tokens = 0, kv_used_frac = 0;
};

struct PoolView {
  double now_s = 0;
  std::int32_t pool = 0;
  std::int32_t ready = 0, starting = 0, draining = 0, failed = 0;
  std::int32_t min = 0, max = 0, wanted = 0;  // wanted: since it was asked last
  std::int32_t held = 0;
  const PoolHistory* history = nullptr;
  std::span<const PoolMember> members;  // engines that are ready
};

/// One instance per pool.
class AutoscalerPolicy {
 public:
  virtual ~AutoscalerPolicy() = default;
  /// @returns how many engines the pool shall have, those that start included; it gets no fewer
  /// than `min` and no more than `max`
  virtual std::int32_t scale(const PoolView& pool) = 0;
  /// Which of these ready engines goes. @returns a place; -1: the one with the fewest outstanding
  /// requests, of equal ones the youngest
  virtual std::int32_t drain(const PoolView& pool, std::span<const PoolMember> candidates) {
    (void)pool, (void)candidates;
    return -1;
  }
  /// It is asked at this time, and again and again after it; > 0.
  virtual double interval_s() const = 0;
  /// The longest window that it asks about.
  virtual double window_s() const = 0;
};

}  // namespace rooflua
