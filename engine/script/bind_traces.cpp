// Recorded requests for Lua: natives that scripts/lib/rooflua/trace.lua wraps.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "script/trace_box.h"

namespace rooflua::script {

namespace {

/// A trace as the engine's workload.
class TraceWorkload : public Workload {
 public:
  /// max_tokens: the limit that every request declares; 0 = none, -1 = its own length.
  TraceWorkload(std::shared_ptr<const Trace> trace, double time_scale, std::int32_t max_tokens)
      : trace_(std::move(trace)), time_scale_(time_scale), max_tokens_(max_tokens) {}
  bool next(RequestSpec& spec) override {
    if (cursor_ >= trace_->rows.size()) return false;
    const TraceRow& row = trace_->rows[cursor_++];
    spec = RequestSpec{};
    spec.arrival_s = row.arrival_s * time_scale_;
    spec.prompt_tokens = static_cast<std::int32_t>(row.prompt_tokens);
    spec.output_tokens = static_cast<std::int32_t>(row.output_tokens);
    if (max_tokens_ > 0) spec.output_tokens = std::min(spec.output_tokens, max_tokens_);
    spec.max_tokens = max_tokens_ < 0 ? spec.output_tokens : max_tokens_;
    spec.priority = row.priority;
    spec.klass = std::max(row.class_index, 0);
    spec.session = row.session;
    spec.segments = trace_->content(row);
    return true;
  }
  bool shares_content() const override { return !trace_->segments.empty(); }
  std::unique_ptr<Workload> fork() const override { return std::make_unique<TraceWorkload>(*this); }

 private:
  std::shared_ptr<const Trace> trace_;
  double time_scale_;
  std::int32_t max_tokens_;
  std::size_t cursor_ = 0;
};

int trace_open(lua_State* L) {
  const std::string path = check_text(L, 1, "trace: path");
  const std::string format = check_text(L, 2, "trace: format");
  const double limit = check_number(L, 3, "trace: limit");
  const double time_scale = check_number(L, 5, "trace: time_scale");
  const double max_tokens = check_number(L, 6, "trace: max_output_tokens");
  if (!(limit >= 0 && limit < 1e15) || !(time_scale >= 0 && std::isfinite(time_scale))) {
    throw Error("trace", "limit and time_scale must be 0 or more");
  }
  if (!(max_tokens >= -1 && max_tokens <= std::numeric_limits<std::int32_t>::max())) {
    throw Error("trace", "max_output_tokens must be a whole number or \"exact\"");
  }
  TraceOptions options;
  if (!format.empty()) options.format = trace_format(format, "trace: format");
  options.limit = static_cast<std::size_t>(limit);
  options.sort = lua_toboolean(L, 4) != 0;
  auto box = std::make_shared<TraceBox>();
  box->trace = std::make_shared<Trace>(read_trace(path, options));
  box->time_scale = time_scale;
  box->max_tokens = static_cast<std::int32_t>(max_tokens);
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
  push_json(L, out, false);
  return 1;
}

}  // namespace

std::unique_ptr<Workload> trace_workload(const TraceBox& box) {
  return std::make_unique<TraceWorkload>(box.trace, box.time_scale, box.max_tokens);
}

void bind_traces(lua_State* L) {
  set_function(L, "trace_open", guarded<trace_open>);
  set_function(L, "trace_rows", guarded<trace_rows>);
}

}  // namespace rooflua::script
