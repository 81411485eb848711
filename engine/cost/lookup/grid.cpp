#include "cost/lookup/grid.h"

#include <algorithm>
#include <cmath>

namespace rooflua {

Reading& Reading::also(const Reading& other) {
  ratio = std::min(ratio, other.ratio);
  evidence = worst(evidence, other.evidence);
  rows += other.rows;
  return *this;
}

Reading& Reading::downgrade(Evidence at_least, double by) {
  evidence = worst(evidence, at_least);
  ratio *= by;
  return *this;
}

double blend(Strategy strategy, double x, double x0, double x1, double latency0, double latency1,
             double work, double work0, double work1) {
  switch (strategy) {
    case Strategy::latency_linear: {
      const double part = (x - x0) / (x1 - x0);
      return latency0 + part * (latency1 - latency0);
    }
    case Strategy::latency_log: {
      if (!(x0 > 0)) return latency0 + (x - x0) / (x1 - x0) * (latency1 - latency0);
      const double part = std::log(x / x0) / std::log(x1 / x0);
      return latency0 * std::exp(part * std::log(latency1 / latency0));
    }
    case Strategy::nearest:
      return x * x < x0 * x1 ? latency0 * (work / work0) : latency1 * (work / work1);
    case Strategy::linear:
    case Strategy::log_linear: {
      const double part = strategy == Strategy::linear ? (x - x0) / (x1 - x0)
                                                       : std::log(x / x0) / std::log(x1 / x0);
      const double speed0 = work0 / latency0;
      const double latency = work / (speed0 + part * (work1 / latency1 - speed0));
      // Where launch dominates, utilisation rises faster than work: the answer is kept between
      // the neighbours.
      return std::clamp(latency, std::min(latency0, latency1), std::max(latency0, latency1));
    }
  }
  return latency0;
}

void Series::finish(bool fastest) {
  std::stable_sort(points_.begin(), points_.end(), [fastest](const Point& a, const Point& b) {
    return a.x != b.x ? a.x < b.x : fastest && a.latency_s < b.latency_s;
  });
  points_.erase(std::unique(points_.begin(), points_.end(),
                            [](const Point& a, const Point& b) { return a.x == b.x; }),
                points_.end());
  for (const Point& point : points_) {
    x_.push_back(point.x);
    latency_.push_back(point.latency_s);
  }
}

double Series::least_latency() const {
  return *std::min_element(latency_.begin(), latency_.end());
}

double Series::launch_floor() const {
  if (x_.size() < 2) return 0;
  const bool flat = latency_[1] / latency_[0] < std::sqrt(work(x_[1]) / work(x_[0]));
  return flat ? latency_[0] : 0;
}

void Series::note(std::size_t i, RowsUsed* trace) const {
  if (trace != nullptr) trace->used.push_back({points_[i].table, points_[i].row});
}

Reading Series::at(double x, Strategy strategy, RowsUsed* trace) const {
  const std::size_t above =
      static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin());
  if (above == 0) {
    note(0, trace);
    return {latency_[0], x > 0 ? x_[0] / x : 2 * x_[0], Evidence::extrapolated, 1};
  }
  const std::size_t below = above - 1;
  if (x_[below] == x) {
    note(below, trace);
    return {latency_[below], 1, Evidence::measured, 1};
  }
  if (above == x_.size()) {
    note(below, trace);
    return {latency_[below] * (work(x) / work(x_[below])), x / x_[below], Evidence::extrapolated,
            1};
  }
  const double x0 = x_[below], x1 = x_[above];
  note(below, trace);
  note(above, trace);
  return {blend(strategy, x, x0, x1, latency_[below], latency_[above], work(x), work(x0), work(x1)),
          std::min(x0 > 0 ? x / x0 : x1 / x, x1 / x), Evidence::interpolated, 2};
}

void Plane::add(double outer, const Point& point) {
  const auto found = std::lower_bound(outer_.begin(), outer_.end(), outer);
  const auto index = found - outer_.begin();
  if (found == outer_.end() || *found != outer) {
    outer_.insert(found, outer);
    series_.insert(series_.begin() + index, Series(quadratic_, context_));
  }
  series_[static_cast<std::size_t>(index)].add(point);
}

void Plane::finish(bool fastest) {
  for (Series& series : series_) series.finish(fastest);
}

Reading Plane::at(double outer, double x, Strategy inner, Strategy across, RowsUsed* trace) const {
  const std::size_t above = static_cast<std::size_t>(
      std::upper_bound(outer_.begin(), outer_.end(), outer) - outer_.begin());
  if (above == 0) {
    Reading reading = series_[0].at(x, inner, trace);
    return reading.downgrade(Evidence::extrapolated, outer > 0 ? outer_[0] / outer : 2);
  }
  const std::size_t below = above - 1;
  if (outer_[below] == outer) return series_[below].at(x, inner, trace);
  if (above == outer_.size()) {
    Reading reading = series_[below].at(x, inner, trace);
    reading.latency_s *= outer / outer_[below];
    return reading.downgrade(Evidence::extrapolated, outer / outer_[below]);
  }
  const double o0 = outer_[below], o1 = outer_[above];
  Reading low = series_[below].at(x, inner, trace);
  Reading high = series_[above].at(x, inner, trace);
  const double latency = blend(across, outer, o0, o1, low.latency_s, high.latency_s, outer, o0, o1);
  low.also(high).downgrade(Evidence::interpolated, std::min(outer / o0, o1 / outer));
  low.latency_s = latency;
  return low;
}

void Contexts::add(double context, double outer, const Point& point) {
  auto plane = std::find_if(planes_.begin(), planes_.end(),
                            [&](const auto& each) { return each.first == context; });
  if (plane == planes_.end()) {
    planes_.emplace_back(context, Plane(quadratic_, context));
    plane = planes_.end() - 1;
  }
  plane->second.add(outer, point);
}

void Contexts::finish(bool fastest) {
  std::sort(planes_.begin(), planes_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [context, plane] : planes_) plane.finish(fastest);
}

Reading Contexts::at(double context, double outer, double x, Strategy inner, Strategy across,
                     RowsUsed* trace) const {
  const double t = x, p = context;
  const auto above = static_cast<std::size_t>(
      std::upper_bound(planes_.begin(), planes_.end(), p,
                       [](double wanted, const auto& each) { return wanted < each.first; }) -
      planes_.begin());
  const auto& low = planes_[above == 0 ? 0 : above - 1];
  if (low.first == p) return low.second.at(outer, t, inner, across, trace);
  if (above == planes_.size() && low.first == 0) {  // only fresh prompts were measured
    const double same_work = std::sqrt(t * t + 2 * t * p);
    Reading reading = low.second.at(outer, same_work, inner, across, trace);
    return reading.downgrade(Evidence::extrapolated, same_work / t);
  }
  Reading reading = low.second.at(outer, t, inner, across, trace);
  if (above == 0 || above == planes_.size()) {
    reading.latency_s *= (p + 0.5 * t) / (low.first + 0.5 * t);
    return reading.downgrade(Evidence::extrapolated,
                             std::max(p, low.first) / std::max(1.0, std::min(p, low.first)));
  }
  const auto& high = planes_[above];
  const Reading upper = high.second.at(outer, t, inner, across, trace);
  const double latency =
      blend(across == Strategy::nearest ? Strategy::nearest : Strategy::latency_linear, p + 0.5 * t,
            low.first + 0.5 * t, high.first + 0.5 * t, reading.latency_s, upper.latency_s,
            p + 0.5 * t, low.first + 0.5 * t, high.first + 0.5 * t);
  reading.also(upper).downgrade(Evidence::interpolated,
                                std::min(p / std::max(1.0, low.first), high.first / p));
  reading.latency_s = latency;
  return reading;
}

}  // namespace rooflua
