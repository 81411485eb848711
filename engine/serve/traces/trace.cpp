#include "serve/traces/trace.h"

#include <array>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::array<std::string_view, 10> format_names = {
    "plain",   "requests",      "azure",  "burstgpt", "mooncake",
    "blis_v2", "blis_training", "aiperf", "otlp",     "vllm_bench"};

}  // namespace

std::string_view name(TraceFormat format) {
  return format_names[static_cast<std::size_t>(format)];
}

TraceFormat trace_format(std::string_view text, const std::string& where) {
  for (std::size_t i = 0; i < format_names.size(); ++i) {
    if (format_names[i] == text) return static_cast<TraceFormat>(i);
  }
  const std::vector<std::string> known(format_names.begin(), format_names.end());
  throw Error(where, unknown_name("trace format", text, known));
}

std::optional<Unsent> left_out(const Trace& trace) {
  if (trace.skipped.empty()) return std::nullopt;
  Unsent out{trace.file, "rows", trace.read, {}};
  for (const auto& [why, rows] : trace.skipped)
    out.reasons.push_back({why, rows.count, rows.first_line});
  return out;
}

}  // namespace rooflua
