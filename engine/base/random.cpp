#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

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

double polynomial(double x, std::span<const double> lowest_first) {
  double sum = 0;
  for (std::size_t i = lowest_first.size(); i-- > 0;) sum = sum * x + lowest_first[i];
  return sum;
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
  return static_cast<double>(next_bits(stream) >> 11) * 0x1.0p-53;
}

double uniform_at(std::uint64_t key, std::uint64_t i) {
  const PhiloxBlock block = block_at(key, i / 2);
  const std::size_t word = 2 * (i % 2);
  const std::uint64_t bits = std::uint64_t{block.word[word + 1]} << 32 | block.word[word];
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

double uniform_open(RandomStream& stream) {
  return (static_cast<double>(next_bits(stream) >> 12) + 0.5) * 0x1.0p-52;
}

double uniform(RandomStream& stream, double low, double high) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "uniform", "low", low,
          "low <= high");
  return low + (high - low) * uniform(stream);
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
  return -mean * std::log(uniform_open(stream));
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
  return scale * std::pow(-std::log(uniform_open(stream)), 1.0 / shape);
}

double normal(RandomStream& stream, double mean, double deviation) {
  require(std::isfinite(mean), "normal", "mean", mean, "a finite number");
  require(std::isfinite(deviation) && deviation >= 0, "normal", "deviation", deviation,
          "0 or more");
  return mean + deviation * normal_quantile(uniform_open(stream));
}

double lognormal(RandomStream& stream, double mu, double sigma) {
  require(std::isfinite(mu), "lognormal", "mu", mu, "a finite number");
  require(std::isfinite(sigma) && sigma >= 0, "lognormal", "sigma", sigma, "0 or more");
  return std::exp(mu + sigma * normal_quantile(uniform_open(stream)));
}

double pareto(RandomStream& stream, double shape, double minimum) {
  require_positive("pareto", "shape", shape);
  require_positive("pareto", "minimum", minimum);
  return minimum * std::pow(uniform_open(stream), -1.0 / shape);
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

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", 1988.
double normal_quantile(double p) {
  static constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double b[] = {1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3};
  static constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[] = {1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
  static constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  ROOFLUA_ASSERT(p > 0 && p < 1);
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(r, a) / polynomial(r, b);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double tail = r <= 5 ? polynomial(r - 1.6, c) / polynomial(r - 1.6, d)
                             : polynomial(r - 5, e) / polynomial(r - 5, f);
  return q < 0 ? -tail : tail;
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
