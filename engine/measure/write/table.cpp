#include "measure/write/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/printable.h"

namespace rooflua {

namespace {

constexpr int digits = 4;

std::string fixed(double number, int decimals) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return text;
}

}  // namespace

std::size_t width(std::string_view text) {
  std::size_t out = 0;
  for (const char c : text) out += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return out;
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t wide = width(text);
  return std::string(columns > wide ? columns - wide : 0, ' ').append(text);
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::size_t across = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const std::size_t w : widths) across += w;
  std::string out;
  for (const auto& row : rows) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    if (row.empty()) line.append(across, '-');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = std::find(left_.begin(), left_.end(), i) != left_.end();
      if (i > 0) line += "  ";
      line +=
          left ? row[i] + std::string(widths[i] - width(row[i]), ' ') : padded(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string grouped(std::int64_t number) {
  std::string out = std::to_string(number);
  const std::int64_t first = number < 0 ? 1 : 0;
  for (auto i = static_cast<std::int64_t>(out.size()) - 3; i > first; i -= 3) {
    out.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return out;
}

std::string figure(double number) {
  if (!std::isfinite(number)) return "-";
  if (number == 0) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(number))));
  return fixed(number, std::clamp(digits - 1 - magnitude, 0, 12));
}

TimeUnit time_unit(double largest_s) {
  if (largest_s >= 10) return {"s", 1};
  if (largest_s >= 1e-3) return {"ms", 1e3};
  return {"us", 1e6};
}

std::string duration(double time_s) {
  if (!std::isfinite(time_s)) return "-";
  const TimeUnit unit = time_unit(std::abs(time_s) >= 1 ? 10 : std::abs(time_s));
  return figure(time_s * unit.per_s) + " " + unit.name;
}

std::string percent(double share) {
  if (!std::isfinite(share)) return "-";
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 && share > 0.9995) return ">99.9 %";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

std::string scaled(double number, std::string_view unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t i = 0;
  while (std::abs(number) >= 999.95 && i + 1 < std::size(prefixes)) {
    number /= 1000;
    ++i;
  }
  return figure(number) + " " + prefixes[i] + std::string(unit);
}

}  // namespace rooflua
