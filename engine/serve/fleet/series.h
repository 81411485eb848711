#pragma once
// What a pool did lately, in buckets of a second, kept for the longest window that its autoscaler
// asks about.

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "serve/contract/autoscaler.h"
#include "serve/contract/clock.h"

namespace rooflua {

class PoolRecord final : public PoolHistory {
 public:
  /// @param window_s  the longest that is asked about
  explicit PoolRecord(double window_s = 0);

  /// The second that has begun, from 0; buckets before it are complete.
  void pass(Picoseconds now);
  void add(PoolSeries name, double value);
  /// A state at the beginning of the second that has begun.
  void look(PoolSeries name, double value) { add(name, value); }

  std::int64_t kept_seconds() const { return kept_; }

  double mean(PoolSeries name, double window_s) const override;
  double rate(PoolSeries name, double window_s) const override;
  double quantile(PoolSeries name, double q, double window_s) const override;

 private:
  struct Sum {
    double sum = 0, count = 0;
  };
  struct Bucket {
    std::int64_t second = 0;
    std::array<Sum, pool_series_count> sums{};
    std::array<std::vector<double>, pool_series_count - first_time> times;
  };
  Sum sum_of(PoolSeries name, double window_s) const;
  double span_s(double window_s) const;
  template <class Use>
  void each(double window_s, Use use) const;

  std::deque<Bucket> buckets_;  // those that have anything, by second
  std::int64_t kept_ = 0;       // seconds
  Picoseconds now_ = 0;
};

}  // namespace rooflua
