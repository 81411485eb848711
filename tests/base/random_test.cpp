#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/random/ahead.h"
#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("the generator is Philox4x32-10: the published known answers") {
  const auto is = [](const PhiloxBlock& block, std::vector<std::uint32_t> words) {
    return std::vector<std::uint32_t>(block.word, block.word + 4) == words;
  };
  CHECK(is(philox4x32_10({{0, 0, 0, 0}}, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK(is(philox4x32_10({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u),
           {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK(
      is(philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("the first values of a stream are what they always were") {
  RandomStream stream = random_stream(1, "arrivals");
  CHECK(next_bits(stream) == 0x211ae5d63818f06dULL);
  CHECK(next_bits(stream) == 0x6cfb051ce267a33dULL);
  CHECK(next_bits(stream) == 0x9467344737ec3055ULL);
  CHECK(next_bits(stream) == 0xe450b1f2581a731cULL);
  RandomStream third = random_stream(1, "arrivals", 3);
  CHECK(uniform(third) == 0x1.0dc8ac9667002p-1);
  CHECK(exponential(third, 1) == Approx(1.023682793876294).epsilon(1e-14));
  CHECK(normal(third, 0, 1) == Approx(1.1478101931513842).epsilon(1e-14));
  CHECK(uniform_integer(third, 1, 1000) == 631);
}

TEST_CASE("a stream is plain data, and a copy goes on as the original does") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<RandomStream>);
  STATIC_REQUIRE(std::is_standard_layout_v<RandomStream>);
  STATIC_REQUIRE(sizeof(RandomStream) == 40);
  RandomStream stream = random_stream(7, "lengths");
  next_bits(stream);
  RandomStream copy = stream;
  for (int i = 0; i < 5; ++i) CHECK(next_bits(stream) == next_bits(copy));
}

TEST_CASE("draw number i of a stream is the i-th that comes, asked in any order") {
  RandomStream stream = random_stream(11, "acceptance", 5);
  const std::uint64_t key = stream.key;
  std::vector<double> drawn;
  for (int i = 0; i < 101; ++i) drawn.push_back(uniform(stream));
  for (std::size_t i = drawn.size(); i-- > 0;) CHECK(uniform_at(key, i) == drawn[i]);
  stream.counter = std::uint64_t{1} << 40;
  stream.has_buffered = 0;
  CHECK(uniform_at(key, std::uint64_t{1} << 41) == uniform(stream));
}

TEST_CASE("sixteen draws are compared with bounds as one by one, in every way") {
  const std::uint64_t key = random_stream(11, "acceptance", 5).key;
  const double drawn = uniform_at(key, 21);  // neither below itself nor not below the next number
  const std::vector<double> bounds{
      0, 1, 0.5, 0.36, 0x1.0p-53, 1 - 0x1.0p-53, drawn, std::nextafter(drawn, 1.0), -1, 2};
  for (const std::uint64_t group : {0ULL, 1ULL, 12ULL, 1ULL << 30, (1ULL << 38) - 1}) {
    for (const DrawsBelow below : ways_of_draws_below()) {
      std::vector<std::uint16_t> bits(bounds.size());
      below(key, group, bounds, bits.data());
      for (std::size_t j = 0; j < bounds.size(); ++j) {
        for (std::uint64_t i = 0; i < 16; ++i)
          CHECK((bits[j] >> i & 1) == (uniform_at(key, 16 * group + i) < bounds[j]));
      }
    }
  }
}

TEST_CASE("streams of another seed, name or index are uncorrelated") {
  const RandomStream streams[] = {random_stream(1, "a"),    random_stream(1, "b"),
                                  random_stream(2, "a"),    random_stream(1, "a", 1),
                                  random_stream(1, "a", 2), random_stream(0, "")};
  constexpr int draws = 20000;
  for (const RandomStream& one : streams) {
    for (const RandomStream& other : streams) {
      if (one.key == other.key) continue;
      RandomStream x = one, y = other;
      double sum = 0;
      for (int i = 0; i < draws; ++i) sum += (uniform(x) - 0.5) * (uniform(y) - 0.5) * 12;
      CHECK(std::abs(sum / std::sqrt(double(draws))) < 4.5);  // standard deviations
    }
  }
}

TEST_CASE("drawing more from one stream changes nothing in another") {
  RandomStream first = random_stream(3, "lengths");
  RandomStream noise = random_stream(3, "arrivals");
  const double alone = uniform(first);
  for (int i = 0; i < 100; ++i) uniform(noise);
  RandomStream again = random_stream(3, "lengths");
  CHECK(uniform(again) == alone);
}

TEST_CASE("many indices of one name give many streams") {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 20000; ++i) keys.push_back(random_stream(5, "client", i).key);
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST_CASE("whole numbers are unbiased and reach both ends") {
  RandomStream stream = random_stream(11, "integers");
  std::vector<int> count(7);
  constexpr int draws = 70000;
  for (int i = 0; i < draws; ++i)
    ++count[static_cast<std::size_t>(uniform_integer(stream, -3, 3) + 3)];
  double chi = 0;
  for (const int c : count) chi += (c - draws / 7.0) * (c - draws / 7.0) / (draws / 7.0);
  CHECK(chi < 22.5);  // 6 degrees of freedom, p = 0.001
  CHECK(uniform_integer(stream, 5, 5) == 5);
  CHECK_NOTHROW(uniform_integer(stream, INT64_MIN, INT64_MAX));
  CHECK_THROWS_AS(uniform_integer(stream, 2, 1), Error);
}

TEST_CASE("a range of 3/4 of all 64-bit numbers is not folded onto its lower part") {
  // Taking bits modulo the range would hit the lowest third of this range half of the time.
  RandomStream stream = random_stream(12, "wide");
  const std::int64_t low = INT64_MIN, high = INT64_MIN / 2 * -1 - 1;
  int lowest = 0;
  for (int i = 0; i < 30000; ++i) lowest += uniform_integer(stream, low, high) < INT64_MIN / 2;
  CHECK(std::abs(lowest - 10000) < 4.5 * std::sqrt(30000 * 2.0 / 9));
}

TEST_CASE("an open uniform is never 0 or 1") {
  RandomStream stream = random_stream(13, "open");
  for (int i = 0; i < 100000; ++i) {
    const double u = uniform_open(stream);
    REQUIRE((u > 0 && u < 1));
  }
}

namespace {

/// Each distribution, and one draw of it that is made alone.
struct Alone {
  Distribution distribution;
  double (*draw)(RandomStream&, double, double);
};
const Alone each_alone[] = {
    {Distribution::uniform, uniform},
    {Distribution::exponential,
     [](RandomStream& stream, double mean, double) { return exponential(stream, mean); }},
    {Distribution::weibull, weibull},
    {Distribution::normal, normal},
    {Distribution::lognormal, lognormal},
    {Distribution::pareto, pareto}};

/// As scripts take it: a value that was made ahead, or the next one.
double taken(Draws& draws, Distribution distribution, double first, double second) {
  const bool is_ahead = draws.taken < draws.count &&
                        draws.distribution == static_cast<std::int32_t>(distribution) &&
                        draws.first == first && draws.second == second;
  return is_ahead ? draws.values[draws.taken++] : next_value(draws, distribution, first, second);
}

bool stands_as(const RandomStream& a, const RandomStream& b) {
  RandomStream next = a, other = b;
  return next_bits(next) == next_bits(other) && next_bits(next) == next_bits(other);
}

}  // namespace

TEST_CASE("values that are made ahead are those of single draws, whatever is asked in between") {
  std::mt19937 choices(5);
  const auto below = [&](std::uint32_t limit) { return choices() % limit; };
  Draws draws;
  draws.stream = random_stream(3, "ahead");
  RandomStream single = draws.stream;
  std::size_t asked = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto& [distribution, alone] = each_alone[below(std::size(each_alone))];
    const double first = 0.25 + 0.5 * below(3), second = first + 1 + below(2);
    for (std::uint32_t count = 1 + below(below(4) == 0 ? 150 : 6); count > 0; --count, ++asked)
      REQUIRE(taken(draws, distribution, first, second) == alone(single, first, second));
    switch (below(5)) {
      case 0:
        REQUIRE(gamma(stream_of(draws), 0.5, 2) == gamma(single, 0.5, 2));
        break;
      case 1:
        REQUIRE(uniform_integer(stream_of(draws), 1, 6) == uniform_integer(single, 1, 6));
        break;
      case 2: {
        Draws copy = draws;  // as a fork has it
        RandomStream as = single;
        for (int i = 0; i < 40; ++i)
          REQUIRE(taken(copy, distribution, first, second) == alone(as, first, second));
        break;
      }
      case 3:
        REQUIRE(stands_as(stream_of(draws), single));
        break;
    }
  }
  REQUIRE(asked > 30000);
}

TEST_CASE("a stream far ahead gives its values ahead as well") {
  Draws draws;
  draws.stream = random_stream(3, "far");
  draws.stream.counter = (std::uint64_t{1} << 32) - 9;  // words carry within the block
  RandomStream single = draws.stream;
  for (int i = 0; i < 100; ++i)
    REQUIRE(taken(draws, Distribution::normal, 2, 3) == normal(single, 2, 3));
}

TEST_CASE("a parameter outside its range takes no draw from the values ahead") {
  Draws draws;
  draws.stream = random_stream(3, "wrong");
  RandomStream single = draws.stream;
  for (int i = 0; i < 20; ++i)
    REQUIRE(taken(draws, Distribution::exponential, 2, 0) == exponential(single, 2));
  CHECK_THROWS_AS(next_value(draws, Distribution::exponential, -1, 0), Error);
  CHECK_THROWS_AS(next_value(draws, Distribution::none, 1, 1), Error);
  for (int i = 0; i < 20; ++i)
    REQUIRE(taken(draws, Distribution::exponential, 2, 0) == exponential(single, 2));
}

TEST_CASE("quantiles of a list are those of its values") {
  for (const std::size_t count : {0, 1, 2, 31, 1000}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(count));
    const std::vector<double> before = values;
    normal_quantiles(values);
    for (std::size_t i = 0; i < count; ++i) REQUIRE(values[i] == normal_quantile(before[i]));
  }
}
