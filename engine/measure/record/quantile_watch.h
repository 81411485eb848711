#pragma once
// Whether the quantiles of a run can still hold their limits, while it goes.

#include <cstdint>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua {

/// A limit on a quantile of a metric of completed requests.
struct QuantileLimit {
  enum class Metric : std::uint8_t { ttft, tpot, e2e };
  Metric metric = Metric::ttft;
  double limit_s = 0;
  /// So many requests may be above it. Of n requests, quantile q (quantile.h) is above the limit if
  /// more than n - floor(q (n - 1)) - 1 are. The number does not fall with n, so that of the
  /// requests of the whole run is safe where some of them have no value.
  std::int64_t most_above = 0;
};

/// Counts the requests above each limit. A run that has missed once has missed at its end, however
/// it goes on.
class QuantileWatch : public Observer {
 public:
  explicit QuantileWatch(std::vector<QuantileLimit> limits);

  bool reads_prices() const override { return false; }
  void on_done(const RequestDone& done) override;

  /// Whether more requests are above a limit than may be, or a request was not completed.
  bool missed() const { return missed_; }

 private:
  std::vector<QuantileLimit> limits_;
  std::vector<std::int64_t> above_;  // by limit
  bool missed_ = false;
};

}  // namespace rooflua
