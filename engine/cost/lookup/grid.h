#pragma once
// Interpolation over measured points: one axis (Series), two (Plane). Private to the grid lookups.
//
//     on a point      that point                                               measured
//     between points  by the strategy                                          interpolated
//     below the grid  the lowest point: less work is never slower, and never
//                     much faster                                              extrapolated
//     above the grid  the last point times the ratio of work: boundary
//                     utilisation                                              extrapolated
//
// Work of a point is x, or x * (context + x / 2) where x are the new tokens of a causal prefill.

#include <utility>
#include <vector>

#include "cost/lookup/lookup.h"

namespace rooflua {

enum class Strategy { nearest, linear, log_linear, latency_linear, latency_log };

/// What was read off a grid. Distances multiply along axes and become doublings at the end.
struct Reading {
  double latency_s = 0;
  double ratio = 1;  // >= 1: how far the nearest row used is, as a factor
  Evidence evidence = Evidence::measured;
  std::int32_t rows = 1;

  Reading& also(const Reading& other);                   // ratio, evidence and rows of both
  Reading& downgrade(Evidence at_least, double by = 1);  // evidence at least that, ratio times by
};

/// Value at x between two points, of latency (latency_linear), of the logarithm of latency over
/// that of x (latency_log), or of utilisation work / latency.
double blend(Strategy strategy, double x, double x0, double x1, double latency0, double latency1,
             double work, double work0, double work1);

struct Point {
  double x = 0;
  double latency_s = 0;
  const KernelTable* table = nullptr;
  int row = 0;
};

class Series {
 public:
  /// @param quadratic  work is x * (context + x / 2) instead of x
  explicit Series(bool quadratic = false, double context = 0)
      : quadratic_(quadratic), context_(context) {}

  void add(const Point& point) { points_.push_back(point); }
  /// Sorts; of points with the same x the first added (or the fastest) stays.
  void finish(bool fastest = false);

  bool empty() const { return points_.empty(); }
  double first() const { return x_.front(); }
  double last() const { return x_.back(); }
  double least_latency() const;
  /// What a launch costs, where the series starts flat enough to tell; else 0.
  double launch_floor() const;
  Reading at(double x, Strategy strategy, RowsUsed* trace) const;

 private:
  double work(double x) const { return quadratic_ ? x * (context_ + 0.5 * x) : x; }
  void note(std::size_t i, RowsUsed* trace) const;

  bool quadratic_ = false;
  double context_ = 0;
  std::vector<Point> points_;
  std::vector<double> x_, latency_;
};

/// Series side by side along an outer axis that is proportional to work (batch, context).
class Plane {
 public:
  explicit Plane(bool quadratic = false, double context = 0)
      : quadratic_(quadratic), context_(context) {}

  void add(double outer, const Point& point);
  void finish(bool fastest = false);  // as Series::finish

  bool empty() const { return outer_.empty(); }
  double first_outer() const { return outer_.front(); }
  const Series& series(std::size_t i) const { return series_[i]; }
  Reading at(double outer, double x, Strategy inner, Strategy across, RowsUsed* trace) const;

 private:
  bool quadratic_ = false;
  double context_ = 0;
  std::vector<double> outer_;
  std::vector<Series> series_;
};

/// Planes side by side along the tokens that precede the new ones (prefill).
///
///   on a measured context    its plane
///   between two              latency linear in context + new / 2, the mean keys of a query
///   only context 0 measured  a fresh prompt of as many causal pairs, t p + t^2 / 2 extrapolated
///   else                     the nearest context times the ratio of pairs extrapolated
class Contexts {
 public:
  explicit Contexts(bool quadratic = false) : quadratic_(quadratic) {}

  void add(double context, double outer, const Point& point);
  void finish(bool fastest = false);  // as Series::finish

  const Plane& first() const { return planes_.front().second; }
  Reading at(double context, double outer, double x, Strategy inner, Strategy across,
             RowsUsed* trace) const;

 private:
  bool quadratic_ = false;
  std::vector<std::pair<double, Plane>> planes_;
};

}  // namespace rooflua
