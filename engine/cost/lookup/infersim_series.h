#pragma once
// One axis of an InferSim table, sorted once, so that its scans in file order become searches:
// which row the scan would have ended at.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace rooflua::infersim {

/// Rows in file order, each with a number.
struct Scan {
  std::vector<double> x;
  std::vector<int> row;

  void add(double number, int index) {
    x.push_back(number);
    row.push_back(index);
  }
};

/// The last row in file order with a number of at most x; -1 if there is none.
class LastUpTo {
 public:
  LastUpTo() = default;
  explicit LastUpTo(const Scan& scan);
  int at(double x) const;

 private:
  std::vector<double> x_;  // ascending
  std::vector<int> row_;   // the last row up to there
};

/// The row before the first one that is larger than x; -1 if the first is.
class BeforeFirstLarger {
 public:
  BeforeFirstLarger() = default;
  explicit BeforeFirstLarger(const Scan& scan);
  int at(double x) const;

 private:
  std::vector<double> largest_;  // so far
  std::vector<int> row_;
};

/// The row with the number nearest to x, or nearest below; the first in file order wins. -1: none.
class Nearest {
 public:
  Nearest() = default;
  explicit Nearest(const Scan& scan);
  int at(double x) const;
  int below(double x) const;

 private:
  std::vector<double> x_;  // ascending, distinct
  std::vector<int> row_;   // the first row of each
};

/// The row with the smallest |x - row.x| + |y - row.y|; the first in file order wins. -1: none.
class NearestOfTwo {
 public:
  NearestOfTwo() = default;
  NearestOfTwo(const Scan& x, const std::vector<double>& y);
  int at(double x, double y) const;

 private:
  static constexpr std::size_t lanes = 8;
  std::vector<double> x_, y_;  // filled up to whole lanes with rows that are infinitely far
  std::vector<int> row_;
};

}  // namespace rooflua::infersim
