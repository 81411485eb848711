#include "serve/traces/nested.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "base/json.h"
#include "base/json_text.h"
#include "serve/traces/builder.h"
#include "serve/traces/columns.h"

namespace rooflua {

namespace {

/// A request as its file has it.
struct NestedRow {
  int line = 0;
  std::int64_t start_ns = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  bool failed = false, warm_up = false;
  std::int64_t cached_tokens = 0;
  std::string session, prompt_id;
  std::int64_t round = 0;
};

/// The value at keys of objects within objects; null pointer where a part is missing or null.
const Json* at_path(const Json& object, std::initializer_list<std::string_view> keys) {
  const Json* found = &object;
  for (const std::string_view key : keys) {
    found = found->find(key);
    if (found == nullptr || found->is_null()) return nullptr;
  }
  return found;
}

/// A whole number, which OTLP writes as text.
std::optional<std::int64_t> whole_of(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_integer()) return value->integer();
  if (!value->is_text()) return std::nullopt;
  const std::string& text = value->text();
  std::int64_t out = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return out;
}

std::int64_t needed(const Json* value, const std::string& where, const char* key) {
  const auto found = whole_of(value);
  if (found && *found >= 0) return *found;
  throw Error(where + ": " + key, value == nullptr ? "is missing"
                                                   : "expected a whole number, 0 or more, found " +
                                                         dump_json(*value).substr(0, 40));
}

/// Calls `visit(document, line)` for each line, or once for a text that is one document.
void for_each_document(std::string_view text, const std::string& file,
                       const std::function<void(const Json&, int)>& visit) {
  const std::size_t end = text.find('\n');
  std::string_view first = text.substr(0, end);
  const std::size_t last = first.find_last_not_of(" \t\r");
  if (end == std::string_view::npos || last == std::string_view::npos || first[last] != '}' ||
      last == 0) {
    visit(parse_json(text, file), 1);
    return;
  }
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t stop = text.find('\n');
    const std::string_view one = text.substr(0, stop);
    text.remove_prefix(stop == std::string_view::npos ? text.size() : stop + 1);
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    visit(parse_json(one, at(file, line)), line);
  }
}

std::span<const Json> list_of(const Json& object, std::string_view key) {
  const Json* list = object.find(key);
  if (list == nullptr || !list->is_array()) return {};
  return list->items();
}

bool is_cached_key(std::string_view key) {
  return trace_column(TraceFormat::plain, plain_spelling(key)).role == TraceRole::cached;
}

// --- AIPerf

NestedRow aiperf_row(const Json& record, const std::string& where, int line) {
  NestedRow row;
  row.line = line;
  row.start_ns =
      needed(at_path(record, {"metadata", "request_start_ns"}), where, "metadata.request_start_ns");
  const Json* cancelled = at_path(record, {"metadata", "was_cancelled"});
  row.failed = at_path(record, {"error"}) != nullptr ||
               (cancelled != nullptr && cancelled->is_boolean() && cancelled->boolean());
  const Json* phase = at_path(record, {"metadata", "benchmark_phase"});
  row.warm_up = phase != nullptr && phase->is_text() && phase->text() != "profiling";
  if (row.failed || row.warm_up) return row;
  row.prompt_tokens = needed(at_path(record, {"metrics", "input_sequence_length", "value"}), where,
                             "metrics.input_sequence_length.value");
  const Json* output = at_path(record, {"metrics", "output_sequence_length", "value"});
  if (output == nullptr) output = at_path(record, {"metrics", "output_token_count", "value"});
  row.output_tokens = needed(output, where, "metrics.output_sequence_length.value");
  for (const Json::Member& each : record.find("metrics")->members())
    if (is_cached_key(each.key)) row.cached_tokens = whole_of(each.value.find("value")).value_or(0);
  row.round = whole_of(at_path(record, {"metadata", "turn_index"})).value_or(0);
  const Json& metadata = *record.find("metadata");
  row.session = text_of(metadata, "x_correlation_id");
  if (row.round == 0) row.prompt_id = text_of(metadata, "conversation_id");
  return row;
}

std::vector<NestedRow> aiperf_rows(std::string_view text, const std::string& file) {
  std::vector<NestedRow> rows;
  for_each_document(text, file, [&](const Json& record, int line) {
    rows.push_back(aiperf_row(record, at(file, line), line));
  });
  return rows;
}

// --- OTLP

/// The value of an attribute, without the object that says its type.
const Json* attribute(const Json& span, std::string_view key) {
  const Json* list = span.find("attributes");
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& each : list->items()) {
    if (text_of(each, "key") != key) continue;
    const Json* value = each.find("value");
    if (value == nullptr || !value->is_object() || value->members().empty()) return nullptr;
    return &value->members().front().value;
  }
  return nullptr;
}

NestedRow otlp_row(const Json& span, const std::string& where, int line) {
  NestedRow row;
  row.line = line;
  row.start_ns = needed(span.find("startTimeUnixNano"), where, "startTimeUnixNano");
  row.failed = whole_of(at_path(span, {"status", "code"})).value_or(0) == 2;
  if (row.failed) return row;
  row.prompt_tokens =
      needed(attribute(span, "gen_ai.usage.prompt_tokens"), where, "gen_ai.usage.prompt_tokens");
  row.output_tokens = needed(attribute(span, "gen_ai.usage.completion_tokens"), where,
                             "gen_ai.usage.completion_tokens");
  for (const Json& each : list_of(span, "attributes"))
    if (const std::string key = text_of(each, "key"); is_cached_key(key))
      row.cached_tokens = whole_of(attribute(span, key)).value_or(0);
  return row;
}

std::vector<NestedRow> otlp_rows(std::string_view text, const std::string& file) {
  std::vector<NestedRow> rows;
  std::unordered_map<std::string, std::size_t> by_id;
  std::set<std::string> others;
  const auto add = [&](const Json& span, int line) {
    if (text_of(span, "name") != "llm_request") {
      others.insert(text_of(span, "name"));
      return;
    }
    NestedRow row = otlp_row(span, at(file, line), line);
    const Json* id = attribute(span, "gen_ai.request.id");
    if (id != nullptr && id->is_text()) {
      const auto [known, added] = by_id.try_emplace(id->text(), rows.size());
      if (!added) {
        NestedRow& before = rows[known->second];
        before.start_ns = std::min(before.start_ns, row.start_ns);
        before.prompt_tokens = std::max(before.prompt_tokens, row.prompt_tokens);
        before.output_tokens = std::max(before.output_tokens, row.output_tokens);
        before.failed = before.failed || row.failed;
        return;
      }
    }
    rows.push_back(std::move(row));
  };
  for_each_document(text, file, [&](const Json& batch, int line) {
    for (const Json& resource : list_of(batch, "resourceSpans"))
      for (const Json& scope : list_of(resource, "scopeSpans"))
        for (const Json& span : list_of(scope, "spans")) add(span, line);
  });
  if (rows.empty()) {
    std::string found;
    for (const std::string& name : others) found += (found.empty() ? "; found " : ", ") + name;
    throw Error(file, "no span is called llm_request" + found.substr(0, 200));
  }
  return rows;
}

}  // namespace

bool is_nested(TraceFormat format) {
  return format == TraceFormat::aiperf || format == TraceFormat::otlp;
}

TraceFormat nested_format(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto has = [](std::string_view where, std::string_view key) {
    return where.find(key) != std::string_view::npos;
  };
  if (has(line, "\"metadata\"") && has(line, "\"request_start_ns\"")) return TraceFormat::aiperf;
  const std::size_t key = text.find_first_not_of(" \t\r\n", 1);
  if (key != std::string_view::npos && text.substr(key).starts_with("\"resourceSpans\""))
    return TraceFormat::otlp;
  return TraceFormat::plain;
}

void read_nested(std::string_view text, Trace& trace, const TraceOptions& options) {
  std::vector<NestedRow> rows = trace.format == TraceFormat::aiperf ? aiperf_rows(text, trace.file)
                                                                    : otlp_rows(text, trace.file);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  TraceBuilder builder(trace, options);
  if (options.units_per_s)
    throw Error(trace.file, "time_unit: the stamps of format '" + std::string(name(trace.format)) +
                                "' are nanoseconds; leave it out");
  builder.set_arrival_unit({TraceRole::arrival, 1e9});
  std::optional<std::int64_t> first_ns;
  for (const NestedRow& row : rows) {
    if (builder.full()) break;
    RawTraceRow raw;
    raw.line = row.line;
    if (row.warm_up) {
      builder.leave_out("warm-up", raw);
      continue;
    }
    if (!first_ns) first_ns = row.start_ns;
    const std::string arrival = std::to_string(row.start_ns - *first_ns);
    const std::string prompt = std::to_string(row.prompt_tokens);
    const std::string output = std::to_string(row.output_tokens);
    const std::string round = std::to_string(row.round);
    const std::string cached = std::to_string(row.cached_tokens);
    raw[TraceRole::cached] = cached;
    raw[TraceRole::arrival] = arrival;
    raw[TraceRole::prompt] = prompt;
    raw[TraceRole::output] = output;
    raw[TraceRole::round] = round;
    raw[TraceRole::session] = row.session;
    raw[TraceRole::prompt_id] = row.prompt_id;
    if (row.failed) raw[TraceRole::failure] = "1";
    builder.append(raw);
  }
  builder.finish();
}

}  // namespace rooflua
