#include "measure/record/quantile.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"

using namespace rooflua;

namespace {

/// Deterministic noise: the high bits of a linear congruential generator.
struct Noise {
  std::uint64_t state = 1;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
};

}  // namespace

TEST_CASE("quantiles are linear between neighbours, as numpy's") {
  // numpy.percentile([10, 7, 4, 3, 2, 1], [50, 75]) = [3.5, 6.25]
  const std::vector<double> sorted{1, 2, 3, 4, 7, 10};
  CHECK(quantile(sorted, 0.50) == 3.5);
  CHECK(quantile(sorted, 0.75) == 6.25);
  CHECK(quantile(sorted, 0) == 1);
  CHECK(quantile(sorted, 1) == 10);
  CHECK(quantile(std::vector<double>{42}, 0.99) == 42);
}

TEST_CASE("the statistics of ten values are those of numpy 1.24") {
  std::vector<double> values{0.137, 2.5, 0.9, 14.25, 3.75, 0.02, 7.5, 1.1, 1.3, 6.0};
  const Statistics s = statistics(values);
  CHECK(s.count == 10);
  CHECK(s.mean == Approx(3.7456999999999994).epsilon(1e-15));
  CHECK(s.std == Approx(4.231447554915458).epsilon(1e-15));
  CHECK(s.min == 0.02);
  CHECK(s.p50 == 1.9);
  CHECK(s.p90 == 8.174999999999997);
  CHECK(s.p95 == 11.212499999999993);
  CHECK(s.p99 == 13.642500000000002);
  CHECK(s.max == 14.25);
}

TEST_CASE("statistics do not depend on the order of the values") {
  std::vector<double> forth, back;
  Noise noise;
  for (int i = 0; i < 1000; ++i) forth.push_back(static_cast<double>(noise.next()) / 7e8);
  back.assign(forth.rbegin(), forth.rend());
  const Statistics a = statistics(forth), b = statistics(back);
  CHECK(a.mean == b.mean);
  CHECK(a.std == b.std);
}

TEST_CASE("many values are sorted as few are") {
  Noise noise;
  std::vector<double> values{0, 1e300, 5e-324};
  for (int i = 0; i < 20000; ++i) values.push_back(static_cast<double>(noise.next()) / 3);
  for (const bool negative : {false, true}) {
    if (negative) values.push_back(-1);
    std::vector<double> sorted = values, described = values;
    std::sort(sorted.begin(), sorted.end());
    statistics(described);
    CHECK(described == sorted);
  }
}

TEST_CASE("values that differ in their last digits only are sorted too") {
  Noise noise;
  for (const int alike : {1, 20, 20000}) {  // how many share all but their last digits
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) {
      const double high =
          1 + static_cast<double>(noise.next() % (20000 / static_cast<unsigned>(alike)));
      values.push_back(high + static_cast<double>(noise.next() % 1000) * 1e-12);
    }
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    statistics(values);
    CHECK(values == sorted);
  }
}

TEST_CASE("nothing has no statistics") {
  std::vector<double> none;
  CHECK(statistics(none).count == 0);
  CHECK(std::isnan(statistics(none).mean));
  CHECK(std::isnan(LogHistogram().statistics(1).p99));
}

TEST_CASE("small whole numbers are kept exactly by the histogram") {
  LogHistogram histogram;
  for (int i = 1023; i >= 0; --i) histogram.add(i);
  CHECK(histogram.quantile(0) == 0);
  CHECK(histogram.quantile(0.5) == 511.5);
  CHECK(histogram.quantile(1) == 1023);
  CHECK(histogram.mean() == 511.5);
}

TEST_CASE("a histogram quantile is within its stated error of the exact one") {
  Noise noise;
  for (const int shift : {0, 9, 20, 31}) {  // up to 2^62
    LogHistogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 20000; ++i) {
      const auto value =
          static_cast<std::int64_t>((noise.next() >> (noise.next() % 31)) << shift) + (i & 1);
      values.push_back(value);
      histogram.add(value);
    }
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
      const double exact = quantile(std::vector<double>(values.begin(), values.end()), q);
      const double error = std::abs(histogram.quantile(q) - exact);
      if (error > exact * LogHistogram::relative_error)
        FAIL("shift " << shift << " q " << q << " error " << error);
    }
    CHECK(histogram.min() == values.front());
    CHECK(histogram.max() == values.back());
  }
}

TEST_CASE("a quantile between two values of the histogram is linear, as numpy's") {
  LogHistogram histogram;
  histogram.add(2, 4);
  histogram.add(4);
  CHECK(histogram.quantile(0.50) == 2);
  CHECK(histogram.quantile(0.95) == Approx(3.6));  // numpy.percentile([2, 2, 2, 2, 4], 95)
  CHECK(histogram.quantile(1) == 4);
}

TEST_CASE("the bound of the histogram is tight: some value comes near it") {
  double worst = 0;
  for (std::int64_t value = 1024; value < 4096; ++value) {
    LogHistogram histogram;
    histogram.add(value);
    histogram.add(value, 8);
    histogram.add(1 << 20);
    worst = std::max(worst, std::abs(histogram.quantile(0.2) - static_cast<double>(value)) /
                                static_cast<double>(value));
  }
  CHECK(worst <= LogHistogram::relative_error);
  CHECK(worst > LogHistogram::relative_error / 4);
}

TEST_CASE("mean and standard deviation of the histogram are exact") {
  LogHistogram histogram;
  std::vector<double> values;
  Noise noise;
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<std::int64_t>(noise.next());
    histogram.add(value);
    values.push_back(static_cast<double>(value));
  }
  const Statistics exact = statistics(values), seen = histogram.statistics(1);
  CHECK(seen.mean == Approx(exact.mean).epsilon(1e-14));
  CHECK(seen.std == Approx(exact.std).epsilon(1e-13));
}

TEST_CASE("equal values have no spread, however large they are") {
  LogHistogram histogram;
  histogram.add(9'123'456'789'123'456'789, 1'000'000'007);
  CHECK(histogram.std() == 0);
  CHECK(histogram.mean() == 9123456789123456789.0);
  CHECK(histogram.quantile(0.5) == 9123456789123456789.0);
  histogram.add(9'123'456'789'123'456'787, 1'000'000'007);
  CHECK(histogram.std() == 1);
}

TEST_CASE("values that are added together count as they do one by one") {
  Noise noise;
  for (const int shift : {20, 40, 55}) {  // the last has values that are too large to be summed up
    LogHistogram together, one_by_one;
    for (int round = 0; round < 20; ++round) {
      std::vector<std::int64_t> values(static_cast<std::size_t>(noise.next() % 40));
      for (std::int64_t& value : values)
        value = static_cast<std::int64_t>(noise.next() % (std::uint64_t{1} << shift));
      const auto weight = static_cast<std::int64_t>(noise.next() % 300);
      together.add_each(values, weight);
      for (const std::int64_t value : values) one_by_one.add(value, weight);
    }
    CHECK(together.count() == one_by_one.count());
    CHECK(together.count() > 0);
    CHECK(together.min() == one_by_one.min());
    CHECK(together.max() == one_by_one.max());
    CHECK(together.mean() == one_by_one.mean());
    CHECK(together.std() == one_by_one.std());
    for (const double q : {0.0, 0.1, 0.5, 0.9, 1.0})
      CHECK(together.quantile(q) == one_by_one.quantile(q));
  }
}

TEST_CASE("large values and weights add up exactly, in whatever parts they come") {
  constexpr std::int64_t value_edge = std::int64_t{1} << 48, weight_edge = std::int64_t{1} << 32;
  for (const std::int64_t value : {std::int64_t{12345}, value_edge - 1, value_edge}) {
    for (const std::int64_t weight : {weight_edge - 1, weight_edge, weight_edge + 5}) {
      LogHistogram whole, parts, other;
      whole.add(value, weight);
      whole.add(value, weight);  // the squares of some carry out of 128 bits
      whole.add(1, 3);
      parts.add(value, weight / 3);
      parts.add(1, 3);
      parts.add(value, weight - weight / 3);
      other.add(value, weight);
      parts.add(other);
      CHECK(whole.count() == parts.count());
      CHECK(whole.mean() == parts.mean());
      CHECK(whole.std() == parts.std());
      const double n = 2 * static_cast<double>(weight) + 3, v = static_cast<double>(value);
      CHECK(whole.mean() == Approx((2 * static_cast<double>(weight) * v + 3) / n).epsilon(1e-14));
      CHECK(whole.std() == Approx((v - 1) * std::sqrt(3 * (n - 3)) / n).epsilon(1e-12));
    }
  }
}

TEST_CASE("a weight counts as that many values, and the order of parts does not matter") {
  LogHistogram one_by_one, weighted, first, second;
  Noise noise;
  for (int i = 0; i < 500; ++i) {
    const auto value = static_cast<std::int64_t>(noise.next()) * 1000;
    const auto weight = static_cast<std::int64_t>(noise.next() % 7);
    for (int k = 0; k < weight; ++k) one_by_one.add(value);
    weighted.add(value, weight);
    (i % 3 == 0 ? first : second).add(value, weight);
  }
  second.add(first);
  for (const LogHistogram* other : {&weighted, &second}) {
    const Statistics a = one_by_one.statistics(1e-12), b = other->statistics(1e-12);
    CHECK(a.count == b.count);
    CHECK(a.mean == b.mean);
    CHECK(a.std == b.std);
    CHECK(a.min == b.min);
    CHECK(a.p50 == b.p50);
    CHECK(a.p99 == b.p99);
    CHECK(a.max == b.max);
  }
}
