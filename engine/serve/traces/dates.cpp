#include "serve/traces/dates.h"

namespace rooflua {

namespace {

/// Days since 1970-01-01. @source H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"
std::int64_t days_from_civil(std::int64_t y, std::int64_t m, std::int64_t d) {
  y -= m <= 2;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year = y - era * 400;
  const std::int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

std::int64_t days_of_month(std::int64_t year, std::int64_t month) {
  const auto next =
      month == 12 ? days_from_civil(year + 1, 1, 1) : days_from_civil(year, month + 1, 1);
  return next - days_from_civil(year, month, 1);
}

}  // namespace

std::optional<std::int64_t> parse_date_ns(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.ends_with("+00:00")) text.remove_suffix(6);
  constexpr std::string_view form = "dddd-dd-dd dd:dd:dd";
  if (text.size() < form.size()) return std::nullopt;
  std::int64_t part[6] = {};
  int index = 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i] && !(form[i] == ' ' && text[i] == 'T')) {
      return std::nullopt;
    }
    if (digit)
      part[index] = part[index] * 10 + (text[i] - '0');
    else
      ++index;
  }
  const auto [year, month, day, hour, minute, second] = part;
  if (year < 1970 || year > 2200 || month < 1 || month > 12) return std::nullopt;
  if (day < 1 || day > days_of_month(year, month)) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  std::int64_t ns = 0, unit = 1'000'000'000;
  for (std::size_t i = form.size(); i < text.size(); ++i) {
    if (i == form.size() ? text[i] != '.' : text[i] < '0' || text[i] > '9') return std::nullopt;
    if (i == form.size()) continue;
    unit /= 10;
    ns += unit * (text[i] - '0');
  }
  const std::int64_t seconds =
      days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return seconds * 1'000'000'000 + ns;
}

bool looks_like_date(std::string_view text) {
  return text.size() > 4 && text[4] == '-';
}

}  // namespace rooflua
