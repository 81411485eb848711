#pragma once
// Counter-based random numbers in named streams: number i of a stream is a function of (seed,
// name, index, i) and of nothing else. A stream that draws more does not shift another, and the
// same scenario gives the same bytes on every machine, compiler and number of threads.
//
//     key   = hash(seed, name, index)                    64 bits
//     draws = Philox4x32-10(counter = 0, 1, 2, ...; key)  two draws of 64 bits per counter
//
// Every distribution is implemented here, because those of the standard library differ between
// implementations. Each states how many draws it takes.
// Inverse-CDF distributions take exactly one draw, so that streams with the same name and index
// are comonotone across parameter values (common random numbers).
// @source Salmon, Moraes, Dror, Shaw. "Parallel random numbers: as easy as 1, 2, 3", SC 2011

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "border.h"

namespace rooflua {

/// The state of a stream. Plain data (border.h): it can be copied (a fork), compared, and passed to
/// Lua.
using RandomStream = rooflua_random_stream;

/// The initial state of stream `index` of that name.
RandomStream random_stream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

/// One block of Philox4x32-10.
struct PhiloxBlock {
  std::uint32_t word[4];
};
PhiloxBlock philox4x32_10(const PhiloxBlock& counter, std::uint32_t key0, std::uint32_t key1);

/// 64 random bits.
std::uint64_t next_bits(RandomStream& stream);
/// In [0, 1): a multiple of 2^-53.
double uniform(RandomStream& stream);
/// Draw number i (from 0) of the stream with this key, as uniform() gives it: random access. Draws
/// 2i and 2i + 1 come from one block.
double uniform_at(std::uint64_t key, std::uint64_t i);
/// Which of draws 16 `group` to 16 `group` + 15 are below each bound: bit i of below[j] says so of
/// draw 16 `group` + i and bounds[j]. For the price of a few draws.
void draws_below(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                 std::uint16_t* below);
/// The ways to find these bits that this processor has, the fastest first: all find the same.
using DrawsBelow = void (*)(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                            std::uint16_t* below);
std::vector<DrawsBelow> ways_of_draws_below();
/// In (0, 1): an odd multiple of 2^-53; never 0 or 1, for logarithms and inverse CDFs.
double uniform_open(RandomStream& stream);
/// In [low, high). @throws Error unless low <= high, both finite
double uniform(RandomStream& stream, double low, double high);
/// A whole number in [low, high], every one exactly as likely (Lemire's multiply and reject).
/// @throws Error unless low <= high
std::int64_t uniform_integer(RandomStream& stream, std::int64_t low, std::int64_t high);

/// All distributions below throw an Error that names the parameter if it is outside its range.

/// Density exp(-x / mean) / mean. One draw.
double exponential(RandomStream& stream, double mean);
/// Shape k, scale theta: mean k theta, variance k theta^2. Marsaglia and Tsang (ACM TOMS 26, 2000)
/// by rejection; shape < 1 by boosting. The number of draws varies.
double gamma(RandomStream& stream, double shape, double scale);
/// P(X > x) = exp(-(x / scale)^shape). One draw.
double weibull(RandomStream& stream, double shape, double scale);
/// Mean and standard deviation of the result. One draw, by the inverse CDF.
double normal(RandomStream& stream, double mean, double deviation);
/// exp(normal(mu, sigma)): median exp(mu), mean exp(mu + sigma^2 / 2). One draw.
double lognormal(RandomStream& stream, double mu, double sigma);
/// P(X > x) = (minimum / x)^shape for x >= minimum. One draw.
double pareto(RandomStream& stream, double shape, double minimum);
/// Number of events: P(X = k) = mean^k e^-mean / k!. Knuth's product for small means, and the
/// transformed rejection of Hoermann (1993) from mean 10 on.
std::int64_t poisson(RandomStream& stream, double mean);

/// Quantile of the standard normal distribution, p in (0, 1): Wichura's AS 241 (PPND16), relative
/// error 1e-16.
double normal_quantile(double p);
/// Two of them, to the last bit.
std::array<double, 2> normal_quantiles(std::array<double, 2> p);
/// That of each value, in its place.
void normal_quantiles(std::span<double> values);

/// Ranks 1..count with P(k) proportional to 1 / k^exponent, exponent >= 0. One draw.
class Zipf {
 public:
  Zipf(std::int64_t count, double exponent);
  std::int64_t operator()(RandomStream& stream) const;

 private:
  std::vector<double> cumulative_;
};

/// Given values with given weights (all equal if there are none). One draw.
class Empirical {
 public:
  /// @throws Error if there is no value, a weight is negative, or all are zero
  explicit Empirical(std::vector<double> values, std::span<const double> weights = {});
  double operator()(RandomStream& stream) const;
  /// The value at cumulative weight u in [0, 1), for fields that are drawn together by one u.
  double at(double u) const;

 private:
  std::vector<double> values_;
  std::vector<double> cumulative_;
};

}  // namespace rooflua
