#include "measure/record/quantile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

__extension__ typedef unsigned __int128 Wide;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int mantissa = LogHistogram::mantissa_bits;
constexpr std::int64_t exact_below = std::int64_t{2} << mantissa;

/// Values below 2^(bits + 1) have a bucket each; above, 2^bits buckets per octave.
std::size_t bucket_of(std::int64_t value) {
  if (value < exact_below) return static_cast<std::size_t>(value);
  const int shift = std::bit_width(static_cast<std::uint64_t>(value)) - 1 - mantissa;
  return (static_cast<std::size_t>(shift) << mantissa) + static_cast<std::size_t>(value >> shift);
}

/// The middle of a bucket.
double middle_of(std::size_t bucket) {
  if (bucket < static_cast<std::size_t>(exact_below)) return static_cast<double>(bucket);
  const int shift = static_cast<int>(bucket >> mantissa) - 1;
  const std::size_t top = bucket - (static_cast<std::size_t>(shift) << mantissa);
  return std::ldexp(static_cast<double>(top) + 0.5, shift) - 0.5;
}

using Limbs = std::array<std::uint64_t, 4>;

Limbs limbs_of(Wide low, std::uint64_t high) {
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(low >> 64), high, 0};
}

/// a * b modulo 2^256
Limbs product(const Limbs& a, const Limbs& b) {
  Limbs out{};
  for (std::size_t i = 0; i < 4; ++i) {
    Wide carry = 0;
    for (std::size_t j = 0; i + j < 4; ++j) {
      carry += static_cast<Wide>(a[i]) * b[j] + out[i + j];
      out[i + j] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
  }
  return out;
}

/// a - b, for a >= b
Limbs difference(const Limbs& a, const Limbs& b) {
  Limbs out{};
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const Wide taken = static_cast<Wide>(b[i]) + borrow;
    borrow = a[i] < taken ? 1 : 0;
    out[i] = static_cast<std::uint64_t>(a[i] - taken);
  }
  return out;
}

double number(const Limbs& limbs) {
  double out = 0;
  for (std::size_t i = 4; i-- > 0;) out = out * 0x1p64 + static_cast<double>(limbs[i]);
  return out;
}

double square(double x) {
  return x * x;
}

/// Insertion sort of `given` into `values`, as many; they may be the same. Values that need more
/// than four moves each are sorted by std::sort instead.
void sort_nearly_sorted(std::span<const double> given, std::vector<double>& values) {
  std::size_t moves = 4 * values.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    const double value = given[i];
    std::size_t j = i;
    for (; j > 0 && values[j - 1] > value && moves > 0; --j, --moves) values[j] = values[j - 1];
    values[j] = value;
    if (moves > 0) continue;
    const std::span<const double> rest = given.subspan(i + 1);
    if (given.data() != values.data())
      std::copy(rest.begin(), rest.end(), values.end() - std::ssize(rest));
    return std::sort(values.begin(), values.end());
  }
}

/// Counting sort, and sort_nearly_sorted() of what agrees in its key. `width` is the number of low
/// bits in which the values' bits exceed the least value's; the upper `digits` times 8 of them are
/// the key. Values of 256 keys go to as many places, which fit into the first cache: three such
/// passes are faster than two of 2,048 places.
template <int digits>
void sort_by_digits(std::vector<double>& values, std::uint64_t least, int width) {
  constexpr int digit = 8;
  constexpr std::size_t keys = std::size_t{1} << digit;
  const int shift = std::max(0, width - digits * digit);
  const auto key = [=](double value, int which) {
    return ((std::bit_cast<std::uint64_t>(value) - least) >> (shift + digit * which)) & (keys - 1);
  };
  // For each digit and key: first how many values have it, then where the next of them goes.
  const auto place = std::make_unique<std::array<std::array<std::uint32_t, keys>, digits>>();
  for (const double value : values) {
    for (int which = 0; which < digits; ++which) ++(*place)[which][key(value, which)];
  }
  const auto other = std::make_unique_for_overwrite<double[]>(values.size());
  std::span<double> from(values), to(other.get(), values.size());
  for (int which = 0; which < digits; ++which) {
    auto& next = (*place)[which];
    if (next[key(from.front(), which)] == from.size()) continue;  // all the same
    std::uint32_t before = 0;
    for (std::uint32_t& count : next) before += std::exchange(count, before);
    for (const double value : from) to[next[key(value, which)]++] = value;
    std::swap(from, to);
  }
  sort_nearly_sorted(from, values);
}

/// Sorts ascending. The bits of doubles that are not negative have the order of their values. A
/// counting sort uses the upper 24 of the bits that differ (32 where the values span more than 32
/// octaves). An insertion sort puts the few values in order that agree in those bits.
void sort_values(std::vector<double>& values) {
  constexpr std::size_t most_values = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const double value : values) {
    least = std::min(least, std::bit_cast<std::uint64_t>(value));
    most = std::max(most, std::bit_cast<std::uint64_t>(value));
  }
  const bool negative = (most >> 63) != 0;
  if (values.size() < 4096 || values.size() > most_values || negative)
    return std::sort(values.begin(), values.end());
  const int width = std::bit_width(most - least);
  width <= 57 ? sort_by_digits<3>(values, least, width) : sort_by_digits<4>(values, least, width);
}

Statistics nothing() {
  return {0, nan, nan, nan, nan, nan, nan, nan, nan};
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  ROOFLUA_ASSERT(!sorted.empty() && q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const double below = std::floor(rank);
  const std::size_t i = static_cast<std::size_t>(below);
  if (i + 1 >= sorted.size()) return sorted.back();
  const double step = sorted[i + 1] - sorted[i];
  const double part = rank - below;
  // numpy counts from the nearer neighbour, which keeps the result between the two.
  return part < 0.5 ? sorted[i] + step * part : sorted[i + 1] - step * (1 - part);
}

Statistics statistics(std::vector<double>& values) {
  if (values.empty()) return nothing();
  sort_values(values);
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  for (const double value : values) squares += square(value - mean);
  return {static_cast<std::int64_t>(values.size()),
          mean,
          std::sqrt(squares / n),
          values.front(),
          quantile(values, 0.50),
          quantile(values, 0.90),
          quantile(values, 0.95),
          quantile(values, 0.99),
          values.back()};
}

inline void LogHistogram::WideSum::add(const WideSum& other) {
  add(other.low);
  high += other.high;
}

inline void LogHistogram::WideSum::add_product(Wide value, std::uint64_t weight) {
  const Wide lower = static_cast<Wide>(static_cast<std::uint64_t>(value)) * weight;
  const Wide upper =
      static_cast<Wide>(static_cast<std::uint64_t>(value >> 64)) * weight + (lower >> 64);
  add(upper << 64 | static_cast<std::uint64_t>(lower));
  high += static_cast<std::uint64_t>(upper >> 64);
}

/// Whole octaves, so that values that lie close together make room once.
[[gnu::noinline]] void LogHistogram::make_room(std::size_t least, std::size_t most) {
  constexpr std::size_t octave = std::size_t{1} << mantissa_bits;
  const std::size_t first = least / octave * octave, end = (most / octave + 1) * octave;
  if (counts_.empty()) first_ = first;
  if (first < first_) counts_.insert(counts_.begin(), first_ - first, 0);
  first_ = std::min(first_, first);
  if (end > first_ + counts_.size()) counts_.resize(end - first_);
}

[[gnu::noinline]] void LogHistogram::add_large(std::uint64_t value, std::uint64_t weight) {
  sum_.add_product(value, weight);
  squares_.add_product(static_cast<Wide>(value) * value, weight);
}

void LogHistogram::add(std::int64_t value, std::int64_t weight) {
  ROOFLUA_ASSERT(value >= 0 && weight >= 0);
  if (weight == 0) return;
  const std::size_t bucket = bucket_of(value);
  if (bucket - first_ >= counts_.size()) make_room(bucket, bucket);
  count_of(bucket) += weight;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  count_ += weight;
  const auto v = static_cast<std::uint64_t>(value), w = static_cast<std::uint64_t>(weight);
  if ((v >> 48 | w >> 32) != 0) return add_large(v, w);
  // Products of such numbers fit: v * v has 96 bits.
  const std::uint64_t low = v * v;
  const auto high = static_cast<std::uint64_t>(static_cast<Wide>(v) * v >> 64);
  sum_.add(static_cast<Wide>(v) * w);
  squares_.add((static_cast<Wide>(high * w) << 64) + static_cast<Wide>(low) * w);
}

void LogHistogram::add_each(std::span<const std::int64_t> values, std::int64_t weight) {
  constexpr std::int64_t large = std::int64_t{1} << 48;  // sums of 2^16 smaller squares fit
  if (values.empty() || weight == 0) return;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least < 0 || *most >= large || values.size() > 65536) {
    for (const std::int64_t value : values) add(value, weight);
    return;
  }
  const std::size_t low = bucket_of(*least), high = bucket_of(*most);
  if (low < first_ || high - first_ >= counts_.size()) make_room(low, high);
  Wide sum = 0, squares = 0;
  for (const std::int64_t value : values) {
    count_of(bucket_of(value)) += weight;
    const auto v = static_cast<std::uint64_t>(value);
    sum += v;
    squares += static_cast<Wide>(v) * v;
  }
  min_ = std::min(min_, *least);
  max_ = std::max(max_, *most);
  count_ += static_cast<std::int64_t>(values.size()) * weight;
  sum_.add_product(sum, static_cast<std::uint64_t>(weight));
  squares_.add_product(squares, static_cast<std::uint64_t>(weight));
}

void LogHistogram::add(const LogHistogram& other) {
  if (other.count_ == 0) return;
  make_room(other.first_, other.first_ + other.counts_.size() - 1);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) count_of(other.first_ + i) += other.counts_[i];
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_.add(other.sum_);
  squares_.add(other.squares_);
}

double LogHistogram::mean() const {
  if (count_ == 0) return nan;
  return number(limbs_of(sum_.low, sum_.high)) / static_cast<double>(count_);
}

// Variance = (n * sum of squares - sum^2) / n^2, its numerator without any rounding.
double LogHistogram::std() const {
  if (count_ == 0) return nan;
  const Limbs n{static_cast<std::uint64_t>(count_), 0, 0, 0};
  const Limbs sum = limbs_of(sum_.low, sum_.high);
  const Limbs squares = limbs_of(squares_.low, squares_.high);
  const Limbs numerator = difference(product(n, squares), product(sum, sum));
  return std::sqrt(number(numerator)) / static_cast<double>(count_);
}

double LogHistogram::quantile(double q) const {
  if (count_ == 0) return nan;
  ROOFLUA_ASSERT(q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::int64_t>(rank);
  std::size_t bucket = bucket_of(min_);
  std::int64_t passed = count_of(bucket);  // values up to this bucket
  while (passed <= below) passed += count_of(++bucket);
  const double low = answer(bucket);
  if (below + 1 >= count_ || below + 1 < passed)
    return below + 1 >= count_ ? static_cast<double>(max_) : low;
  while (passed <= below + 1) passed += count_of(++bucket);
  return low + (answer(bucket) - low) * (rank - static_cast<double>(below));
}

double LogHistogram::answer(std::size_t bucket) const {
  return std::clamp(middle_of(bucket), static_cast<double>(min_), static_cast<double>(max_));
}

Statistics LogHistogram::statistics(double scale) const {
  if (count_ == 0) return nothing();
  return {count_,
          mean() * scale,
          std() * scale,
          static_cast<double>(min_) * scale,
          quantile(0.50) * scale,
          quantile(0.90) * scale,
          quantile(0.95) * scale,
          quantile(0.99) * scale,
          static_cast<double>(max_) * scale};
}

}  // namespace rooflua
