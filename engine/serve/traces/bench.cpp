#include "serve/traces/bench.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "base/user/json_documents.h"
#include "serve/traces/builder.h"
#include "serve/traces/columns.h"

namespace rooflua {

namespace {

struct Result {
  const Json* document = nullptr;
  std::string where;  // the file, and the line or entry where there are several
  std::string name;   // what the file calls it; "" where it has no name
  int line = 1;       // of the document
};

void add_results(const Json& value, const std::string& where, int line, std::vector<Result>& out) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      const std::string entry = "[" + std::to_string(i + 1) + "]";
      add_results(value.items()[i], where + (where.ends_with(']') ? "" : ": ") + entry, line, out);
    }
    return;
  }
  const std::string label = text_of(value, "label");
  out.push_back({&value, where, label.empty() ? text_of(value, "tag") : label, line});
}

const Result& chosen(const std::vector<Result>& results, const std::string& file,
                     const std::string& run) {
  if (results.empty()) throw Error(file, "no data: it is empty");
  if (results.size() == 1 && run.empty()) return results.front();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!run.empty() && (run == std::to_string(i + 1) || run == results[i].name)) return results[i];
  }
  const std::string count = std::to_string(results.size());
  if (run.empty()) {
    throw Error(file, "holds " + count + " results; name one of them: run = \"1\" to run = \"" +
                          count + "\"");
  }
  throw Error(file, "run: expected \"1\" to \"" + count + "\", found '" + run + "'");
}

/// Reads the lists of one result.
class Lists {
 public:
  explicit Lists(const Result& result) : result_(result) {}

  /// The list at a key with `count` entries; null pointer where it is missing or empty.
  const Json::Array* find(std::string_view key, std::optional<std::size_t> count) const {
    const Json* list = result_.document->find(key);
    if (list == nullptr || list->is_null()) return nullptr;
    if (!list->is_array()) fail(key, "expected a list, found " + std::string(kind_name(*list)));
    if (list->items().empty()) return nullptr;
    if (count && list->items().size() != *count) {
      fail(key, "expected an entry for each of " + std::to_string(*count) + " requests, found " +
                    std::to_string(list->items().size()));
    }
    return &list->items();
  }
  const Json::Array& need(std::string_view key, std::optional<std::size_t> count) const {
    if (const Json::Array* list = find(key, count)) return *list;
    fail(key,
         "is missing; vllm bench serve writes it with --save-detailed. Without it the file is no "
         "trace: state its load with lengths and a rate, as --workload 300+20 --rate 10");
  }
  double number(std::string_view key, const Json::Array& list, std::size_t i) const {
    const Json& value = list[i];
    if (value.is_number() && value.number() >= 0 && std::isfinite(value.number()))
      return value.number();
    fail(std::string(key) + "[" + std::to_string(i + 1) + "]",
         "expected a number, 0 or more, found " + dump_json(value).substr(0, 40));
  }
  /// A whole number of tokens, as digits.
  std::string tokens(std::string_view key, const Json::Array& list, std::size_t i) const {
    const double value = number(key, list, i);
    constexpr double most = 2147483647;
    if (value == std::floor(value) && value <= most)
      return std::to_string(static_cast<std::int64_t>(value));
    fail(std::string(key) + "[" + std::to_string(i + 1) + "]",
         "expected a whole number of tokens below 2^31, found " + json_number(value));
  }
  [[noreturn]] void fail(std::string_view key, const std::string& what) const {
    throw Error(result_.where + ": " + std::string(key), what);
  }

 private:
  const Result& result_;
};

bool is_infinite(const Json* rate) {
  if (rate == nullptr) return false;
  if (rate->is_text()) return rate->text() == "inf" || rate->text() == "Infinity";
  return rate->is_number() && std::isinf(rate->number());
}

/// Seconds from the first start to each; zeros where all requests were sent at once.
std::vector<double> starts_of(const Json& document, const Lists& lists, std::size_t count) {
  const Json* clients = document.find("max_concurrency");
  const Json::Array* list = lists.find("start_times", count);
  if (list == nullptr && is_infinite(document.find("request_rate")) &&
      (clients == nullptr || clients->is_null()))
    return std::vector<double>(count, 0.0);
  if (list == nullptr) list = &lists.need("start_times", count);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(lists.number("start_times", *list, i));
  const double first = *std::min_element(out.begin(), out.end());
  for (double& start : out) start -= first;
  return out;
}

bool has_failed(const Json::Array* errors, std::size_t i) {
  return errors != nullptr && (*errors)[i].is_text() && !(*errors)[i].text().empty();
}

}  // namespace

bool is_bench(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  return has("\"input_lens\"") || has("\"mean_ttft_ms\"") || has("\"total_input_tokens\"");
}

void read_bench(std::string_view text, Trace& trace, const TraceOptions& options) {
  const std::vector<JsonDocument> documents = parse_json_documents(text, trace.file);
  std::vector<Result> results;
  for (const JsonDocument& each : documents) {
    add_results(each.value, documents.size() > 1 ? at(trace.file, each.line) : trace.file,
                each.line, results);
  }
  const Result& result = chosen(results, trace.file, options.run);
  const Lists lists(result);
  const Json::Array& inputs = lists.need("input_lens", std::nullopt);
  const std::size_t count = inputs.size();
  const Json::Array& outputs = lists.need("output_lens", count);
  const Json::Array* errors = lists.find("errors", count);
  const std::vector<double> starts = starts_of(*result.document, lists, count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
  TraceBuilder builder(trace, options);
  builder.set_arrival_unit({TraceRole::arrival, 1});
  for (const std::size_t i : order) {
    if (builder.full()) break;
    RawTraceRow raw;
    raw.line = result.line;
    const std::string arrival = json_number(starts[i]);
    const std::string prompt = lists.tokens("input_lens", inputs, i);
    const std::string output = lists.tokens("output_lens", outputs, i);
    raw[TraceRole::arrival] = arrival;
    raw[TraceRole::prompt] = prompt;
    raw[TraceRole::output] = output;
    if (has_failed(errors, i) || output == "0") {
      builder.leave_out("failed when recorded", raw);
    } else {
      builder.append(raw);
    }
  }
  builder.finish();
}

}  // namespace rooflua
