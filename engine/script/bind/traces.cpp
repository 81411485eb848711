// Recorded requests for Lua: natives that scripts/lib/rooflua/trace.lua wraps.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "measure/write/left_out.h"
#include "script/bind/trace_box.h"
#include "script/serving/plays.h"
#include "script/serving/run.h"
#include "serve/contract/clock.h"
#include "serve/traces/columns.h"
#include "serve/traces/time_unit.h"

namespace rooflua::script {

namespace {

/// A trace as the engine's workload.
class TraceWorkload : public Workload {
 public:
  /// max_output_tokens: the limit that every request declares; 0 = none, -1 = its own length.
  TraceWorkload(std::shared_ptr<const Trace> trace, double time_scale,
                std::int32_t max_output_tokens)
      : trace_(std::move(trace)), time_scale_(time_scale), max_output_tokens_(max_output_tokens) {
    for (std::size_t i = 0; i < trace_->rows.size(); ++i) {
      if (trace_->rows[i].cancelled_s < never_cancelled) leaving_.push_back(i);
    }
    std::sort(leaving_.begin(), leaving_.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(trace_->rows[a].cancelled_s, a) < std::pair(trace_->rows[b].cancelled_s, b);
    });
  }
  bool next(RequestSpec& spec) override {
    if (cursor_ >= trace_->rows.size()) return false;
    const TraceRow& row = trace_->rows[cursor_++];
    spec = spec_of(*trace_, row, time_scale_, max_output_tokens_);
    if (!leaving_.empty()) spec.row = static_cast<std::int32_t>(cursor_ - 1);
    return true;
  }
  static RequestSpec spec_of(const Trace& trace, const TraceRow& row, double time_scale,
                             std::int32_t max_output_tokens) {
    RequestSpec spec;
    spec.arrival_s = row.arrival_s * time_scale;
    if (spec.arrival_s >= latest_s) throw_too_late(trace, row, spec.arrival_s);
    spec.prompt_tokens = static_cast<std::int32_t>(row.prompt_tokens);
    spec.output_tokens = static_cast<std::int32_t>(row.output_tokens);
    if (max_output_tokens > 0) spec.output_tokens = std::min(spec.output_tokens, max_output_tokens);
    spec.max_output_tokens = max_output_tokens < 0 ? spec.output_tokens : max_output_tokens;
    if (max_output_tokens == 0) spec.max_output_tokens = row.max_output_tokens;
    spec.priority = row.priority;
    spec.adapter = row.adapter;
    spec.tenant = row.tenant;
    spec.klass = std::max(row.class_index, 0);
    spec.session = row.session;
    spec.segments = trace.content(row);
    return spec;
  }
  Picoseconds due() const override {
    if (left_ == leaving_.size()) return never;
    return picoseconds(trace_->rows[leaving_[left_]].cancelled_s * time_scale_, "cancelled_s");
  }
  void on_due(Picoseconds now, Client& client) override {
    while (due() <= now) client.cancel_row(static_cast<std::int32_t>(leaving_[left_++]));
  }
  bool reads_ends() const override { return false; }
  bool shares_content() const override { return !trace_->segments.empty(); }
  std::optional<Unsent> left_out() const override { return rooflua::left_out(*trace_); }
  std::vector<std::string> notes() const override { return trace_->notes; }
  std::unique_ptr<Workload> fork() const override { return std::make_unique<TraceWorkload>(*this); }

 private:
  [[noreturn]] static void throw_too_late(const Trace& trace, const TraceRow& row,
                                          double arrival_s) {
    char days[40];
    std::snprintf(days, sizeof days, "%.1f", arrival_s / 86400);
    throw Error(at(trace.file, row.line), "arrives " + std::string(days) +
                                              " days after time 0, the clock shows 106; a "
                                              "smaller time_scale or a limit would do");
  }

  std::shared_ptr<const Trace> trace_;
  double time_scale_;
  std::int32_t max_output_tokens_;
  std::size_t cursor_ = 0;
  std::vector<std::size_t> leaving_;  // rows whose client leaves, by when
  std::size_t left_ = 0;              // of them, those that have
};

int trace_open(lua_State* L) {
  const std::string path = check_text(L, 1, "trace: path");
  const std::string format = check_text(L, 2, "trace: format");
  const double limit = check_number(L, 3, "trace: limit");
  const double time_scale = check_number(L, 5, "trace: time_scale");
  const double max_output_tokens = check_number(L, 6, "trace: max_output_tokens");
  if (!(limit >= 0 && limit < 1e15) || !(time_scale >= 0 && std::isfinite(time_scale))) {
    throw Error("trace", "limit and time_scale must be 0 or more");
  }
  if (!(max_output_tokens >= -1 && max_output_tokens <= std::numeric_limits<std::int32_t>::max())) {
    throw Error("trace", "max_output_tokens must be a whole number or \"exact\"");
  }
  const double block_tokens = check_number(L, 7, "trace: hash_block_tokens");
  if (!(block_tokens >= 1 && block_tokens <= 1e9 && block_tokens == std::floor(block_tokens)))
    throw Error("trace", "hash_block_tokens must be a whole number from 1");
  TraceOptions options;
  options.hash_block_tokens = static_cast<std::int64_t>(block_tokens);
  if (!format.empty()) options.format = trace_format(format, "trace: format");
  options.limit = static_cast<std::size_t>(limit);
  options.sort = lua_toboolean(L, 4) != 0;
  if (const std::string unit = check_text(L, 8, "trace: time_unit"); !unit.empty())
    options.units_per_s = time_unit(unit, "trace: time_unit").per_s;
  options.run = check_text(L, 9, "trace: run");
  auto box = std::make_shared<TraceBox>();
  box->trace = std::make_shared<Trace>(read_trace(path, options));
  box->time_scale = time_scale;
  box->max_output_tokens = static_cast<std::int32_t>(max_output_tokens);
  push_object<TraceBox>(L, box);
  return 1;
}

/// trace_rows(trace, limit) -> {{arrival_s, prompt_tokens, output_tokens}, ...}: the first rows.
int trace_rows(lua_State* L) {
  const auto& box = check_object<TraceBox>(L, 1, "trace");
  const double limit = check_number(L, 2, "limit");
  Json out = Json::array();
  for (const TraceRow& row : box->trace->rows) {
    if (static_cast<double>(out.items().size()) >= limit) break;
    Json one = Json::array();
    one.push_back(row.arrival_s * box->time_scale);
    one.push_back(static_cast<double>(row.prompt_tokens));
    one.push_back(static_cast<double>(row.output_tokens));
    out.push_back(std::move(one));
  }
  return push_json(L, out, false);
}

/// trace_next(trace, i) -> of row i, from 1: {arrival_s, prompt_tokens, output_tokens, fields}, as
/// a workload's request; nothing behind the last one. Its items have `counted` and `where`.
int trace_next(lua_State* L) {
  const auto& box = check_object<TraceBox>(L, 1, "trace");
  const double place = check_number(L, 2, "row");
  const Trace& trace = *box->trace;
  if (!(place >= 1 && place <= static_cast<double>(trace.rows.size()))) return 0;
  const TraceRow& row = trace.rows[static_cast<std::size_t>(place) - 1];
  const RequestSpec spec =
      TraceWorkload::spec_of(trace, row, box->time_scale, box->max_output_tokens);
  Json fields = Json::object();
  fields["class"] = spec.klass;
  fields["priority"] = spec.priority;
  if (spec.session >= 0) fields["session"] = spec.session;
  if (spec.adapter >= 0) fields["adapter"] = spec.adapter;
  if (spec.tenant >= 0) fields["tenant"] = spec.tenant;
  if (spec.max_output_tokens > 0) fields["max_output_tokens"] = spec.max_output_tokens;
  constexpr std::uint64_t exact = (std::uint64_t{1} << 51) - 1;  // of a number of Lua, above items
  for (const Segment& each : spec.segments) {
    Json part = Json::array();
    part.push_back(static_cast<double>(each.content & exact));
    part.push_back(each.tokens);
    Json& content = fields["content"];
    if (!content.is_array()) content = Json::array();
    content.push_back(std::move(part));
  }
  if (row.items >= 0) {
    Json items = trace.items[static_cast<std::size_t>(row.items)];
    items["counted"] = true;
    items["where"] = at(trace.file, row.line);
    fields["items"] = std::move(items);
  }
  Json out = Json::array();
  out.push_back(spec.arrival_s);
  out.push_back(spec.prompt_tokens);
  out.push_back(spec.output_tokens);
  out.push_back(std::move(fields));
  return push_json(L, out, false);
}

/// trace_describe(trace) -> {file, format, rows, requests, left_out, notes}
int trace_describe(lua_State* L) {
  const Trace& trace = *check_object<TraceBox>(L, 1, "trace")->trace;
  Json out = Json::object();
  out["file"] = trace.file;
  out["format"] = name(trace.format);
  out["rows"] = trace.read;
  out["requests"] = static_cast<std::int64_t>(trace.rows.size());
  out["left_out"] = to_json(left_out(trace));
  if (!trace.items.empty()) {
    out["has_items"] = true;
    out["classes"] = Json::array();
    for (const std::string& each : trace.classes) out["classes"].push_back(each);
  }
  out["notes"] = Json::array();
  for (const std::string& note : trace.notes) out["notes"].push_back(note);
  return push_json(L, out, false);
}

/// trace_time_unit(file, stamps) -> how many of the unit that the stamps tell a second has, and the
/// note on it ("" where it has no effect).
int trace_time_unit(lua_State* L) {
  const std::string file = check_text(L, 1, "file");
  Stamps stamps;
  for (std::size_t i = 1; i <= lua_objlen(L, 2); ++i) {
    lua_rawgeti(L, 2, static_cast<int>(i));
    stamps.add(lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
  const ToldUnit told = told_unit(stamps, false);
  lua_pushnumber(L, told.unit.per_s);
  lua_pushstring(L, note_on_told(file, stamps, told).c_str());
  return 2;
}

/// trace_column(name) -> "arrival", "prompt" or "output", and how many of its units a second has
/// (0: the name of a column of arrivals does not say it): what a column means in a plain trace;
/// nothing for any other column.
int trace_column_of(lua_State* L) {
  const TraceColumn column =
      trace_column(TraceFormat::plain, plain_spelling(check_text(L, 1, "column")));
  const char* role = column.role == TraceRole::arrival  ? "arrival"
                     : column.role == TraceRole::prompt ? "prompt"
                     : column.role == TraceRole::output ? "output"
                                                        : nullptr;
  if (role == nullptr) return 0;
  lua_pushstring(L, role);
  lua_pushnumber(L, column.units_per_s);
  return 2;
}

/// trace_arrivals() -> all names of the column of arrivals in a plain trace.
int trace_arrivals(lua_State* L) {
  lua_pushstring(L, spellings_of(TraceFormat::plain, TraceRole::arrival).c_str());
  return 1;
}

}  // namespace

std::unique_ptr<Workload> trace_workload(const TraceBox& box) {
  return std::make_unique<TraceWorkload>(box.trace, box.time_scale, box.max_output_tokens);
}

void read_workload(lua_State* L, int index, Run& run, std::vector<std::string>& classes) {
  if (!is_object<TraceBox>(L, index)) {
    lua_pushvalue(L, index);
    run.workload = lua_workload(run.asking, classes);
    return;
  }
  const auto& box = check_object<TraceBox>(L, index, "workload");
  run.workload = trace_workload(*box);
  run.trace_requests = static_cast<std::int64_t>(box->trace->rows.size());
  if (classes.empty()) classes = box->trace->classes;
}

void bind_traces(lua_State* L) {
  set_function(L, "trace_open", guarded<trace_open>);
  set_function(L, "trace_rows", guarded<trace_rows>);
  set_function(L, "trace_next", guarded<trace_next>);
  set_function(L, "trace_time_unit", guarded<trace_time_unit>);
  set_function(L, "trace_column", guarded<trace_column_of>);
  set_function(L, "trace_arrivals", guarded<trace_arrivals>);
  set_function(L, "trace_describe", guarded<trace_describe>);
}

}  // namespace rooflua::script
