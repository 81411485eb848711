#include "base/numbers/digits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rooflua {

std::string significant(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  std::string out = text;
  if (!std::isfinite(value) || out.find('e') == std::string::npos) return out;
  const double rounded = std::strtod(text, nullptr);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  std::snprintf(text, sizeof text, "%.*f", std::clamp(digits - 1 - magnitude, 0, 12), rounded);
  out = text;
  if (out.find('.') == std::string::npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

}  // namespace rooflua
