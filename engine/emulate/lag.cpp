#include "emulate/lag.h"

#include <algorithm>

namespace rooflua::emulate {

namespace {

/// @pre not empty
double quantile(std::vector<double>& values, double part) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void Lag::add(double lag_s) {
  all_.observe(lag_s);
  lags_.push_back(lag_s);
  most_s_ = std::max(most_s_, lag_s);
}

bool Lag::look() {
  const bool was = late_;
  late_ = !lags_.empty() && !steps_.empty() && quantile(lags_, 0.99) > 0.1 * quantile(steps_, 0.5);
  if (late_) ++late_seconds_;
  lags_.clear();
  steps_.clear();
  return late_ && !was;
}

}  // namespace rooflua::emulate
