#include "measure/html/chart/scale.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/power.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr double most = 1e100;    // beyond, differences and powers of ten overflow
constexpr double most_nines = 6;  // where a percentile axis without bounds ends: p99.9999

/// 1, 2 or 5 times a power of ten, so that `span` holds about `wanted` of them.
struct Step {
  int mantissa, exponent;
  double size() const { return mantissa * power_of_ten(exponent); }
};

Step nice_step(double span, int wanted) {
  const double rough = span / std::max(wanted, 1);
  Step step{1, static_cast<int>(std::floor(std::log10(rough)))};
  for (const int mantissa : {1, 2, 5}) {
    step.mantissa = mantissa;
    if (step.size() >= rough * 0.999) return step;
  }
  return {1, step.exponent + 1};
}

double multiple(std::int64_t count, Step step) {
  const double whole = static_cast<double>(count) * step.mantissa;
  return step.exponent >= 0 ? whole * power_of_ten(step.exponent)
                            : whole / power_of_ten(-step.exponent);
}

}  // namespace

std::string tick_text(double number, int decimals) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, number == 0 ? 0.0 : number,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  const std::string plain(text, end);
  if (std::abs(number) < 10000 || std::abs(number) > 1e15) return plain;
  const std::size_t point = std::min(plain.find('.'), plain.size());
  return grouped(static_cast<std::int64_t>(number)) + plain.substr(point);
}

std::string short_text(double number) {
  for (int decimals = 0; decimals < 9; ++decimals) {
    const double scale = power_of_ten(decimals);
    if (std::abs(std::round(number * scale) / scale - number) <= 1e-9 * std::abs(number))
      return tick_text(number, decimals);
  }
  return figure(number);
}

Scale::Scale(const Axis& axis, double lowest, double highest, double from, double to)
    : kind_(axis.kind), wanted_ticks_(axis.ticks), from_(from), to_(to) {
  const bool empty = !(lowest <= highest);
  const auto bound = [](const std::optional<double>& given, double otherwise) {
    return given && std::abs(*given) <= most ? *given : otherwise;
  };
  low_ = bound(axis.min, empty ? 1 : lowest);
  high_ = bound(axis.max, empty ? 2 : highest);
  for (double* end : {&low_, &high_}) {
    if (std::abs(*end) < 1 / most) *end = 0;
  }
  if (kind_ == Axis::Kind::linear) {
    if (!axis.min && low_ > 0) low_ = 0;
    if (!(high_ > low_)) high_ = low_ + (low_ == 0 ? 1 : std::abs(low_));
    if (!axis.max) {  // up to a round number
      const Step step = nice_step(high_ - low_, 5);
      high_ = multiple(static_cast<std::int64_t>(std::ceil(high_ / step.size() - 1e-9)), step);
    }
  } else if (kind_ == Axis::Kind::log) {
    if (!(low_ > 0)) low_ = lowest > 0 ? lowest : high_ > 0 ? high_ / 1000 : 1;
    if (!(high_ > low_)) {  // one value: an octave around it
      high_ = low_ * std::sqrt(2);
      low_ /= std::sqrt(2);
    }
  } else {
    low_ = std::clamp(bound(axis.min, 0), 0.0, 0.5);
    high_ = std::min(high_, 1 - power_of_ten(-most_nines));
    if (!(high_ > low_)) high_ = 0.99;
  }
}

double Scale::placed(double value) const {
  if (kind_ == Axis::Kind::log) return std::log10(value);
  if (kind_ == Axis::Kind::percentile) return -std::log10(1 - std::min(value, high_));
  return value;
}

bool Scale::has_place(Axis::Kind kind, double value) {
  if (!(std::abs(value) <= most)) return false;
  if (kind == Axis::Kind::log) return value >= 1 / most;
  return kind != Axis::Kind::percentile || (value >= 0 && value <= 1);
}

double Scale::operator()(double value) const {
  return from_ + (to_ - from_) * (placed(value) - placed(low_)) / (placed(high_) - placed(low_));
}

double Scale::at(double pixel) const {
  const double place =
      placed(low_) + (pixel - from_) / (to_ - from_) * (placed(high_) - placed(low_));
  if (kind_ == Axis::Kind::log) return power_of_ten(place);
  if (kind_ == Axis::Kind::percentile) return 1 - power_of_ten(-place);
  return place;
}

std::vector<Tick> Scale::linear_ticks(int wanted) const {
  const Step step = nice_step(high_ - low_, wanted);
  std::vector<Tick> out;
  const auto first = static_cast<std::int64_t>(std::ceil(low_ / step.size() - 1e-9));
  for (std::int64_t i = first; multiple(i, step) <= high_ + 1e-9 * step.size(); ++i) {
    out.push_back({multiple(i, step), tick_text(multiple(i, step), std::max(0, -step.exponent))});
  }
  return out;
}

/// Decades; 1, 2, 5 of each where there are few; every nth decade where there are many.
std::vector<Tick> Scale::log_ticks(int wanted) const {
  const double decades = std::log10(high_ / low_);
  if (decades < 0.6) return linear_ticks(wanted);
  const bool fine = decades < wanted * 0.45, middle = decades < wanted * 0.8;
  const int every = std::max(1, static_cast<int>(std::ceil(decades / wanted)));
  std::vector<Tick> out;
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const int mantissa : {1, 2, 3, 5}) {
      const double value = multiple(1, {mantissa, exponent});
      if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
      const bool shown = mantissa == 1   ? exponent % every == 0
                         : mantissa == 3 ? middle && !fine
                                         : fine;
      if (!shown && (mantissa != 1 || every > 1)) continue;
      out.push_back({value, tick_text(value, std::max(0, -exponent)), shown});
    }
  }
  return out;
}

std::vector<Tick> Scale::percentile_ticks() const {
  static constexpr std::pair<double, const char*> known[] = {
      {0.0, "min"},       {0.5, "p50"},         {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"},
      {0.9999, "p99.99"}, {0.99999, "p99.999"}, {0.75, ""},   {0.95, ""}};
  std::vector<Tick> out;
  for (const auto& [value, text] : known) {
    if (value >= low_ && value <= high_) out.push_back({value, text, *text != '\0'});
  }
  return out;
}

std::vector<Tick> Scale::ticks(int wanted) const {
  if (!wanted_ticks_.empty()) {
    std::vector<Tick> out;
    for (const double value : wanted_ticks_) out.push_back({value, short_text(value)});
    return out;
  }
  if (kind_ == Axis::Kind::log) return log_ticks(wanted);
  return kind_ == Axis::Kind::percentile ? percentile_ticks() : linear_ticks(wanted);
}

}  // namespace rooflua
