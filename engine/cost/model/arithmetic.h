#pragma once
// Rounding and overlapping, written so that loops over them become vectors and no library function
// is called.

#include <cmath>

namespace rooflua::modelled {

/// ceil of a number that is not negative. Plain x86-64 has no instruction for it: adding 2^52 and
/// taking it away again rounds to a whole number; from there on numbers are whole.
inline double whole_above(double x) {
  constexpr double two_52 = 4503599627370496.0;
  const double far = x < two_52 ? two_52 : 0;
  const double near = x + far - far;
  return near + (near < x ? 1.0 : 0.0);
}

/// floor of a number that is not negative.
inline double whole_below(double x) {
  const double above = whole_above(x);
  return above - (above > x ? 1.0 : 0.0);
}

inline double fourth_power(double x) {
  return (x * x) * (x * x);
}
inline double fourth_root(double x) {
  return std::sqrt(std::sqrt(x));
}

/// Arithmetic and traffic overlap, but not perfectly where they are equal: the fourth root of the
/// sum of their fourth powers.
inline double overlapped(double a, double b) {
  return fourth_root(fourth_power(a) + fourth_power(b));
}

/// k of a GEMM in steps of 64.
inline double steps_of(double k) {
  return whole_above(k / 64) * 64;
}

}  // namespace rooflua::modelled
