#include "serve/traces/builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/error.h"
#include "base/printable.h"
#include "serve/traces/dates.h"
#include "serve/traces/identity.h"

namespace rooflua {

namespace {

constexpr std::int64_t most_tokens =
    1'000'000'000;  // of one prompt or answer; more is an error in the file
constexpr std::string_view role_names[trace_role_count] = {
    "",          "arrival",      "prompt tokens",  "output tokens",
    "class",     "session",      "round",          "priority",
    "prompt_id", "prefix_group", "prefix_length",  "server_input_tokens",
    "hash_ids",  "failure",      "declared limit", "cancelled",
    "adapter",   "tenant",       "attempt",        "cached tokens",
    "images",    "audio_s",      "video"};

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  if (text.size() < 19) {  // so few digits cannot overflow
    std::size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      value = value * 10 + (text[i] - '0');
    if (i == text.size() && i > 0) return value;
    value = 0;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  const auto number = parse_number(text);  // also 16.0
  if (!number || std::floor(*number) != *number || std::abs(*number) > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string quoted(std::string_view text) {
  return std::string("'").append(text).append("'");
}

}  // namespace

std::string TraceBuilder::where(const RawTraceRow& raw, TraceRole role) const {
  return at(trace_.file, raw.line) + ": " + std::string(role_names[static_cast<std::size_t>(role)]);
}

std::int64_t TraceBuilder::whole(const RawTraceRow& raw, TraceRole role,
                                 std::int64_t absent) const {
  const std::string_view text = raw[role];
  if (text.empty() || text == "null") return absent;
  const auto value = parse_whole(text);
  if (!value) throw Error(where(raw, role), "expected a whole number, found " + quoted(text));
  if (*value > most_tokens || *value < -most_tokens)
    throw Error(where(raw, role), "found " + quoted(text) + ", more than 1e9");
  return *value;
}

void TraceBuilder::set_arrival_unit(const TraceColumn& column) {
  const double named = column.units_per_s;
  if (named > 0 && options_.units_per_s && *options_.units_per_s != named) {
    throw Error(trace_.file,
                "time_unit: the name of the column of arrivals states another unit; "
                "rename the column, or leave time_unit out");
  }
  const bool is_told = named == 0 && !options_.units_per_s;
  if (trace_.read > 0 && is_told != is_told_)
    throw Error(trace_.file, "the arrivals stand in columns with and without a unit in their name");
  is_told_ = is_told;
  documented_s_ = column.documented_s;
  units_per_s_ = named > 0 ? named : options_.units_per_s.value_or(1);
}

void TraceBuilder::tell_unit() {
  const ToldUnit told = told_unit(stamps_, documented_s_);
  const double start =
      first_stamp_ / told.unit.per_s >= unix_time_s ? first_stamp_ : 0;  // of a clock
  if (start > 0) start_s_ = start / told.unit.per_s;
  for (TraceRow& row : trace_.rows) row.arrival_s = (row.arrival_s - start) / told.unit.per_s;
  if (stamps_.most / told.unit.per_s >= farthest_s)
    throw Error(trace_.file, "arrival: its stamps reach beyond the year 5000 in every unit");
  const std::string note = note_on_told(trace_.file, stamps_, told);
  if (!note.empty()) trace_.notes.push_back(note);
}

double TraceBuilder::arrival(const RawTraceRow& raw) {
  const std::string_view text = raw[TraceRole::arrival];
  if (trace_.read > 0 && looks_like_date(text) != start_ns_.has_value()) {
    throw Error(where(raw, TraceRole::arrival),
                std::string("expected a ") + (start_ns_ ? "date" : "number") +
                    ", as in the rows above, found " + quoted(text));
  }
  if (looks_like_date(text)) {
    const auto ns = parse_date_ns(text);
    if (!ns) {
      throw Error(where(raw, TraceRole::arrival),
                  "expected a date as 2023-11-16 18:15:46.68, found " + quoted(text));
    }
    if (!start_ns_) start_ns_ = *ns;
    return static_cast<double>(*ns - *start_ns_) / 1e9;
  }
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number)) {
    throw Error(where(raw, TraceRole::arrival), "expected a number, found " + quoted(text));
  }
  if (*number < 0) throw Error(where(raw, TraceRole::arrival), "is negative: " + quoted(text));
  if (stamps_.count == 0) first_stamp_ = *number;
  stamps_.add(*number);
  if (is_told_) return *number;
  const double time_s = *number / units_per_s_;
  if (time_s >= farthest_s) {
    throw Error(where(raw, TraceRole::arrival),
                quoted(text) +
                    " is after the year 5000 in the unit of this column; time_unit = \"ms\", or a "
                    "name that ends with _ms, would say milliseconds");
  }
  if (trace_.rows.empty() && !start_s_ && time_s >= unix_time_s) start_s_ = time_s;
  return start_s_ ? time_s - *start_s_ : time_s;
}

void TraceBuilder::append(const RawTraceRow& raw) {
  if (has_enough()) {  // the unit of time must not follow from the limit: the stamps are read on
    if (const auto stamp = parse_number(raw[TraceRole::arrival]); stamp && *stamp >= 0)
      stamps_.add(*stamp);
    return;
  }
  TraceRow row;
  row.line = raw.line;
  row.arrival_s = arrival(raw);
  row.prompt_tokens = prompt(raw);
  row.output_tokens = whole(raw, TraceRole::output, -1);
  ++trace_.read;
  if (failed(raw) || (row.output_tokens == 0 && trace_.format == TraceFormat::burstgpt)) {
    skip("failed when recorded", raw);
    return;
  }
  if (row.prompt_tokens < 1) {
    throw Error(where(raw, TraceRole::prompt),
                "expected at least 1, found " + quoted(raw[TraceRole::prompt]));
  }
  if (row.output_tokens < 0) {
    throw Error(where(raw, TraceRole::output),
                "expected at least 0, found " + quoted(raw[TraceRole::output]));
  }
  if (row.output_tokens == 0) {
    skip("no output", raw);
    return;
  }
  if (row.arrival_s < last_arrival_s_ && !sorts()) {
    throw Error(where(raw, TraceRole::arrival),
                quoted(raw[TraceRole::arrival]) +
                    " is before the row above; sort the trace, or ask for sort = true");
  }
  last_arrival_s_ = row.arrival_s;
  if (!is_plain(raw[TraceRole::request_class])) {
    throw Error(where(raw, TraceRole::request_class),
                "expected UTF-8 without control characters, found " +
                    quoted(raw[TraceRole::request_class]));
  }
  row.class_index = index_of(raw[TraceRole::request_class], trace_.classes, class_index_);
  row.session = index_of(raw[TraceRole::session], trace_.sessions, session_index_);
  row.round = static_cast<std::int32_t>(whole(raw, TraceRole::round, 0));
  row.priority = static_cast<std::int32_t>(whole(raw, TraceRole::priority, 0));
  row.adapter = static_cast<std::int32_t>(whole(raw, TraceRole::adapter, -1));
  if (row.adapter < -1) throw Error(where(raw, TraceRole::adapter), "0 (none) or more is right");
  row.max_output_tokens = static_cast<std::int32_t>(whole(raw, TraceRole::limit, 0));
  row.cancelled_s = cancelled(raw, row);
  row.first_segment = static_cast<std::uint32_t>(trace_.segments.size());
  row.tenant = tenant(raw);
  row.items = items(raw);
  if (row.items >= 0 && row.cancelled_s < never_cancelled)
    throw Error(where(raw, TraceRole::cancelled), "is not replayed of a request with items");
  const std::int64_t known = append_content(raw, row);
  not_replayed_.add(raw, row, known > 0);
  if (known > 0 && known < row.prompt_tokens) {
    trace_.segments.push_back({0, static_cast<std::int32_t>(row.prompt_tokens - known)});
  }
  row.segments = static_cast<std::uint32_t>(trace_.segments.size()) - row.first_segment;
  trace_.rows.push_back(row);
}

std::int32_t TraceBuilder::items(const RawTraceRow& raw) {
  Json out = Json::object();
  for (const auto& [role, key] :
       {std::pair{TraceRole::images, "images"}, std::pair{TraceRole::audio_s, "audio_s"},
        std::pair{TraceRole::video, "video"}}) {
    const std::string_view text = raw[role];
    if (text.empty() || text == "null" || text == "[]") continue;
    Json list = parse_json(text, where(raw, role));
    if (!list.is_array())
      throw Error(where(raw, role), "expected a list such as [[1280, 720]], found " + quoted(text));
    out[key] = std::move(list);
  }
  if (out.members().empty()) return -1;
  trace_.items.push_back(std::move(out));
  return static_cast<std::int32_t>(trace_.items.size()) - 1;
}

double TraceBuilder::cancelled(const RawTraceRow& raw, const TraceRow& row) const {
  const std::string_view text = raw[TraceRole::cancelled];
  if (text.empty() || text == "null") return never_cancelled;
  const auto time_s = parse_number(text);
  if (!time_s || !(*time_s >= row.arrival_s && *time_s < farthest_s)) {
    throw Error(where(raw, TraceRole::cancelled),
                "expected a time in seconds, not before the arrival, found " + quoted(text));
  }
  if (units_per_s_ != 1 || is_told_ || start_ns_ || start_s_) {
    throw Error(where(raw, TraceRole::cancelled),
                "is read where the arrivals are seconds from 0 on, in a column such as arrival_s");
  }
  return *time_s;
}

bool TraceBuilder::failed(const RawTraceRow& raw) const {
  const std::string_view text = raw[TraceRole::failure];
  if (text.empty() || text == "null") return false;
  if (trace_.format == TraceFormat::blis_v2) return text != "ok";
  if (trace_.format == TraceFormat::requests) return text != name(Outcome::completed);
  return whole(raw, TraceRole::failure, 0) != 0;
}

void TraceBuilder::leave_out(const std::string& why, const RawTraceRow& raw) {
  ++trace_.read;
  skip(why, raw);
}

void TraceBuilder::skip(const std::string& why, const RawTraceRow& raw) {
  SkippedRows& rows = trace_.skipped[why];
  if (rows.count++ == 0) rows.first_line = raw.line;
}

std::int32_t TraceBuilder::index_of(std::string_view name, std::vector<std::string>& names,
                                    std::unordered_map<std::string, std::int32_t>& known) const {
  if (name.empty() || name == "null") return -1;
  const auto [entry, added] =
      known.try_emplace(std::string(name), static_cast<std::int32_t>(names.size()));
  if (added) names.emplace_back(name);
  return entry->second;
}

std::int64_t TraceBuilder::prompt(const RawTraceRow& raw) const {
  const std::int64_t tokens = whole(raw, TraceRole::prompt, -1);
  if (trace_.format != TraceFormat::blis_v2 || tokens < 0) return tokens;
  if (!raw[TraceRole::prefix_group].empty())
    return tokens + whole(raw, TraceRole::prefix_length, 0);
  const std::int64_t counted = whole(raw, TraceRole::server_prompt, 0);
  return counted > 0 ? counted : tokens;
}

std::int32_t TraceBuilder::tenant(const RawTraceRow& raw) {
  const std::string_view text = raw[TraceRole::tenant];
  const auto number = parse_whole(text);
  if (number && *number >= 0 && *number <= most_tokens) return static_cast<std::int32_t>(*number);
  return index_of(text, tenants_, tenant_index_);
}

std::int64_t TraceBuilder::append_content(const RawTraceRow& raw, const TraceRow& row) {
  if (!raw[TraceRole::hash_ids].empty() && raw[TraceRole::hash_ids] != "null")
    return append_hash_ids(raw, row);
  std::uint64_t content = 0;
  std::int64_t tokens = row.prompt_tokens;
  if (!raw[TraceRole::prompt_id].empty()) {
    content = identity("prompt", raw[TraceRole::prompt_id]);
  } else if (!raw[TraceRole::prefix_group].empty()) {
    content = identity("prefix", raw[TraceRole::prefix_group]);
    tokens = whole(raw, TraceRole::prefix_length, 0);
    if (tokens < 0 || tokens > row.prompt_tokens) {
      throw Error(where(raw, TraceRole::prefix_length),
                  "expected 0 to " + std::to_string(row.prompt_tokens) + " (the prompt), found " +
                      std::to_string(tokens));
    }
  }
  if (content == 0 || tokens == 0) return 0;
  trace_.segments.push_back({content, static_cast<std::int32_t>(tokens)});
  return tokens;
}

std::int64_t TraceBuilder::append_hash_ids(const RawTraceRow& raw, const TraceRow& row) {
  const std::string_view text = raw[TraceRole::hash_ids];
  const auto fail = [&](const std::string& what) {
    throw Error(where(raw, TraceRole::hash_ids), what);
  };
  if (text.front() != '[' || text.back() != ']')
    fail("expected [id, ...], found " + quoted(text.substr(0, 40)));
  std::int64_t left = row.prompt_tokens, found = 0;
  const char* p = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  const auto skip_spaces = [&] {
    while (p < end && (*p == ' ' || *p == '\t')) ++p;
  };
  for (skip_spaces(); p < end; skip_spaces()) {
    std::uint64_t id = 0;
    const auto [stop, error] = std::from_chars(p, end, id);
    if (error != std::errc())
      fail("expected whole numbers, found " + quoted(std::string_view(p, end).substr(0, 20)));
    const std::int64_t tokens = std::min(left, options_.hash_block_tokens);
    if (tokens > 0) trace_.segments.push_back({spread(id), static_cast<std::int32_t>(tokens)});
    ++found;
    left -= tokens;
    p = stop;
    skip_spaces();
    if (p < end && *p++ != ',') fail("expected a comma between ids");
  }
  const std::int64_t block = options_.hash_block_tokens;
  if (found != (row.prompt_tokens + block - 1) / block) wrong_hash_ids(raw, row, found);
  return row.prompt_tokens;
}

void TraceBuilder::wrong_hash_ids(const RawTraceRow& raw, const TraceRow& row,
                                  std::int64_t found) const {
  const auto blocks = [&](std::int64_t size) { return (row.prompt_tokens + size - 1) / size; };
  const std::int64_t wanted = blocks(options_.hash_block_tokens);
  std::string message = "expected " + std::to_string(wanted) + (wanted == 1 ? " id" : " ids") +
                        ", one for every " + std::to_string(options_.hash_block_tokens) +
                        " of the prompt's " + std::to_string(row.prompt_tokens) +
                        " tokens, found " + std::to_string(found);
  for (std::int64_t size = 1; size <= 8192; size *= 2) {
    if (blocks(size) != found) continue;
    message += "; hash_block_tokens = " + std::to_string(size) + " would fit this row";
    break;
  }
  throw Error(where(raw, TraceRole::hash_ids), message);
}

void TraceBuilder::name_classes() {
  if (trace_.classes.empty()) return;
  for (TraceRow& row : trace_.rows) {
    if (row.class_index < 0) row.class_index = index_of("(none)", trace_.classes, class_index_);
  }
}

void TraceBuilder::finish() {
  if (trace_.rows.empty()) {
    std::string why;
    for (const auto& [reason, rows] : trace_.skipped) {
      why += (why.empty() ? "; of its rows: " : ", ") + reason + " " + std::to_string(rows.count) +
             " (first in line " + std::to_string(rows.first_line) + ")";
    }
    throw Error(trace_.file, "no request in it" + why);
  }
  const bool are_dates = start_ns_.has_value();
  if (are_dates && options_.units_per_s)
    throw Error(trace_.file, "time_unit: nothing reads it: the arrivals are dates; leave it out");
  if (is_told_ && !are_dates) tell_unit();
  if (!is_told_ && !are_dates) {
    const std::string note = note_on_stated(trace_.file, stamps_, units_per_s_);
    if (!note.empty()) trace_.notes.push_back(note);
  }
  if (sorts()) sort();
  name_classes();
  for (std::string& note : not_replayed_.notes(trace_.file)) trace_.notes.push_back(std::move(note));
}

void TraceBuilder::sort() {
  std::stable_sort(trace_.rows.begin(), trace_.rows.end(),
                   [](const TraceRow& a, const TraceRow& b) { return a.arrival_s < b.arrival_s; });
  if (options_.limit > 0 && trace_.rows.size() > options_.limit) trace_.rows.resize(options_.limit);
  if (!start_ns_ && !start_s_) return;
  const double first_s =
      trace_.rows.front().arrival_s;  // < 0: earlier than the first row of the file
  for (TraceRow& row : trace_.rows) row.arrival_s -= first_s;
}

}  // namespace rooflua
