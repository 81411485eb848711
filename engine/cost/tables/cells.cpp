#include "cost/tables/cells.h"

#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/gzip.h"
#include "cost/tables/lines.h"

namespace rooflua {

Cells::Cells(const std::filesystem::path& path) : text_(read_text(path)) {
  LineReader reader(text_);
  Line line;
  if (!reader.next(line)) throw Error(path.string(), "the table is empty");
  const auto width = static_cast<std::ptrdiff_t>(line.count);
  header_.assign(line.cells.begin(), line.cells.begin() + width);
  header_line_ = line.number;
  while (reader.next(line)) {
    if (line.count < header_.size()) {
      short_row_ = {line.number, line.count};
      return;
    }
    lines_.push_back(line.number);
    cells_.insert(cells_.end(), line.cells.begin(), line.cells.begin() + width);
  }
}

std::vector<double> Cells::numbers(std::size_t column) const {
  std::vector<double> numbers(lines_.size());
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    numbers[row] = as_number(cell(row, column)).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return numbers;
}

WordsOfColumn Cells::words(std::size_t column) const {
  WordsOfColumn words;
  words.codes.resize(lines_.size());
  std::unordered_map<std::string_view, std::int32_t> code_of;
  std::int32_t code = -1;
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    const std::string_view text = cell(row, column);
    const bool again = code >= 0 && words.texts[static_cast<std::size_t>(code)] == text;
    if (!again) {
      const auto next = static_cast<std::int32_t>(words.texts.size());
      const auto [found, is_new] = code_of.try_emplace(text, next);
      if (is_new) words.texts.push_back(text);
      code = found->second;
    }
    words.codes[row] = code;
  }
  return words;
}

std::vector<std::string> column_names(const std::filesystem::path& path) {
  constexpr std::size_t a_line = 4096;
  const std::string start = read_text_start(path, a_line);
  LineReader reader(start);
  Line line;
  if (!reader.next(line)) return {};
  return {line.cells.begin(), line.cells.begin() + static_cast<std::ptrdiff_t>(line.count)};
}

}  // namespace rooflua
