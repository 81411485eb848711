#pragma once
// The unit of a trace's arrivals, where neither the caller nor the name of the column states it.
// Used by builder.cpp only.
//
// It is inferred from the stamps alone, never from which other columns there are: public traces
// have the same columns in seconds and in milliseconds. In this order:
//
//     Unix times     every stamp is 1e9 or more: the unit in which the last is before the year 5138
//     fractions      some stamp has one, and the mean gap is below 100: seconds
//     mean gap       below 20: s; below 2e4: ms; below 2e7: us; else ns. So the trace has 0.05
//                    to 50 requests/s, and in seconds perhaps more
//
// A format whose source documents seconds (BurstGPT) is in seconds unless the mean gap is 1e4 or
// more. What was inferred is a note of the trace, with the rate that follows.

#include <cstdint>
#include <string>
#include <string_view>

namespace rooflua {

inline constexpr double unix_time_s = 1e9;  // 2001; larger arrivals are dates
inline constexpr double farthest_s = 1e11;  // the year 5138; larger arrivals are in milliseconds

/// What the stamps of a trace are, in their own unit.
struct Stamps {
  std::int64_t count = 0;
  double least = 0, most = 0;
  std::int64_t fractions = 0;  // stamps that are not whole
  void add(double stamp);
  /// Mean gap between neighbours; 0 where all stamps are equal.
  double mean_gap() const;
};

struct StampUnit {
  std::string_view name;  // "s", "ms", "us" or "ns"
  double per_s = 1;       // units in a second
};

/// @throws Error at `where` that names the known ones
StampUnit time_unit(std::string_view name, const std::string& where);

struct ToldUnit {
  StampUnit unit;
  std::string why;  // "its mean gap is 1.5 and some stamps have fractions"
};

/// @param documented_s  whether the source of the format documents seconds
ToldUnit told_unit(const Stamps& stamps, bool documented_s);

/// The note on a unit that was inferred; "" where the stamps are all equal, so that it has no
/// effect.
std::string note_on_told(const std::string& file, const Stamps& stamps, const ToldUnit& told);

/// The note on a unit that was stated and gives a rate that is rarely one: more than 500 requests/s
/// in a unit below the second, or fewer than one in 1,000 s; "" where the rate is usual or the
/// trace has less than 10 rows.
std::string note_on_stated(const std::string& file, const Stamps& stamps, double units_per_s);

}  // namespace rooflua
