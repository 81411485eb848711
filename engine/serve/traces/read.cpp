#include "serve/traces/read.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/csv_scanner.h"
#include "base/error.h"
#include "base/json_lines.h"
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
      if (!other.empty()) {
        throw Error(where, "columns '" + std::string(other) + "' and '" + name +
                               "' mean the same; name the format or drop one");
      }
      other = name;
      if (column.role == TraceRole::arrival) units_per_s = column.units_per_s;
    }
    refuse_odd_header(names, where);
    require(taken, TraceRole::arrival, "arrival", names, format, where);
    require(taken, TraceRole::prompt, "prompt tokens", names, format, where);
    require(taken, TraceRole::output, "output tokens", names, format, where);
  }

  std::vector<TraceRole> roles;
  double units_per_s = 1;

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

struct Signature {
  std::string_view bytes;  // at the start of a file
  std::string_view what;   // what such a file is
};
constexpr Signature signatures[] = {
    {"\x1F\x8B", "compressed with gzip; unpack it with gunzip -k"},
    {"\x28\xB5\x2F\xFD", "compressed with zstd; unpack it with unzstd"},
    {"\xFD\x37zXZ", "compressed with xz; unpack it with unxz -k"},
    {"BZh", "compressed with bzip2; unpack it with bunzip2 -k"},
    {"PK\x03\x04", "a zip archive; unpack it with unzip"},
    {"PAR1", "a Parquet file; write it as CSV"},
    {"SQLite format 3", "an SQLite database; write it as CSV"},
    {"\xFF\xFE", "text in UTF-16; write it in UTF-8"},
    {"\xFE\xFF", "text in UTF-16; write it in UTF-8"}};

/// @throws Error if the file is not text that can be read, told by its first bytes and line ends
void refuse_binary(std::string_view text, const std::string& file) {
  for (const Signature& each : signatures) {
    if (text.starts_with(each.bytes))
      throw Error(file, "expected CSV or JSONL; this is " + std::string(each.what));
  }
  const std::size_t cr = text.find('\r');
  if (cr < text.size() - 1 && text.find('\n') == std::string_view::npos)
    throw Error(file, "expected lines that end with a line feed, found carriage returns alone");
  if (text.substr(0, 4096).find('\0') != std::string_view::npos)
    throw Error(file, "expected CSV or JSONL; this is a binary file");
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
  builder.set_arrival_unit(map.units_per_s);
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
      builder.set_arrival_unit(map->units_per_s);
    }
    RawTraceRow raw;
    raw.line = lines.line();
    for (std::size_t i = 0; i < members.size(); ++i) raw[map->roles[i]] = members[i].value;
    builder.append(raw);
  }
  builder.finish();
}

}  // namespace

Trace parse_trace(std::string_view text, const std::string& file, const TraceOptions& options) {
  Trace trace;
  trace.file = file;
  refuse_binary(text, file);
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) throw Error(file, "an empty file");
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

Trace read_trace(const std::filesystem::path& path, const TraceOptions& options) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string(), "cannot be read");
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw Error(path.string(), "cannot be read: " + error.message());
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse_trace(text, path.string(), options);
}

}  // namespace rooflua
