#pragma once
// The clock of the simulator counts whole picoseconds: sums do not depend on their order, so that
// any regrouping of the same steps gives the same bytes, and equal times are equal. 2^63 ps are
// 106 days.

#include <algorithm>
#include <cstdint>
#include <limits>

namespace rooflua {

using Picoseconds = std::int64_t;

inline constexpr Picoseconds never = std::numeric_limits<Picoseconds>::max();

/// The latest moment, in seconds, that a request or a parameter may name. The clock ends a little
/// later.
inline constexpr double latest_s = 9.2e6;

constexpr double seconds(Picoseconds time) {
  return static_cast<double>(time) / 1e12;
}

/// llround(time_s * 1e12).
/// @throws Error at `where` if time_s is negative, not finite, or past 2^63 ps
Picoseconds picoseconds(double time_s, const char* where);

/// llround of a number from 0 to below 2^63, without a call into the mathematical library. The
/// difference of a double and its whole part is exact.
inline Picoseconds nearest(double ps) {
  const auto whole = static_cast<Picoseconds>(ps);
  return whole + (ps - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

/// after() where one of its numbers is large, or wrong.
Picoseconds long_after(Picoseconds start, double time_s, const char* where);

/// The moment one step after `start`: the step lasts max(1, llround(time_s * 1e12)) ps.
/// @throws Error at `where` if time_s is negative or not finite, or the clock would pass 2^63 ps
inline Picoseconds after(Picoseconds start, double time_s, const char* where) {
  constexpr Picoseconds large = never / 4;
  const double ps = time_s * 1e12;
  if (!(time_s >= 0 && ps < static_cast<double>(large) && start < large)) [[unlikely]]
    return long_after(start, time_s, where);
  return start + std::max<Picoseconds>(1, nearest(ps));
}

}  // namespace rooflua
