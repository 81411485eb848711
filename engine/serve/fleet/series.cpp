#include "serve/fleet/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rooflua {

namespace {
constexpr Picoseconds second = 1'000'000'000'000;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::size_t place(PoolSeries name) {
  return static_cast<std::size_t>(name);
}
bool is_time(PoolSeries name) {
  return static_cast<int>(name) >= first_time;
}
bool is_count(PoolSeries name) {
  return static_cast<int>(name) < first_state;
}
}  // namespace

PoolRecord::PoolRecord(double window_s)
    : kept_(static_cast<std::int64_t>(std::ceil(window_s)) + 1) {}

void PoolRecord::pass(Picoseconds now) {
  now_ = now;
  const std::int64_t current = now / second;
  while (!buckets_.empty() && buckets_.front().second < current - kept_) buckets_.pop_front();
}

void PoolRecord::add(PoolSeries name, double value) {
  const std::int64_t current = now_ / second;
  if (buckets_.empty() || buckets_.back().second != current)
    buckets_.emplace_back().second = current;
  Bucket& bucket = buckets_.back();
  Sum& own = bucket.sums[place(name)];
  own.sum += value;
  own.count += 1;
  if (is_time(name))
    bucket.times[place(name) - static_cast<std::size_t>(first_time)].push_back(value);
}

/// How long the window is, as far as time has passed.
double PoolRecord::span_s(double window_s) const {
  return std::min(window_s, seconds(now_));
}

/// Calls use(bucket) for the seconds of the window: whole ones, and the one that has begun.
template <class Use>
void PoolRecord::each(double window_s, Use use) const {
  const auto first = static_cast<std::int64_t>(std::floor(seconds(now_) - window_s + 1e-9));
  for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
    if (bucket->second < first) return;
    use(*bucket);
  }
}

PoolRecord::Sum PoolRecord::sum_of(PoolSeries name, double window_s) const {
  Sum out;
  each(window_s, [&](const Bucket& bucket) {
    out.sum += bucket.sums[place(name)].sum;
    out.count += bucket.sums[place(name)].count;
  });
  return out;
}

double PoolRecord::mean(PoolSeries name, double window_s) const {
  if (is_count(name)) return rate(name, window_s);
  const Sum all = sum_of(name, window_s);
  return all.count > 0 ? all.sum / all.count : nothing;
}

double PoolRecord::rate(PoolSeries name, double window_s) const {
  const double span = span_s(window_s);
  if (!(span > 0)) return 0;
  const Sum all = sum_of(name, window_s);
  return (is_time(name) ? all.count : all.sum) / span;
}

double PoolRecord::quantile(PoolSeries name, double q, double window_s) const {
  std::vector<double> values;
  each(window_s, [&](const Bucket& bucket) {
    if (is_time(name)) {
      const auto& own = bucket.times[place(name) - static_cast<std::size_t>(first_time)];
      values.insert(values.end(), own.begin(), own.end());
    } else if (bucket.sums[place(name)].count > 0) {
      values.push_back(bucket.sums[place(name)].sum);
    }
  });
  if (values.empty()) return nothing;
  const auto rank = static_cast<std::size_t>(
      std::max(0.0, std::ceil(q * static_cast<double>(values.size())) - 1));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace rooflua
