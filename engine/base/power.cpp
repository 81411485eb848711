#include "base/power.h"

#include <cmath>

namespace rooflua {

double power_of_ten(double exponent) {
  const volatile double base = 10;  // volatile: compilers must not know the value
  return std::pow(base, exponent);
}

}  // namespace rooflua
