#include "serve/traces/columns.h"

#include <algorithm>
#include <array>
#include <span>

namespace rooflua {

namespace {

struct Spelling {
  std::string_view text;
  TraceColumn column;
};

constexpr Spelling blis_v2_columns[] = {{"arrival_time_us", {TraceRole::arrival, 1e6}},
                                        {"input_tokens", {TraceRole::prompt}},
                                        {"output_tokens", {TraceRole::output}},
                                        {"slo_class", {TraceRole::request_class}},
                                        {"session_id", {TraceRole::session}},
                                        {"round_index", {TraceRole::round}},
                                        {"vllm_priority", {TraceRole::priority}},
                                        {"prefix_group", {TraceRole::prefix_group}},
                                        {"prefix_length", {TraceRole::prefix_length}},
                                        {"server_input_tokens", {TraceRole::server_prompt}},
                                        {"status", {TraceRole::failure}}};

constexpr Spelling blis_training_columns[] = {{"arrival_us", {TraceRole::arrival, 1e6}},
                                              {"input_tokens", {TraceRole::prompt}},
                                              {"output_tokens_true", {TraceRole::output}},
                                              {"prompt_id", {TraceRole::prompt_id}},
                                              {"error", {TraceRole::failure}}};

constexpr Spelling azure_columns[] = {{"timestamp", {TraceRole::arrival}},
                                      {"contexttokens", {TraceRole::prompt}},
                                      {"generatedtokens", {TraceRole::output}}};

constexpr Spelling burstgpt_columns[] = {
    {"timestamp", {TraceRole::arrival, 0, true}}, {"timestamp_s", {TraceRole::arrival, 1}},
    {"request_tokens", {TraceRole::prompt}},      {"response_tokens", {TraceRole::output}},
    {"model", {TraceRole::request_class}},        {"session_id", {TraceRole::session}}};

constexpr Spelling mooncake_columns[] = {{"timestamp", {TraceRole::arrival}},
                                         {"input_length", {TraceRole::prompt}},
                                         {"output_length", {TraceRole::output}},
                                         {"hash_ids", {TraceRole::hash_ids}}};

constexpr Spelling plain_columns[] = {
    {"arrival_s", {TraceRole::arrival, 1}},
    {"arrival_time_s", {TraceRole::arrival, 1}},
    {"arrival", {TraceRole::arrival}},
    {"arrival_time", {TraceRole::arrival}},
    {"arrived_at", {TraceRole::arrival}},
    {"time_s", {TraceRole::arrival, 1}},
    {"timestamp", {TraceRole::arrival}},
    {"timestamp_s", {TraceRole::arrival, 1}},
    {"time_ms", {TraceRole::arrival, 1e3}},
    {"time_us", {TraceRole::arrival, 1e6}},
    {"arrival_ns", {TraceRole::arrival, 1e9}},
    {"arrival_time_ns", {TraceRole::arrival, 1e9}},
    {"timestamp_ns", {TraceRole::arrival, 1e9}},
    {"arrival_ms", {TraceRole::arrival, 1e3}},
    {"arrival_time_ms", {TraceRole::arrival, 1e3}},
    {"timestamp_ms", {TraceRole::arrival, 1e3}},
    {"arrival_us", {TraceRole::arrival, 1e6}},
    {"arrival_time_us", {TraceRole::arrival, 1e6}},
    {"timestamp_us", {TraceRole::arrival, 1e6}},
    {"prompt_tokens", {TraceRole::prompt}},
    {"prompt_len", {TraceRole::prompt}},
    {"prompt_length", {TraceRole::prompt}},
    {"num_prompt_tokens", {TraceRole::prompt}},
    {"num_prefill_tokens", {TraceRole::prompt}},
    {"input_tokens", {TraceRole::prompt}},
    {"input_toks", {TraceRole::prompt}},
    {"input_len", {TraceRole::prompt}},
    {"input_length", {TraceRole::prompt}},
    {"contexttokens", {TraceRole::prompt}},
    {"output_tokens", {TraceRole::output}},
    {"output_toks", {TraceRole::output}},
    {"output_len", {TraceRole::output}},
    {"output_length", {TraceRole::output}},
    {"num_output_tokens", {TraceRole::output}},
    {"num_decode_tokens", {TraceRole::output}},
    {"completion_tokens", {TraceRole::output}},
    {"generated_tokens", {TraceRole::output}},
    {"generatedtokens", {TraceRole::output}},
    {"class", {TraceRole::request_class}},
    {"slo_class", {TraceRole::request_class}},
    {"session", {TraceRole::session}},
    {"session_id", {TraceRole::session}},
    {"round", {TraceRole::round}},
    {"round_index", {TraceRole::round}},
    {"priority", {TraceRole::priority}},
    {"adapter", {TraceRole::adapter}},
    {"tenant", {TraceRole::tenant}},
    {"prompt_id", {TraceRole::prompt_id}},
    {"prefix_group", {TraceRole::prefix_group}},
    {"prefix_length", {TraceRole::prefix_length}},
    {"prefix_tokens", {TraceRole::prefix_length}},
    {"hash_ids", {TraceRole::hash_ids}},
    {"max_output_tokens", {TraceRole::limit}},
    {"cancelled_s", {TraceRole::cancelled}},
    {"images", {TraceRole::images}},
    {"audio_s", {TraceRole::audio_s}},
    {"video", {TraceRole::video}},
};

std::span<const Spelling> columns_of(TraceFormat format) {
  switch (format) {
    case TraceFormat::azure:
      return azure_columns;
    case TraceFormat::burstgpt:
      return burstgpt_columns;
    case TraceFormat::mooncake:
      return mooncake_columns;
    case TraceFormat::blis_v2:
      return blis_v2_columns;
    case TraceFormat::blis_training:
      return blis_training_columns;
    case TraceFormat::plain:
    case TraceFormat::requests:
    case TraceFormat::aiperf:
    case TraceFormat::otlp:
    case TraceFormat::vllm_bench:
      break;
  }
  return plain_columns;
}

/// "cached_tokens", "num_cached_tokens", "cache_read_input_tokens".
bool counts_hits(std::string_view column) {
  const auto holds = [&](std::string_view part) {
    return column.find(part) != std::string_view::npos;
  };
  return holds("tok") && (holds("cached") || holds("cache_read") || holds("cache_hit")) &&
         !holds("uncached");
}

bool has(const std::vector<std::string>& columns, std::string_view name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

}  // namespace

TraceFormat detect_format(const std::vector<std::string>& columns) {
  const auto all = [&](std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), [&](auto name) { return has(columns, name); });
  };
  if (all({"contexttokens", "generatedtokens"})) return TraceFormat::azure;
  if (all({"request_tokens", "response_tokens"})) return TraceFormat::burstgpt;
  if (all({"input_length", "output_length", "hash_ids"})) return TraceFormat::mooncake;
  if (all({"arrival_us", "output_tokens_true"})) return TraceFormat::blis_training;
  if (all({"arrival_time_us", "prefix_group", "round_index"})) return TraceFormat::blis_v2;
  if (all({"arrival_s", "prompt_tokens", "output_tokens", "ttft_s"})) return TraceFormat::requests;
  return TraceFormat::plain;
}

std::string plain_spelling(std::string_view column) {
  std::string out;
  for (const char c : column) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (word)
      out += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

TraceColumn trace_column(TraceFormat format, std::string_view column) {
  if (format == TraceFormat::requests && column == "outcome") return {TraceRole::failure};
  if (format == TraceFormat::requests && column == "attempt") return {TraceRole::attempt};
  for (const Spelling& spelling : columns_of(format)) {
    if (spelling.text == column) return spelling.column;
  }
  if (counts_hits(column)) return {TraceRole::cached};
  return {};
}

std::string spellings_of(TraceFormat format, TraceRole role) {
  std::string known;
  for (const Spelling& spelling : columns_of(format)) {
    if (spelling.column.role == role)
      known += (known.empty() ? "" : ", ") + std::string(spelling.text);
  }
  return known;
}

}  // namespace rooflua
