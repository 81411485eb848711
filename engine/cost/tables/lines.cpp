#include "cost/tables/lines.h"

#include <charconv>
#include <cmath>

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
