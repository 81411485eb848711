#include "base/units.h"

#include <concepts>

#include "tests/catch.h"

using namespace rooflua;

namespace {

template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept comparable = requires(A a, B b) {
  a < b;
};

}  // namespace

TEST_CASE("a wrong dimension does not compile") {
  STATIC_REQUIRE(addable<Seconds, Seconds>);
  STATIC_REQUIRE_FALSE(addable<Seconds, Bytes>);
  STATIC_REQUIRE_FALSE(addable<Flop, FlopPerSecond>);
  STATIC_REQUIRE_FALSE(addable<Seconds, double>);
  STATIC_REQUIRE(comparable<Bytes, Bytes>);
  STATIC_REQUIRE_FALSE(comparable<Bytes, Tokens>);
  STATIC_REQUIRE_FALSE(std::convertible_to<double, Seconds>);
  STATIC_REQUIRE_FALSE(std::convertible_to<Seconds, double>);
  STATIC_REQUIRE_FALSE(std::convertible_to<Bytes, Flop>);
}

TEST_CASE("quotients and products have the dimension they should") {
  STATIC_REQUIRE(std::same_as<decltype(Flop(1) / FlopPerSecond(1)), Seconds>);
  STATIC_REQUIRE(std::same_as<decltype(Bytes(1) / Seconds(1)), BytesPerSecond>);
  STATIC_REQUIRE(std::same_as<decltype(BytesPerToken(1) * Tokens(1)), Bytes>);
  STATIC_REQUIRE(std::same_as<decltype(Seconds(1) / Seconds(1)), double>);
  STATIC_REQUIRE(std::same_as<decltype(1.0 / Seconds(2) * Bytes(1)), BytesPerSecond>);
}

TEST_CASE("148 TFLOP on 148 TFLOP/s takes one second") {
  const Flop work = 148 * unit::TFLOP;
  const FlopPerSecond speed = 148 * unit::TFLOP / unit::s;
  CHECK(work / speed == 1.0 * unit::s);
  CHECK(work / speed / unit::ms == 1000.0);
}

TEST_CASE("a GB is 1e9 bytes and a GiB 2^30") {
  CHECK(unit::GB.in_base_units() == 1e9);
  CHECK(unit::GiB.in_base_units() == 1073741824.0);
  CHECK(1024 * unit::MiB == unit::GiB);
}
