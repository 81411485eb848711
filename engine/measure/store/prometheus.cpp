#include "measure/store/prometheus.h"

#include <map>
#include <set>

#include "base/error.h"
#include "base/json_text.h"

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
  void add(const std::string& family, const char* type, const std::string& line) {
    auto& [kind, lines] = families_[family];
    kind = type;
    lines += line + "\n";
  }
  std::string text() const {
    std::string out;
    for (const auto& [name, family] : families_)
      out += "# TYPE " + name + " " + family.first + "\n" + family.second;
    return out;
  }

 private:
  std::map<std::string, std::pair<std::string, std::string>> families_;
};

double number(const Json& object, const char* key) {
  const Json* value = object.find(key);
  return value != nullptr && value->is_number() ? value->number() : 0;
}

void add_run(Exposition& out, const NamedRun& run) {
  const Json document = parse_json(run.row.document, "document");
  const Json* summary = document.find("summary");
  if (summary == nullptr) return;
  const std::string labels = "run=" + quoted(run.row.run_hash) + ",build=" + quoted(run.row.build) +
                             ",name=" + quoted(run.name);
  std::set<std::string> named;
  for (const Named& each : counters) {
    named.insert(each.metric);
    if (const Json* value = summary->find(each.metric); value != nullptr && value->is_number())
      out.add(each.name, "counter",
              std::string(each.name) + "{" + labels + "} " + dump_json(*value));
  }
  for (const Named& each : summaries) {
    const Json* values = summary->find(each.metric);
    if (values == nullptr || !values->is_object()) continue;
    const std::string name = each.name;
    for (const Named& quantile : quantiles) {
      if (const Json* value = values->find(quantile.metric); value != nullptr && value->is_number())
        out.add(name, "summary",
                name + "{" + labels + ",quantile=\"" + quantile.name + "\"} " + dump_json(*value));
    }
    const double count = number(*values, "count");
    out.add(name, "summary",
            name + "_sum{" + labels + "} " + json_number(number(*values, "mean") * count));
    out.add(name, "summary", name + "_count{" + labels + "} " + json_number(count));
  }
  for (const Json::Member& each : summary->members()) {
    if (named.count(each.key) > 0 || !each.value.is_number()) continue;
    const std::string name = "rooflua_" + each.key;
    out.add(name, "gauge", name + "{" + labels + "} " + dump_json(each.value));
  }
}

}  // namespace

std::string prometheus_of(const ResultStore& store, const FrameChoice& choice) {
  Exposition out;
  each_chosen(store, choice, [&](const NamedRun& run) { add_run(out, run); });
  return out.text();
}

}  // namespace rooflua
