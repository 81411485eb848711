// Numbers as people read them.

#include "base/numbers/digits.h"

#include <cmath>
#include <cstdlib>

#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("digits are kept, zeros at the end are not, and there is no exponent") {
  CHECK(significant(0, 4) == "0");
  CHECK(significant(12.30, 4) == "12.3");
  CHECK(significant(20180.4, 4) == "20180");
  CHECK(significant(311400, 4) == "311400");
  CHECK(significant(-0.00001234, 3) == "-0.0000123");
  CHECK(significant(1e-20, 4) == "0");
  CHECK(significant(-1e-20, 4) == "0");
  CHECK(significant(999999, 3) == "1000000");
  CHECK(significant(1e9, 6) == "1000000000");
}

TEST_CASE("over all magnitudes the text is the number to its digits") {
  for (int digits = 1; digits <= 9; ++digits) {
    for (int magnitude = -8; magnitude <= 20; ++magnitude) {
      for (const double mantissa : {1.0, 1.2345678912, 5.5, 9.9999999, -3.21}) {
        const double value = mantissa * std::pow(10.0, magnitude);
        const std::string text = significant(value, digits);
        INFO(value << " " << digits << " " << text);
        CHECK(text.find('e') == std::string::npos);
        // Below 1e-12 there is no decimal.
        const double allowed = std::abs(value) * 0.501 * std::pow(10.0, 1 - digits) + 0.5e-12;
        CHECK(std::abs(std::strtod(text.c_str(), nullptr) - value) <= allowed);
      }
    }
  }
}
