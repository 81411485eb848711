#include "cost/lookup/infersim_series.h"

#include <array>
#include <cmath>
#include <numeric>

namespace rooflua::infersim {
namespace {

/// Positions of a scan by number; equal ones in file order.
std::vector<std::size_t> ascending(const Scan& scan) {
  std::vector<std::size_t> order(scan.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scan.x[a] < scan.x[b]; });
  return order;
}

/// How many of an ascending list are at most x.
std::size_t up_to(const std::vector<double>& list, double x) {
  return static_cast<std::size_t>(std::upper_bound(list.begin(), list.end(), x) - list.begin());
}

}  // namespace

LastUpTo::LastUpTo(const Scan& scan) {
  int last = -1;
  for (const std::size_t i : ascending(scan)) {
    last = std::max(last, scan.row[i]);
    x_.push_back(scan.x[i]);
    row_.push_back(last);
  }
}

int LastUpTo::at(double x) const {
  const std::size_t count = up_to(x_, x);
  return count == 0 ? -1 : row_[count - 1];
}

BeforeFirstLarger::BeforeFirstLarger(const Scan& scan) : largest_(scan.x), row_(scan.row) {
  for (std::size_t i = 1; i < largest_.size(); ++i)
    largest_[i] = std::max(largest_[i], largest_[i - 1]);
}

int BeforeFirstLarger::at(double x) const {
  const std::size_t count = up_to(largest_, x);
  return count == 0 ? -1 : row_[count - 1];
}

Nearest::Nearest(const Scan& scan) {
  for (const std::size_t i : ascending(scan)) {
    if (!x_.empty() && x_.back() == scan.x[i]) continue;
    x_.push_back(scan.x[i]);
    row_.push_back(scan.row[i]);
  }
}

int Nearest::at(double x) const {
  const std::size_t above = up_to(x_, x);
  if (above == 0) return row_.empty() ? -1 : row_[0];
  if (above == x_.size()) return row_.back();
  const double down = std::abs(x_[above - 1] - x), up = std::abs(x_[above] - x);
  if (down == up) return std::min(row_[above - 1], row_[above]);
  return down < up ? row_[above - 1] : row_[above];
}

int Nearest::below(double x) const {
  const std::size_t count = up_to(x_, x);
  return count == 0 ? -1 : row_[count - 1];
}

NearestOfTwo::NearestOfTwo(const Scan& x, const std::vector<double>& y)
    : x_(x.x), y_(y), row_(x.row) {
  const std::size_t whole = (x_.size() + lanes - 1) / lanes * lanes;
  x_.resize(whole, std::numeric_limits<double>::infinity());
  y_.resize(whole, std::numeric_limits<double>::infinity());
}

int NearestOfTwo::at(double x, double y) const {
  if (row_.empty()) return -1;
  std::array<double, lanes> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < x_.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double far = std::abs(x_[i + lane] - x) + std::abs(y_[i + lane] - y);
      least[lane] = far < least[lane] ? far : least[lane];
    }
  }
  const double nearest = *std::min_element(least.begin(), least.end());
  std::size_t i = 0;
  while (std::abs(x_[i] - x) + std::abs(y_[i] - y) != nearest) ++i;
  return row_[i];
}

}  // namespace rooflua::infersim
