#include "serve/traces/time_unit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers/digits.h"

namespace rooflua {

namespace {

constexpr std::array<StampUnit, 4> units = {{{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}};

constexpr double longest_gap = 20;   // in the unit that the mean gap shows
constexpr double longest_gap_of_fractions = 100;
constexpr double longest_documented_gap = 1e4;
constexpr double most_rate_per_s = 500, least_rate_per_s = 1e-3;
constexpr std::int64_t fewest_rows = 10;

std::string number(double value) {
  return significant(value, 3);
}

std::string rate(const Stamps& stamps, double units_per_s) {
  return number(units_per_s / stamps.mean_gap()) + " requests/s";
}

ToldUnit by_gap(const Stamps& stamps) {
  const double gap = stamps.mean_gap();
  for (const StampUnit& unit : units) {
    if (gap < longest_gap * unit.per_s || &unit == &units.back())
      return {unit, "the mean gap of its stamps is " + number(gap)};
  }
  return {units.front(), ""};
}

}  // namespace

void Stamps::add(double stamp) {
  least = count == 0 ? stamp : std::min(least, stamp);
  most = count == 0 ? stamp : std::max(most, stamp);
  ++count;
  if (stamp != std::floor(stamp)) ++fractions;
}

double Stamps::mean_gap() const {
  return count < 2 ? 0 : (most - least) / static_cast<double>(count - 1);
}

StampUnit time_unit(std::string_view name, const std::string& where) {
  std::vector<std::string> known;
  for (const StampUnit& unit : units) {
    if (unit.name == name) return unit;
    known.emplace_back(unit.name);
  }
  throw Error(where, unknown_name("unit of time", name, known));
}

ToldUnit told_unit(const Stamps& stamps, bool documented_s) {
  if (stamps.least >= unix_time_s) {
    for (const StampUnit& unit : units) {
      if (stamps.most < farthest_s * unit.per_s)
        return {unit, "its stamps are Unix times in that unit"};
    }
  }
  const double gap = stamps.mean_gap();
  if (documented_s && gap < longest_documented_gap)
    return {units.front(), "the source of the format documents seconds"};
  if (stamps.fractions > 0 && gap < longest_gap_of_fractions) {
    return {units.front(),
            "some of its stamps have fractions, and their mean gap is " + number(gap)};
  }
  return by_gap(stamps);
}

std::string note_on_told(const std::string& file, const Stamps& stamps, const ToldUnit& told) {
  if (stamps.mean_gap() == 0) return "";
  const StampUnit& other = told.unit.name == "s" ? units[1] : units.front();
  return file + ": the column of arrivals does not name its unit; it is read as " +
         std::string(told.unit.name) + ", because " + told.why + ": " +
         rate(stamps, told.unit.per_s) + "; workload.time_unit states another (" +
         std::string(other.name) + " would be " + rate(stamps, other.per_s) + ")";
}

std::string note_on_stated(const std::string& file, const Stamps& stamps, double units_per_s) {
  const double gap = stamps.mean_gap();
  if (gap == 0 || stamps.count < fewest_rows) return "";
  const double per_s = units_per_s / gap;
  const bool fast = per_s > most_rate_per_s && units_per_s > 1;
  const bool slow = per_s < least_rate_per_s && units_per_s < 1e9;
  if (!fast && !slow) return "";
  return file + ": its arrivals are " + rate(stamps, units_per_s) +
         " in the unit that is stated, " + number(1 / units_per_s) +
         " s: a wrong unit may be the reason";
}

}  // namespace rooflua
