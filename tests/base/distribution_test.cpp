// Each distribution against its moments and, in full, against its CDF (Kolmogorov-Smirnov).

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr int draws = 40000;

std::vector<double> sample(const std::function<double(RandomStream&)>& draw, const char* name) {
  RandomStream stream = random_stream(2024, name);
  std::vector<double> values(draws);
  for (double& value : values) value = draw(stream);
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// sqrt(n) times the largest distance between empirical and true CDF; above 1.95 once in 1000.
double kolmogorov_smirnov(std::vector<double> values, const std::function<double(double)>& cdf) {
  std::sort(values.begin(), values.end());
  double distance = 0;
  const auto n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]), below = static_cast<double>(i) / n;
    distance = std::max({distance, p - below, below + 1 / n - p});
  }
  return distance * std::sqrt(n);
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Regularised lower incomplete gamma function, by its series.
double gamma_cdf(double shape, double x) {
  if (x <= 0) return 0;
  double term = 1 / shape, sum = term;
  for (int n = 1; n < 10000 && term > sum * 1e-16; ++n) sum += term *= x / (shape + n);
  return sum * std::exp(-x + shape * std::log(x) - std::lgamma(shape));
}

void follows(const std::vector<double>& values, const std::function<double(double)>& cdf,
             double mean, double variance) {
  CHECK(kolmogorov_smirnov(values, cdf) < 1.95);
  CHECK(std::abs(mean_of(values) - mean) < 4.5 * std::sqrt(variance / draws));
  CHECK(variance_of(values) == Approx(variance).epsilon(0.1));
}

}  // namespace

TEST_CASE("uniform numbers are uniform") {
  follows(
      sample([](RandomStream& s) { return uniform(s, 2, 6); }, "uniform"),
      [](double x) { return (x - 2) / 4; }, 4, 16.0 / 12);
}

TEST_CASE("exponential numbers are exponential") {
  follows(
      sample([](RandomStream& s) { return exponential(s, 2.5); }, "exponential"),
      [](double x) { return 1 - std::exp(-x / 2.5); }, 2.5, 6.25);
}

TEST_CASE("gamma numbers follow the gamma distribution, below shape 1 too") {
  for (const double shape : {0.3, 1.0, 4.5}) {
    INFO(shape);
    follows(
        sample([&](RandomStream& s) { return gamma(s, shape, 2); }, "gamma"),
        [&](double x) { return gamma_cdf(shape, x / 2); }, 2 * shape, 4 * shape);
  }
}

TEST_CASE("Weibull numbers follow the Weibull distribution") {
  for (const double shape : {0.8, 2.0}) {
    const double mean = 3 * std::tgamma(1 + 1 / shape);
    follows(
        sample([&](RandomStream& s) { return weibull(s, shape, 3); }, "weibull"),
        [&](double x) { return 1 - std::exp(-std::pow(x / 3, shape)); }, mean,
        9 * std::tgamma(1 + 2 / shape) - mean * mean);
  }
}

TEST_CASE("normal and lognormal numbers follow theirs") {
  follows(
      sample([](RandomStream& s) { return normal(s, -1, 2); }, "normal"),
      [](double x) { return normal_cdf((x + 1) / 2); }, -1, 4);
  const double mu = 5, sigma = 0.7, mean = std::exp(mu + sigma * sigma / 2);
  follows(
      sample([&](RandomStream& s) { return lognormal(s, mu, sigma); }, "lognormal"),
      [&](double x) { return normal_cdf((std::log(x) - mu) / sigma); }, mean,
      (std::exp(sigma * sigma) - 1) * mean * mean);
}

TEST_CASE("Pareto numbers follow the Pareto distribution") {
  follows(
      sample([](RandomStream& s) { return pareto(s, 6, 2); }, "pareto"),
      [](double x) { return 1 - std::pow(2 / x, 6); }, 6 * 2.0 / 5, 4.0 * 6 / (25 * 4));
}

TEST_CASE("Poisson counts have the mean as mean and as variance") {
  for (const double mean : {0.5, 4.0, 12.0, 300.0}) {
    INFO(mean);
    const auto values =
        sample([&](RandomStream& s) { return double(poisson(s, mean)); }, "poisson");
    CHECK(std::abs(mean_of(values) - mean) < 4.5 * std::sqrt(mean / draws));
    CHECK(variance_of(values) == Approx(mean).epsilon(0.05));
  }
  RandomStream stream = random_stream(1, "none");
  CHECK(poisson(stream, 0) == 0);
}

TEST_CASE("Zipf ranks have the shares they should") {
  const Zipf zipf(5, 1);
  std::vector<int> count(6);
  RandomStream stream = random_stream(2024, "zipf");
  for (int i = 0; i < draws; ++i) ++count[static_cast<std::size_t>(zipf(stream))];
  const double all = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5;
  double chi = 0;
  for (int k = 1; k <= 5; ++k) {
    const double expected = draws / (k * all), found = count[static_cast<std::size_t>(k)];
    chi += (found - expected) * (found - expected) / expected;
  }
  CHECK(count[0] == 0);
  CHECK(chi < 18.5);  // 4 degrees of freedom, p = 0.001
}

TEST_CASE("an empirical distribution gives its values in the shares of their weights") {
  const std::vector<double> weights{0, 1, 0, 3, 0};
  const Empirical lengths({1, 2, 3, 4, 5}, weights);
  const auto values = sample([&](RandomStream& s) { return lengths(s); }, "empirical");
  const auto fours = std::count(values.begin(), values.end(), 4.0);
  CHECK(std::count(values.begin(), values.end(), 2.0) + fours == draws);
  CHECK(std::abs(double(fours) - 0.75 * draws) < 4.5 * std::sqrt(draws * 0.75 * 0.25));
  CHECK(lengths.at(0) == 2);
  CHECK(lengths.at(std::nextafter(1.0, 0.0)) == 4);
  CHECK(Empirical({7}).at(0.5) == 7);
}

TEST_CASE("the normal quantile inverts the normal CDF") {
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-15));
  CHECK(normal_quantile(1e-300) == Approx(-37.0471).epsilon(1e-6));
  for (double p = 1e-10; p < 1; p += 0.0173)
    CHECK(normal_cdf(normal_quantile(p)) == Approx(p).epsilon(1e-12));
}

TEST_CASE("two quantiles at once are those of each, to the last bit") {
  RandomStream stream = random_stream(5, "quantiles");
  for (int i = 0; i < 10000; ++i) {
    const double p = uniform_open(stream), q = uniform_open(stream);
    const auto both = normal_quantiles({p, q});
    REQUIRE(both[0] == normal_quantile(p));
    REQUIRE(both[1] == normal_quantile(q));
  }
  for (const double p : {1e-300, 0.075, 0.07499999999999996, 0.5, 0.925, 1 - 0x1.0p-53}) {
    for (const double q : {1e-20, 0.075, 0.5, 0.9250000000000002}) {
      const auto both = normal_quantiles({p, q});
      CHECK(both[0] == normal_quantile(p));
      CHECK(both[1] == normal_quantile(q));
    }
  }
}

TEST_CASE("a normal draw is that of its place in the stream, whatever is drawn around it") {
  RandomStream open = random_stream(5, "order"), mixed = open;
  std::vector<double> normals;
  for (int i = 0; i < 4000; ++i) normals.push_back(normal_quantile(uniform_open(open)));
  RandomStream kinds = random_stream(5, "kinds");
  for (std::size_t i = 0; i < normals.size(); ++i) {
    switch (uniform_integer(kinds, 0, 3)) {
      case 0:
        REQUIRE(normal(mixed, 0, 1) == normals[i]);
        break;
      case 1:
        REQUIRE(lognormal(mixed, 2, 0.5) == std::exp(2 + 0.5 * normals[i]));
        break;
      case 2: {
        RandomStream copy = mixed;
        REQUIRE(normal(copy, 0, 1) == normals[i]);
        next_bits(mixed);
        break;
      }
      default:
        REQUIRE(normal_quantile(uniform_open(mixed)) == normals[i]);
    }
  }
}

TEST_CASE("a parameter outside its range is refused by name") {
  RandomStream stream = random_stream(1, "x");
  const double infinite = INFINITY;
  CHECK_THROWS_AS(exponential(stream, 0), Error);
  CHECK_THROWS_AS(exponential(stream, infinite), Error);
  CHECK_THROWS_AS(gamma(stream, -1, 1), Error);
  CHECK_THROWS_AS(weibull(stream, 1, NAN), Error);
  CHECK_THROWS_AS(normal(stream, 0, -1), Error);
  CHECK_THROWS_AS(lognormal(stream, NAN, 1), Error);
  CHECK_THROWS_AS(pareto(stream, 0, 1), Error);
  CHECK_THROWS_AS(poisson(stream, -1), Error);
  CHECK_THROWS_AS(Zipf(0, 1), Error);
  CHECK_THROWS_AS(Empirical({}), Error);
  CHECK_THROWS_AS(Empirical({1, 2}, std::vector<double>{0, 0}), Error);
  CHECK_THROWS_WITH(exponential(stream, -2),
                    "exponential.mean: expected a positive number, found -2.000000");
}
