#include "measure/write/fitted.h"

#include <algorithm>
#include <vector>

#include "measure/write/table.h"

namespace rooflua {

namespace {

/// A line as its characters, so that a position counts what a terminal shows.
using Characters = std::vector<std::string_view>;

Characters characters(std::string_view line) {
  Characters out;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
    out.push_back(line.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string joined(const Characters& line, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < std::min(to, line.size()); ++i) out += line[i];
  out.erase(out.find_last_not_of(' ') + 1);
  return out.substr(std::min(out.size(), out.find_first_not_of(' ')));
}

bool is_blank(const Characters& line, std::size_t at) {
  return at >= line.size() || line[at] == " ";
}

bool is_rule(std::string_view line) {
  return line.size() > 1 && line.find_first_not_of("- ") == std::string_view::npos;
}

/// Whether the line may be a row: it has two spaces between words, or is a rule.
bool is_row(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  return is_rule(line) || line.find("  ", first) != std::string_view::npos;
}

struct Span {
  std::size_t from, to;
};

/// The columns of rows: what lies between gaps of two characters that are blank in every row.
std::vector<Span> columns_of(const std::vector<Characters>& rows, std::size_t across) {
  std::vector<bool> used(across, false);
  for (const Characters& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) used[i] = used[i] || !is_blank(row, i);
  }
  std::vector<Span> out;
  for (std::size_t i = 0; i < across; ++i) {
    if (!used[i]) continue;
    if (!out.empty() && i - out.back().to < 2) {
      out.back().to = i + 1;
    } else {
      out.push_back({i, i + 1});
    }
  }
  return out;
}

/// Columns of a table with the first of them that are left out last: a step's table without its
/// times says nothing.
constexpr std::string_view kept_longest[] = {"time us", "share"};

std::string name_of(const Characters& head, const Span& column) {
  return joined(head, column.from, column.to);
}

/// Which columns stay: the first, those of `kept_longest`, and from the left what still fits. A
/// column that does not fit ends a table, except where columns stay behind it anyway.
std::vector<bool> chosen(const Characters& head, const std::vector<Span>& columns,
                         std::size_t limit) {
  const auto wide = [&](std::size_t i) { return columns[i].to - (i == 0 ? 0 : columns[i - 1].to); };
  std::vector<bool> out(columns.size(), false);
  out[0] = true;
  std::size_t across = wide(0);
  bool any_behind = false;
  for (const std::string_view kept : kept_longest) {
    if (kept != kept_longest[0] && !any_behind) break;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (name_of(head, columns[i]) != kept || across + wide(i) > limit) continue;
      out[i] = any_behind = true;
      across += wide(i);
    }
  }
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (out[i]) continue;
    out[i] = across + wide(i) <= limit;
    if (out[i]) across += wide(i);
    if (!out[i] && !any_behind) break;
  }
  return out;
}

/// "(not shown: TPOT p99 ms, unsupported; --wide)", or their number where the names do not fit.
std::string missing_line(const Characters& head, const std::vector<Span>& columns,
                         const std::vector<bool>& kept, std::size_t limit,
                         std::string_view option) {
  std::string names;
  std::size_t count = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (kept[i]) continue;
    names += (names.empty() ? "" : ", ") + name_of(head, columns[i]);
    ++count;
  }
  std::string end = "; ";
  end.append(option).append(" shows all)\n");
  const std::string all = "(not shown: " + names + end;
  if (width(all) - 1 <= limit) return all;
  return "(" + std::to_string(count) + (count == 1 ? " column" : " columns") + " not shown" + end;
}

/// The lines of one table, or of something else that has two spaces in every line.
std::string fit(const std::vector<std::string_view>& lines, std::size_t limit,
                std::string_view option) {
  std::vector<Characters> rows, all;
  std::size_t across = 0;
  for (const std::string_view line : lines) {
    all.push_back(characters(line));
    across = std::max(across, all.back().size());
    if (!is_rule(line)) rows.push_back(all.back());
  }
  const std::vector<Span> columns = columns_of(rows, across);
  std::string out;
  const bool is_table = rows.size() >= 2 && columns.size() >= 3;
  if (!is_table || across <= limit) {
    for (const std::string_view line : lines) out.append(line).append("\n");
    return out;
  }
  const std::vector<bool> kept = chosen(rows.front(), columns, limit);
  for (const Characters& line : all) {
    std::string shown;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      if (!kept[column]) continue;
      const std::size_t from = column == 0 ? 0 : columns[column - 1].to;
      for (std::size_t i = from; i < columns[column].to; ++i)
        shown += i < line.size() ? line[i] : " ";
    }
    shown.erase(shown.find_last_not_of(' ') + 1);
    out += shown + "\n";
  }
  return out + missing_line(rows.front(), columns, kept, limit, option);
}

/// Calls `visit` for every line, without its line break.
template <class Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// Colour ------------------------------------------------------------------------------------------

constexpr std::string_view bold = "1", dim = "2", red = "1;31", green = "32", yellow = "33";

std::string in_colour(std::string_view colour, std::string_view text) {
  if (text.empty()) return "";
  return std::string("\x1b[").append(colour).append("m").append(text).append("\x1b[0m");
}

struct Coloured {
  std::string_view word, colour;
};
constexpr Coloured coloured_words[] = {
    {"measured", green}, {"interpolated", green}, {"extrapolated", yellow}, {"stand_in", yellow},
    {"assumed", yellow}, {"FAILED", red},         {"PARTIAL", red},         {"(partial)", red},
};

bool is_word_end(char c) {
  return c == ' ' || c == ',' || c == ':' || c == ';';
}

/// Colours words that stand between spaces. Kinds of evidence are coloured where they are a cell of
/// a table or the line tells shares, not in sentences.
std::string with_coloured_words(std::string_view line) {
  const bool shares = line.starts_with("evidence ") || line.starts_with("Time rests on: ");
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t start = line.find_first_not_of(' ', at);
    if (start == std::string_view::npos) break;
    std::size_t end = start;
    while (end < line.size() && !is_word_end(line[end])) ++end;
    const std::string_view word = line.substr(start, end - start);
    const bool cell = start >= at + 2 && (end == line.size() || line.substr(end, 2) == "  ");
    std::string_view colour;
    for (const Coloured& each : coloured_words) {
      if (each.word == word && (shares || cell || each.colour == red)) colour = each.colour;
    }
    out += line.substr(at, start - at);
    if (end == start) {
      out += line[end++];
    } else {
      out += colour.empty() ? std::string(word) : in_colour(colour, word);
    }
    at = end;
  }
  return out;
}

}  // namespace

std::string fitted(std::string_view text, int columns, std::string_view option) {
  if (columns <= 0) return std::string(text);
  const auto limit = static_cast<std::size_t>(columns);
  std::string out;
  std::vector<std::string_view> rows;
  const auto finish = [&] {
    if (!rows.empty()) out += fit(rows, limit, option);
    rows.clear();
  };
  each_line(text, [&](std::string_view line) {
    if (is_row(line)) return rows.push_back(line);
    finish();
    out.append(line).append("\n");
  });
  finish();
  if (!text.empty() && !text.ends_with('\n')) out.pop_back();
  return out;
}

std::string painted(std::string_view text) {
  std::vector<std::string_view> lines;
  each_line(text, [&](std::string_view line) { lines.push_back(line); });
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool head = i + 1 < lines.size() && is_rule(lines[i + 1]) && is_row(lines[i]) &&
                      (i == 0 || !is_row(lines[i - 1]));
    const bool title = i == 0 && (lines.size() == 1 || lines[1].empty());
    if (head || title) {
      out += in_colour(bold, lines[i]);
    } else {
      out += is_rule(lines[i]) ? in_colour(dim, lines[i]) : with_coloured_words(lines[i]);
    }
    out += '\n';
  }
  if (!text.empty() && !text.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace rooflua
