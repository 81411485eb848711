#include "cost/tables/lines.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rooflua {
namespace {

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
  return cell;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double powers_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// What stands before `end` or a comma: digits and at most one point after the first of them, 15
/// digits or fewer, as nearly every cell. Both parts of the quotient are exact, so that it is the
/// double nearest to the text. NaN for other text.
/// @param at  the first character; afterwards the comma or `end`
double short_number(const char*& at, const char* end) {
  const char* const first = at;
  const char* point = nullptr;
  std::uint64_t digits = 0;  // of a long text it wraps, and is not used
  bool is_short = true;
  for (; at != end && *at != ','; ++at) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit <= 9) {
      digits = 10 * digits + digit;
    } else {
      is_short = is_short && *at == '.' && point == nullptr && at != first;
      point = at;
    }
  }
  const auto count = at - first - (point != nullptr ? 1 : 0);
  if (!is_short || count == 0 || count > 15) return nan;
  const auto whole = static_cast<double>(digits);
  return point == nullptr ? whole : whole / powers_of_ten[at - point - 1];
}

void cut(std::string_view text, Line& line) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t count = 0;
  while (count < max_cells) {
    const char* const first = at;
    const double value = short_number(at, end);
    const std::string_view cell(first, static_cast<std::size_t>(at - first));
    line.values[count] = value;
    line.cells[count++] = std::isnan(value) ? trimmed(cell) : cell;
    if (at == end) break;
    ++at;
  }
  line.count = count;
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
  const char* at = text.data();
  double value = short_number(at, text.data() + text.size());
  if (!std::isnan(value) && at == text.data() + text.size()) return value;
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
