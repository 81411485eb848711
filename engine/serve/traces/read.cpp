#include "serve/traces/read.h"

#include <algorithm>
#include <array>

#include "base/csv_scanner.h"
#include "base/error.h"
#include "base/json_lines.h"
#include "base/user/text.h"
#include "serve/traces/bench.h"
#include "serve/traces/builder.h"
#include "serve/traces/nested.h"

namespace rooflua {

namespace {

/// @throws Error if the first row holds numbers instead of the names of the columns
void refuse_odd_header(const std::vector<std::string>& names, const std::string& where) {
  const bool numbers = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find_first_not_of("0123456789_") == std::string::npos;
  });
  if (numbers)
    throw Error(where,
                "expected the names of the columns, found numbers; begin the file with a "
                "line such as arrival_s,prompt_tokens,output_tokens");
}

/// What each column of a file means. @throws Error if two columns mean the same, or a needed one is
/// missing
class ColumnMap {
 public:
  ColumnMap(const std::vector<std::string>& names, TraceFormat format, const std::string& where) {
    std::array<std::string_view, trace_role_count> taken;
    for (const std::string& name : names) {
      const TraceColumn column = trace_column(format, name);
      roles.push_back(column.role);
      if (column.role == TraceRole::none) continue;
      std::string_view& other = taken[static_cast<std::size_t>(column.role)];
      if (!other.empty() && column.role == TraceRole::cached) {
        roles.back() = TraceRole::none;  // the first of them says it
        continue;
      }
      if (!other.empty()) {
        throw Error(where, "columns '" + std::string(other) + "' and '" + name +
                               "' mean the same; name the format or drop one");
      }
      other = name;
      if (column.role == TraceRole::arrival) arrival = column;
    }
    refuse_odd_header(names, where);
    require(taken, TraceRole::arrival, "arrival", names, format, where);
    require(taken, TraceRole::prompt, "prompt tokens", names, format, where);
    require(taken, TraceRole::output, "output tokens", names, format, where);
  }

  std::vector<TraceRole> roles;
  TraceColumn arrival;

 private:
  static void require(const std::array<std::string_view, trace_role_count>& taken, TraceRole role,
                      const std::string& what, const std::vector<std::string>& names,
                      TraceFormat format, const std::string& where) {
    if (!taken[static_cast<std::size_t>(role)].empty()) return;
    std::string found;
    for (const std::string& n : names) found += (found.empty() ? "" : ", ") + n;
    throw Error(where, "no column for the " + what + " (known to format '" +
                           std::string(name(format)) + "': " + spellings_of(format, role) +
                           "); found: " + found);
  }
};

/// @throws Error if the lines of the text are not those of CSV or JSONL
void refuse_other_lines(std::string_view text, const std::string& file) {
  const std::size_t cr = text.find('\r');
  if (cr < text.size() - 1 && text.find('\n') == std::string_view::npos)
    throw Error(file, "expected lines that end with a line feed, found carriage returns alone");
}

void read_rows(CsvScanner& scanner, Trace& trace, const TraceOptions& options) {
  if (scanner.cells().size() == 1) {
    for (const char separator : {';', '\t', '|'}) {
      if (scanner.cells().front().find(separator) == std::string_view::npos) continue;
      throw Error(at(trace.file, scanner.line()),
                  std::string("expected columns separated by commas, found ") +
                      (separator == '\t' ? "tabs" : std::string("'") + separator + "'"));
    }
  }
  std::vector<std::string> header;
  for (const std::string_view cell : scanner.cells()) header.push_back(plain_spelling(cell));
  trace.format = options.format.value_or(detect_format(header));
  const ColumnMap map(header, trace.format, at(trace.file, scanner.line()));
  TraceBuilder builder(trace, options);
  builder.set_arrival_unit(map.arrival);
  RawTraceRow raw;  // the same roles in every row
  while (!builder.full() && scanner.next()) {
    raw.line = scanner.line();
    if (scanner.cells().size() != header.size()) {
      throw Error(at(trace.file, raw.line), "expected " + std::to_string(header.size()) +
                                                " cells, found " +
                                                std::to_string(scanner.cells().size()));
    }
    for (std::size_t i = 0; i < header.size(); ++i) raw[map.roles[i]] = scanner.cells()[i];
    builder.append(raw);
  }
  builder.finish();
}

/// Reads lines that hold one object each. What a key means is looked up only when the keys change.
void read_lines(JsonLines& lines, Trace& trace, const TraceOptions& options) {
  std::optional<ColumnMap> map;
  std::vector<std::string> keys;
  TraceBuilder builder(trace, options);
  while (!builder.full() && lines.next()) {
    const auto& members = lines.members();
    const bool same =
        map && keys.size() == members.size() &&
        std::equal(keys.begin(), keys.end(), members.begin(),
                   [](const std::string& key, const auto& m) { return key == m.key; });
    if (!same) {
      keys.clear();
      for (const auto& member : members) keys.emplace_back(member.key);
      std::vector<std::string> names;
      for (const std::string& key : keys) names.push_back(plain_spelling(key));
      if (!map) trace.format = options.format.value_or(detect_format(names));
      map.emplace(names, trace.format, at(trace.file, lines.line()));
      builder.set_arrival_unit(map->arrival);
    }
    RawTraceRow raw;
    raw.line = lines.line();
    for (std::size_t i = 0; i < members.size(); ++i) raw[map->roles[i]] = members[i].value;
    builder.append(raw);
  }
  builder.finish();
}

}  // namespace

namespace {

Trace read_checked(std::string_view text, const std::string& file, const TraceOptions& options) {
  Trace trace;
  trace.file = file;
  refuse_other_lines(text, file);
  const std::size_t first = text.find_first_not_of(" \t\r\n\x1E");
  if (first == std::string_view::npos) throw Error(file, "an empty file");
  const bool is_json = text[first] == '{' || text[first] == '[';
  if (options.format ? *options.format == TraceFormat::vllm_bench : is_json && is_bench(text)) {
    trace.format = TraceFormat::vllm_bench;
    read_bench(text, trace, options);
    return trace;
  }
  if (!options.run.empty())
    throw Error(file, "run: nothing reads it: only results of vllm bench serve hold several runs");
  if (text[first] == '{') {
    if (const auto nested = options.format ? *options.format : nested_format(text.substr(first));
        is_nested(nested)) {
      trace.format = nested;
      read_nested(text, trace, options);
      return trace;
    }
    JsonLines lines(text, file);
    read_lines(lines, trace, options);
    return trace;
  }
  if (text[first] == '[')
    throw Error(file, "found a JSON array; expected one object per line (JSONL)");
  CsvScanner scanner(text, file);
  scanner.next();
  read_rows(scanner, trace, options);
  return trace;
}

}  // namespace

Trace parse_trace(std::string_view text, const std::string& file, const TraceOptions& options) {
  return read_checked(user_text(std::string(text), file), file, options);
}

Trace read_trace(const std::filesystem::path& path, const TraceOptions& options) {
  const std::string text = read_user_text(path);
  return read_checked(text, path.string(), options);
}

}  // namespace rooflua
