#include "cost/tables/lines.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace rooflua {
namespace {

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
  return cell;
}

void cut(std::string_view text, Line& line) {
  line.count = 0;
  while (line.count < max_cells) {
    const std::size_t comma = text.find(',');
    line.cells[line.count++] = trimmed(text.substr(0, comma));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

constexpr double powers_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Digits and at most one point, 15 digits or fewer: what nearly every cell is. Both parts of the
/// quotient are exact, so that it is the double nearest to the text.
std::optional<double> short_number(std::string_view text) {
  if (text.size() > 16) return std::nullopt;
  std::int64_t digits = 0;
  std::size_t count = 0, behind = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned digit = static_cast<unsigned>(text[i] - '0');
    if (digit <= 9) {
      digits = 10 * digits + digit;
      ++count;
    } else if (text[i] == '.' && behind == text.size() && i > 0) {
      behind = i + 1;
    } else {
      return std::nullopt;
    }
  }
  const std::size_t decimals = text.size() - behind;
  if (count == 0 || count > 15) return std::nullopt;
  return static_cast<double>(digits) / powers_of_ten[decimals];
}

}  // namespace

LineReader::LineReader(std::string_view text) : rest_(text) {
  if (rest_.substr(0, 3) == "\xEF\xBB\xBF") rest_.remove_prefix(3);
}

bool LineReader::next(Line& line) {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    line.number = number_;
    cut(text, line);
    return true;
  }
  return false;
}

std::optional<double> as_number(std::string_view text) {
  if (const auto number = short_number(text)) return number;
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  // Nothing was measured as that; products of such numbers are 0 or infinite.
  constexpr double least = 1e-100, most = 1e100;
  if (value != 0 && !(std::abs(value) >= least && std::abs(value) <= most)) return std::nullopt;
  return value;
}

}  // namespace rooflua
