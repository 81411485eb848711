#pragma once
// The mean of a quantity over time in a few bins.

#include <cstddef>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

/// The mean of a quantity over time, in at most `most` bins of equal width. A run that outgrows
/// them doubles the width. The bins do not depend on how the run is divided into calls of add().
class TimeBins {
 public:
  static constexpr std::size_t most = 256;

  /// `value` holds from `from` to `to`, both counted from the first call's `from` or later.
  void add(Picoseconds from, Picoseconds to, double value);
  /// `amount` at one moment.
  void add_at(Picoseconds now, double amount);

  bool empty() const { return bins_.empty(); }
  Picoseconds width() const { return width_; }
  /// Integral of the value over each bin (value times picoseconds), or sum of the amounts.
  const std::vector<double>& sums() const { return bins_; }
  /// Joins bins until each is as wide as `width`, which is this width times a power of two.
  void widen_to(Picoseconds width);

 private:
  std::size_t bin_of(Picoseconds now);

  Picoseconds width_ = Picoseconds{1} << 30;  // about a millisecond
  std::vector<double> bins_;
};

}  // namespace rooflua
