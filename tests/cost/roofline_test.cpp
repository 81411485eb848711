#include "cost/price/roofline.h"

#include <limits>

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {
const Ceiling h20{148 * unit::TFLOP / unit::s, 4000 * unit::GB / unit::s};
}

TEST_CASE("148 TFLOP on 148 TFLOP/s take one second, and two at half the peak") {
  const Work work{148 * unit::TFLOP, 1 * unit::GB};
  CHECK(roofline(work, h20, 1.0).time == 1 * unit::s);
  CHECK(roofline(work, h20, 0.5).time == 2 * unit::s);
  CHECK(roofline(work, h20, 1.0).bound == Bound::compute);
}

TEST_CASE("4000 GB over 4000 GB/s take one second, whatever the MFU") {
  const Work work{1 * unit::TFLOP, 4000 * unit::GB};
  CHECK(roofline(work, h20, 1.0).time == 1 * unit::s);
  CHECK(roofline(work, h20, 0.1).time == 1 * unit::s);
  CHECK(roofline(work, h20, 1.0).bound == Bound::memory);
}

TEST_CASE("work without arithmetic is bound by memory and no work takes no time") {
  CHECK(roofline({0 * unit::flop, 4 * unit::GB}, h20, 1.0).bound == Bound::memory);
  CHECK(roofline({}, h20, 1.0).time == 0 * unit::s);
}

TEST_CASE("a utilisation outside (0, 1] or a peak that is not one is an error") {
  const Work work{1 * unit::TFLOP, 1 * unit::GB};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(roofline(work, h20, 0.0), Error);
  CHECK_THROWS_AS(roofline(work, h20, 1.146), Error);
  CHECK_THROWS_AS(roofline(work, h20, nan), Error);
  CHECK_THROWS_AS(roofline(work, {0 * unit::TFLOP / unit::s, h20.memory}, 1.0), Error);
  CHECK_THROWS_AS(roofline({-1 * unit::TFLOP, 1 * unit::GB}, h20, 1.0), Error);
  CHECK_THROWS_AS(roofline({nan * unit::TFLOP, 1 * unit::GB}, h20, 1.0), Error);
}
