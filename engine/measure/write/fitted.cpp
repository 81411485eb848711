#include "measure/write/fitted.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "measure/record/metrics.h"
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

/// Columns of runs that are left out before all others, the least useful first; and those that are
/// left out last.
constexpr std::string_view least_useful[] = {"preempted", "E2E mean", "unsupported", "TPOT p50",
                                             "tokens/s",  "tok/s",    "TTFT p50"};
constexpr std::string_view most_useful[] = {"failed",   "completed",  "TPOT p99",
                                            "TTFT p99", "requests/s", "req/s"};
constexpr std::string_view goodput = "goodput/s";

/// "TTFT p50" of "TTFT p50 ms"
std::string without_unit(const std::string& name) {
  for (const std::string_view unit : {" us", " ms", " s"}) {
    if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  }
  return name;
}

/// Labels of the metrics of the program. The scenario's own metrics have other names, which have no
/// space; so of a table of variants only `least_useful` and `most_useful` are labels of one word.
const std::set<std::string, std::less<>>& labels(bool of_variants) {
  static const auto known = [](bool with_words) {
    std::set<std::string, std::less<>> out(std::begin(least_useful), std::end(least_useful));
    out.insert(std::begin(most_useful), std::end(most_useful));
    const auto add = [&](const auto& metrics) {
      for (const auto& metric : metrics) {
        if (with_words) out.emplace(metric.label);
        for (const Figure& figure : statistic_figures)
          out.insert(std::string(metric.label) + " " + std::string(figure.name));
      }
    };
    add(run_metrics());
    add(group_metrics());
    add(replica_metrics());
    out.erase(std::string(goodput));
    return out;
  };
  static const auto words = known(true), phrases = known(false);
  return of_variants ? phrases : words;
}

/// Whether each column is a metric of the program other than the goodput. A name that stands twice
/// is a label where it stands first: own metrics come last.
std::vector<bool> labelled(const Characters& head, const std::vector<Span>& columns) {
  const auto& known = labels(name_of(head, columns.front()) == "variant");
  std::set<std::string> seen;
  std::vector<bool> out;
  for (const Span& column : columns) {
    const std::string name = without_unit(name_of(head, column));
    out.push_back(!out.empty() && known.contains(name) && seen.insert(name).second);
  }
  return out;
}

/// Whether the columns are metrics of runs. A table of variants may have the scenario's own, too.
bool is_of_runs(const Characters& head, const std::vector<Span>& columns) {
  const std::string first = name_of(head, columns.front());
  return first == "variant" || first == "class" || first == "replica";
}

/// Which columns of runs stay. The first, the goodput, the scenario's own metrics and those that it
/// names always do.
std::vector<bool> chosen_of_runs(const Characters& head, const std::vector<Span>& columns,
                                 std::size_t limit, const NamedColumns&) {
  const std::vector<bool> may_be_left_out = labelled(head, columns);
  std::vector<std::string> names;
  for (const Span& each : columns) names.push_back(without_unit(name_of(head, each)));
  std::vector<bool> out(columns.size(), true);
  std::size_t across = columns.back().to;
  const auto drop = [&](auto may_go) {
    for (std::size_t i = columns.size(); i-- > 1 && across > limit;) {
      if (!out[i] || !may_be_left_out[i] || !may_go(names[i])) continue;
      out[i] = false;
      across -= columns[i].to - columns[i - 1].to;
    }
  };
  const auto is = [](std::string_view one) {
    return [one](const std::string& name) { return name == one; };
  };
  for (const std::string_view each : least_useful) drop(is(each));
  drop([](const std::string& name) {
    return std::find(std::begin(most_useful), std::end(most_useful), name) == std::end(most_useful);
  });
  for (const std::string_view each : most_useful) drop(is(each));
  return out;
}

/// Which columns stay of another table: the first, the named ones, those of `kept_longest`, and from
/// the left what still fits. A column that does not fit ends a table, except where columns stay
/// after it anyway. A column without a name belongs to the one before it.
std::vector<bool> chosen(const Characters& head, const std::vector<Span>& columns,
                         std::size_t limit, const NamedColumns& named) {
  const auto wide = [&](std::size_t i) { return columns[i].to - (i == 0 ? 0 : columns[i - 1].to); };
  std::vector<bool> out(columns.size(), false);
  out[0] = true;
  std::size_t across = wide(0);
  bool any_behind = false;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const std::string name = name_of(head, columns[i]);
    out[i] = named.contains(name) || (name.empty() && i > 1 && out[i - 1]);
    any_behind = any_behind || out[i];
    if (out[i]) across += wide(i);
  }
  for (const std::string_view kept : kept_longest) {
    if (kept != kept_longest[0] && !any_behind) break;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      if (out[i] || name_of(head, columns[i]) != kept || across + wide(i) > limit) continue;
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
                std::string_view option, const NamedColumns& named) {
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
  const auto choose = is_of_runs(rows.front(), columns) ? chosen_of_runs : chosen;
  const std::vector<bool> kept = choose(rows.front(), columns, limit, named);
  if (std::find(kept.begin(), kept.end(), false) == kept.end()) {
    for (const std::string_view line : lines) out.append(line).append("\n");
    return out;
  }
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

std::string fitted(std::string_view text, int columns, std::string_view option,
                   const NamedColumns& named) {
  if (columns <= 0) return std::string(text);
  const auto limit = static_cast<std::size_t>(columns);
  std::string out;
  std::vector<std::string_view> rows;
  const auto finish = [&] {
    if (!rows.empty()) out += fit(rows, limit, option, named);
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
