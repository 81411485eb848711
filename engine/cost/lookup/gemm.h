#pragma once
// GEMM tables as series over m, one per (k, n), and how a (k, n) that was not measured is priced.
// Private to the grid lookups.
//
//   on a measured (k, n)            its series
//   inside a cell of four, or on a  latency linear in k and in n (a GEMM costs about
//   line of two measured (k, n)     a + b k + c n + d k n)                            interpolated
//   beyond the last k or n          the boundary times the ratio of work              extrapolated
//   else                            utilisation of up to four nearest (k, n), never
//                                   below the fastest kernel of the table             stand_in

#include <array>
#include <map>
#include <vector>

#include "cost/lookup/grid.h"
#include "cost/recent_values.h"

namespace rooflua {

class GemmIndex {
 public:
  explicit GemmIndex(const KernelTable& table);

  bool empty() const { return shapes_.empty(); }
  Dtype dtype() const { return dtype_; }
  Reading at(double m, double k, double n, Strategy strategy, RowsUsed* trace) const;

 private:
  struct Shape {
    double k, n;
    Series series;
  };
  /// Which series answer for a (k, n), remembered: a simulation asks for few.
  struct Plan {
    std::array<int, 4> shape{};
    std::array<double, 4> weight{};
    int count = 0;
    bool utilisation = false;
    double ratio = 1;
    Evidence evidence = Evidence::measured;
  };
  /// Two neighbours on an axis, the weight of the upper, and a factor of work beyond the axis.
  struct Place {
    std::size_t low = 0, high = 0;
    double part = 0, scale = 1, ratio = 1;
    Evidence evidence = Evidence::measured;
  };
  static Place place(const std::vector<double>& axis, double x);

  const Plan& plan(double k, double n, bool nearest) const;
  Plan make_plan(double k, double n, bool nearest) const;
  bool along_cell(double k, double n, Plan& plan) const;
  bool along_line(double k, double n, Plan& plan) const;
  void by_distance(double k, double n, std::size_t most, Plan& plan) const;
  int shape_at(double k, double n) const;

  Dtype dtype_;
  std::vector<Shape> shapes_;
  std::map<std::pair<double, double>, int> of_;
  std::vector<double> ks_, ns_;
  double least_latency_s_ = 0;
  mutable RecentValues<Words<3>, Plan> plans_;
};

}  // namespace rooflua
