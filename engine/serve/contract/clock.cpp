#include "serve/contract/clock.h"

#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace rooflua {

namespace {

std::string shown(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

[[noreturn, gnu::cold]] void refuse(double time_s, const char* where) {
  if (!std::isfinite(time_s) || time_s < 0)
    throw Error(where, "found " + shown(time_s) + " s; a time is finite and not negative");
  throw Error(where, "found " + shown(time_s) + " s; the clock ends at 2^63 ps, about 106 days");
}

}  // namespace

Picoseconds picoseconds(double time_s, const char* where) {
  const double ps = time_s * 1e12;
  if (!(time_s >= 0 && ps < 9.2233720368547e18)) refuse(time_s, where);
  return nearest(ps);
}

Picoseconds long_after(Picoseconds start, double time_s, const char* where) {
  const Picoseconds duration = std::max<Picoseconds>(1, picoseconds(time_s, where));
  if (duration >= never - start)
    throw Error(where, "a time of " + shown(time_s) + " s from " + shown(seconds(start)) +
                           " s passes the end of the clock, 2^63 ps (about 106 days)");
  return start + duration;
}

}  // namespace rooflua
