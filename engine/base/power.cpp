#include "base/power.h"

#include <cmath>

namespace rooflua {

double power_of_ten(double exponent) {
  const volatile double base = 10;  // a number that no compiler knows
  return std::pow(base, exponent);
}

}  // namespace rooflua
