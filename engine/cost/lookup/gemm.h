#pragma once
// GEMM tables as series over m, one per (k, n), and how a (k, n) that was not measured is priced.
// Named by the declaration of its op.
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

#include "cost/lookup/row_index.h"
#include "cost/price/recent_values.h"

namespace rooflua {

class GemmIndex {
 public:
  explicit GemmIndex(const KernelTable& table);

  bool empty() const { return shapes_.empty(); }
  /// 0 inside the grid of measured (k, n); else how far it is from it, in doublings.
  double gap(double k, double n) const;
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

  std::vector<Shape> shapes_;
  std::map<std::pair<double, double>, int> of_;
  std::vector<double> ks_, ns_;
  double least_latency_s_ = 0;
  mutable RecentValues<Words<3>, Plan> plans_;
};

/// The GEMM tables of one engine; the first that has rows answers.
class GemmTables final : public RowIndex {
 public:
  explicit GemmTables(const std::vector<const KernelTable*>& tables) {
    for (const KernelTable* table : tables) tables_.emplace_back(*table);
    std::erase_if(tables_, [](const GemmIndex& table) { return table.empty(); });
  }
  bool empty() const override { return tables_.empty(); }
  double gap(const Query& query) const override { return tables_.front().gap(query.k, query.n); }
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override {
    return tables_.front().at(query.m, query.k, query.n, strategy, trace);
  }

 private:
  std::vector<GemmIndex> tables_;
};

}  // namespace rooflua
