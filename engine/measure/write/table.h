#pragma once
// Columns of text that line up, and numbers as people read them: the edge where human units begin.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// Rows of cells. The first column is aligned left, the others right; columns are two spaces apart.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// A line across, under the header.
  void rule() { rows_.push_back({}); }
  /// Aligns this column left, too.
  void left(std::size_t column) { left_.push_back(column); }
  /// Every line begins with `indent` spaces and ends with a line break, without trailing spaces.
  std::string text(int indent = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_{0};
};

/// Characters a terminal shows for UTF-8 text.
std::size_t width(std::string_view text);
/// Right-aligned to that width.
std::string padded(std::string_view text, std::size_t columns);

/// 1234567 -> "1,234,567"
std::string grouped(std::int64_t number);
/// Four significant digits without exponent: 0.01235, 12.50, 1235, 123456; "0"; "-" if it is not
/// a number.
std::string figure(double number);
/// The same with a unit that fits: "12.35 ms", "1.500 s", "3.200 us".
std::string duration(double time_s);
/// 0.1234 -> "12.3 %"; what is neither 0 nor 1 never looks like it: "<0.1 %", ">99.9 %"
std::string percent(double share);
/// With a decimal prefix: scaled(3.35e12, "B/s") is "3.350 TB/s"; from 1000 on.
std::string scaled(double number, std::string_view unit);

/// A unit of time for a column: "us", "ms" or "s", by its largest value, and how many of them a
/// second has.
struct TimeUnit {
  const char* name;
  double per_s;
};
TimeUnit time_unit(double largest_s);

}  // namespace rooflua
