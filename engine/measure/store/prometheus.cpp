#include "measure/store/prometheus.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "base/json_lines.h"

namespace rooflua {

namespace {

struct Named {
  const char *metric, *name;
};

constexpr Named counters[] = {{"prompt_tokens", "vllm:prompt_tokens_total"},
                              {"output_tokens", "vllm:generation_tokens_total"},
                              {"preemptions", "vllm:num_preemptions_total"},
                              {"completed", "vllm:request_success_total"}};
constexpr Named summaries[] = {{"ttft_s", "vllm:time_to_first_token_seconds"},
                               {"tpot_s", "vllm:request_time_per_output_token_seconds"},
                               {"itl_s", "vllm:inter_token_latency_seconds"},
                               {"e2e_s", "vllm:e2e_request_latency_seconds"},
                               {"queue_s", "vllm:request_queue_time_seconds"}};
constexpr Named quantiles[] = {{"p50", "0.5"}, {"p90", "0.9"}, {"p95", "0.95"}, {"p99", "0.99"}};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

/// Lines by the name of their metric, because each metric has one header for all runs.
class Exposition {
 public:
  /// A line: NAME SUFFIX {LABELS} VALUE
  void add(const std::string& name, const char* type, const char* suffix, const std::string& labels,
           std::string_view value) {
    auto& [kind, lines] = families_[name];
    kind = type;
    lines.append(name).append(suffix).append("{").append(labels).append("} ");
    lines.append(value).append("\n");
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, family] : families_) {
      out.append("# TYPE ").append(name).append(" ").append(family.first).append("\n");
      out += family.second;
    }
    return out;
  }

 private:
  std::map<std::string, std::pair<const char*, std::string>> families_;
};

using Member = JsonLines::Member;

/// The members of the object at `key`; none if there is no such object. Thousands of documents are
/// written as lines, so values stay the text that they are.
std::vector<Member> object_at(const std::vector<Member>& members, std::string_view key) {
  for (const Member& each : members) {
    if (each.key == key && !each.is_text && each.value.front() == '{')
      return members_in(each.value, "document");
  }
  return {};
}

/// The number at `key`; null pointer if there is none.
const Member* number_at(const std::vector<Member>& members, std::string_view key) {
  for (const Member& each : members) {
    if (each.key == key && each.is_number()) return &each;
  }
  return nullptr;
}

void add_summary(Exposition& out, const std::string& name, const std::string& labels,
                 const std::vector<Member>& values) {
  for (const Named& quantile : quantiles) {
    if (const Member* found = number_at(values, quantile.metric))
      out.add(name, "summary", "", labels + ",quantile=\"" + quantile.name + "\"", found->value);
  }
  const auto number = [&](std::string_view key) {
    const Member* found = number_at(values, key);
    return found == nullptr ? 0 : found->number();
  };
  out.add(name, "summary", "_sum", labels, json_number(number("mean") * number("count")));
  out.add(name, "summary", "_count", labels, json_number(number("count")));
}

void add_run(Exposition& out, const NamedRun& run) {
  const std::vector<Member> summary =
      object_at(members_in(run.row.document, "document"), "summary");
  const std::string labels = "run=" + quoted(run.row.run_hash) + ",build=" + quoted(run.row.build) +
                             ",name=" + quoted(run.name);
  for (const Named& each : counters) {
    if (const Member* found = number_at(summary, each.metric))
      out.add(each.name, "counter", "", labels, found->value);
  }
  for (const Named& each : summaries) {
    const std::vector<Member> values = object_at(summary, each.metric);
    if (!values.empty()) add_summary(out, each.name, labels, values);
  }
  for (const Member& each : summary) {
    const auto is_it = [&](const Named& counter) { return each.key == counter.metric; };
    if (!each.is_number() || std::any_of(std::begin(counters), std::end(counters), is_it)) continue;
    out.add("rooflua_" + std::string(each.key), "gauge", "", labels, each.value);
  }
}

}  // namespace

std::string prometheus_of(const ResultStore& store, const FrameChoice& choice) {
  Exposition out;
  each_chosen(store, choice, [&](const NamedRun& run) { add_run(out, run); });
  return out.text();
}

}  // namespace rooflua
