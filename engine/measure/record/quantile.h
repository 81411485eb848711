#pragma once
// Statistics of a set of numbers: exact where all of them are kept, within a stated error where
// there are too many to keep.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rooflua {

/// The figures that a report gives of every metric. All NaN when there was nothing to describe.
struct Statistics {
  std::int64_t count = 0;
  double mean = 0, std = 0, min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

/// The value at rank q * (n - 1), linear between neighbours: the default of numpy.percentile.
/// @param sorted  ascending, not empty
/// @param q       in [0, 1]
double quantile(std::span<const double> sorted, double q);

/// Sorts `values` and describes them; std is that of the population (ddof 0), as numpy's. The sums
/// run over the sorted values, so that the result does not depend on the order of arrival.
Statistics statistics(std::vector<double>& values);

/// Counts of whole numbers (picoseconds) on a logarithmic grid: flat memory for any number of
/// values, and the same state in whatever order, or in however many parts, they came.
///
/// Values below 1024 are kept exactly; above, a bucket spans 1/512 of its octave and answers with
/// its middle, so a quantile is within 1/1024 (0.1 %) of the exact one (numpy's linear). Count,
/// mean, std, min and max are exact: they come from integer sums.
class LogHistogram {
  __extension__ typedef unsigned __int128 Wide;

 public:
  static constexpr int mantissa_bits = 9;
  static constexpr double relative_error = 1.0 / 1024;

  /// `weight` times the value; both >= 0.
  void add(std::int64_t value, std::int64_t weight = 1);
  /// The same for each of these values.
  void add_each(std::span<const std::int64_t> values, std::int64_t weight);
  void add(const LogHistogram& other);

  std::int64_t count() const { return count_; }
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }  // 0 when empty
  std::int64_t max() const { return max_; }
  double mean() const;  // NaN when empty, like all below
  double std() const;
  double quantile(double q) const;
  template <class Archive>
  void pass(Archive& archive);  // measure/divided/packed.h
  /// Every figure times `scale`: 1e-12 turns picoseconds into seconds.
  Statistics statistics(double scale) const;

 private:
  /// A sum of 64-bit times 128-bit products; wraps at 2^192, which 2^63 values of 2^63 reach.
  struct WideSum {
    Wide low = 0;
    std::uint64_t high = 0;
    void add(Wide more) { high += __builtin_add_overflow(low, more, &low) ? 1 : 0; }
    void add_product(Wide value, std::uint64_t weight);
    void add(const WideSum& other);
  };

  void add_large(std::uint64_t value, std::uint64_t weight);
  void make_room(std::size_t least, std::size_t most);
  std::int64_t& count_of(std::size_t bucket) { return counts_[bucket - first_]; }
  std::int64_t count_of(std::size_t bucket) const { return counts_[bucket - first_]; }
  double answer(std::size_t bucket) const;

  std::vector<std::int64_t> counts_;  // from the octave of the least value; 256 KiB at most
  std::size_t first_ = 0;             // the bucket of counts_[0]
  std::int64_t count_ = 0, max_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  WideSum sum_;      // of value * weight
  WideSum squares_;  // of value^2 * weight
};

}  // namespace rooflua
