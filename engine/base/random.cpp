#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/random/formulas.h"

namespace rooflua {

namespace {

/// The finaliser of MurmurHash3 (splitmix64's variant): a bijection that mixes all bits.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void require(bool ok, const char* distribution, const char* parameter, double found,
             const char* expected) {
  if (ok) return;
  throw Error(std::string(distribution) + "." + parameter,
              std::string("expected ") + expected + ", found " + std::to_string(found));
}

void require_positive(const char* distribution, const char* parameter, double value) {
  require(std::isfinite(value) && value > 0, distribution, parameter, value, "a positive number");
}

/// The index of the first cumulative share that exceeds u. The shares rise, and the last is 1.
std::size_t bin_of(const std::vector<double>& cumulative, double u) {
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), u);
  const auto bin = static_cast<std::size_t>(found - cumulative.begin());
  return std::min(bin, cumulative.size() - 1);
}

}  // namespace

RandomStream random_stream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a over the name
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  RandomStream stream;
  stream.key = mixed(mixed(mixed(seed + 0x9e3779b97f4a7c15ULL) ^ hash) + mixed(index + 1));
  return stream;
}

PhiloxBlock philox4x32_10(const PhiloxBlock& counter, std::uint32_t key0, std::uint32_t key1) {
  PhiloxBlock block = counter;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * block.word[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * block.word[2];
    block = {{static_cast<std::uint32_t>(second >> 32) ^ block.word[1] ^ key0,
              static_cast<std::uint32_t>(second),
              static_cast<std::uint32_t>(first >> 32) ^ block.word[3] ^ key1,
              static_cast<std::uint32_t>(first)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return block;
}

namespace {

/// Two draws of a stream.
PhiloxBlock block_at(std::uint64_t key, std::uint64_t counter) {
  const PhiloxBlock place{
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}};
  return philox4x32_10(place, static_cast<std::uint32_t>(key),
                       static_cast<std::uint32_t>(key >> 32));
}

}  // namespace

std::uint64_t next_bits(RandomStream& stream) {
  if (stream.has_buffered != 0) {
    stream.has_buffered = 0;
    return stream.buffered;
  }
  const PhiloxBlock block = block_at(stream.key, stream.counter);
  ++stream.counter;
  stream.buffered = std::uint64_t{block.word[3]} << 32 | block.word[2];
  stream.has_buffered = 1;
  return std::uint64_t{block.word[1]} << 32 | block.word[0];
}

double uniform(RandomStream& stream) {
  return half_open_unit(next_bits(stream));
}

double uniform_at(std::uint64_t key, std::uint64_t i) {
  const PhiloxBlock block = block_at(key, i / 2);
  const std::size_t word = 2 * (i % 2);
  return half_open_unit(std::uint64_t{block.word[word + 1]} << 32 | block.word[word]);
}

double uniform_open(RandomStream& stream) {
  return open_unit(next_bits(stream));
}

namespace {
/// One draw. Those of a block are made together, because a quantile is a long chain of operations.
double standard_normal(RandomStream& stream) {
  constexpr std::uint64_t with_normal = 2;
  if (stream.has_buffered == with_normal) {
    stream.has_buffered = 0;
    return stream.normal;
  }
  if (stream.has_buffered != 0) return normal_quantile(uniform_open(stream));
  const double first = uniform_open(stream);
  const auto both = normal_quantiles({first, open_unit(stream.buffered)});
  stream.normal = both[1];
  stream.has_buffered = with_normal;
  return both[0];
}
}  // namespace

double uniform(RandomStream& stream, double low, double high) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "uniform", "low", low,
          "low <= high");
  return uniform_of(uniform(stream), low, high);
}

std::int64_t uniform_integer(RandomStream& stream, std::int64_t low, std::int64_t high) {
  require(low <= high, "uniform_integer", "low", static_cast<double>(low), "low <= high");
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  std::uint64_t offset = next_bits(stream);
  if (range != 0) {  // 0: all 2^64 values
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(offset) * range;
    const std::uint64_t uneven = (0 - range) % range;
    while (static_cast<std::uint64_t>(product) < uneven) {
      product = static_cast<Wide>(next_bits(stream)) * range;
    }
    offset = static_cast<std::uint64_t>(product >> 64);
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double exponential(RandomStream& stream, double mean) {
  require_positive("exponential", "mean", mean);
  return exponential_of(uniform_open(stream), mean);
}

double gamma(RandomStream& stream, double shape, double scale) {
  require_positive("gamma", "shape", shape);
  require_positive("gamma", "scale", scale);
  if (shape < 1) {
    const double boost = std::pow(uniform_open(stream), 1.0 / shape);
    return gamma(stream, shape + 1, scale) * boost;
  }
  const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal_quantile(uniform_open(stream));
    const double u = uniform_open(stream);
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

double weibull(RandomStream& stream, double shape, double scale) {
  require_positive("weibull", "shape", shape);
  require_positive("weibull", "scale", scale);
  return weibull_of(uniform_open(stream), shape, scale);
}

double normal(RandomStream& stream, double mean, double deviation) {
  require(std::isfinite(mean), "normal", "mean", mean, "a finite number");
  require(std::isfinite(deviation) && deviation >= 0, "normal", "deviation", deviation,
          "0 or more");
  return normal_of(standard_normal(stream), mean, deviation);
}

double lognormal(RandomStream& stream, double mu, double sigma) {
  require(std::isfinite(mu), "lognormal", "mu", mu, "a finite number");
  require(std::isfinite(sigma) && sigma >= 0, "lognormal", "sigma", sigma, "0 or more");
  return lognormal_of(standard_normal(stream), mu, sigma);
}

double pareto(RandomStream& stream, double shape, double minimum) {
  require_positive("pareto", "shape", shape);
  require_positive("pareto", "minimum", minimum);
  return pareto_of(uniform_open(stream), shape, minimum);
}

std::int64_t poisson(RandomStream& stream, double mean) {
  require(std::isfinite(mean) && mean >= 0 && mean < 1e15, "poisson", "mean", mean, "0 to 1e15");
  if (mean < 10) {
    const double limit = std::exp(-mean);
    std::int64_t events = 0;
    for (double product = uniform_open(stream); product > limit; product *= uniform_open(stream))
      ++events;
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), edge = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = uniform_open(stream) - 0.5, v = uniform_open(stream);
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= edge) return static_cast<std::int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double log_density = k * std::log(mean) - mean - std::lgamma(k + 1);
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= log_density) {
      return static_cast<std::int64_t>(k);
    }
  }
}

Zipf::Zipf(std::int64_t count, double exponent) {
  require(count >= 1 && count <= 10'000'000, "zipf", "count", static_cast<double>(count),
          "1 to 10000000");
  require(std::isfinite(exponent) && exponent >= 0, "zipf", "exponent", exponent, "0 or more");
  cumulative_.reserve(static_cast<std::size_t>(count));
  double sum = 0;
  for (std::int64_t k = 1; k <= count; ++k) {
    sum += std::pow(static_cast<double>(k), -exponent);
    cumulative_.push_back(sum);
  }
  for (double& share : cumulative_) share /= sum;
}

std::int64_t Zipf::operator()(RandomStream& stream) const {
  return static_cast<std::int64_t>(bin_of(cumulative_, uniform(stream))) + 1;
}

Empirical::Empirical(std::vector<double> values, std::span<const double> weights)
    : values_(std::move(values)) {
  if (values_.empty()) throw Error("empirical.values", "is empty");
  if (!weights.empty() && weights.size() != values_.size()) {
    throw Error("empirical.weights", "expected as many as values (" +
                                         std::to_string(values_.size()) + "), found " +
                                         std::to_string(weights.size()));
  }
  double sum = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double weight = weights.empty() ? 1.0 : weights[i];
    require(std::isfinite(weight) && weight >= 0, "empirical", "weights", weight, "0 or more");
    sum += weight;
    cumulative_.push_back(sum);
  }
  require_positive("empirical", "weights (their sum)", sum);
  for (double& share : cumulative_) share /= sum;
}

double Empirical::at(double u) const {
  return values_[bin_of(cumulative_, u)];
}

double Empirical::operator()(RandomStream& stream) const {
  return at(uniform(stream));
}

}  // namespace rooflua
