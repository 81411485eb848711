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

/// {units, mean, stddev, min, p50, p90, p95, p99, max}
Json statistics(const Json& values, const char* units) {
  Json out = Json::object();
  out["units"] = units;
  for (const Named& each :
       {Named{"mean", "mean"}, Named{"std", "stddev"}, Named{"min", "min"}, Named{"p50", "p50"},
        Named{"p90", "p90"}, Named{"p95", "p95"}, Named{"p99", "p99"}, Named{"max", "max"}}) {
    if (const Json* value = values.find(each.metric); value != nullptr && value->is_number())
      out[each.name] = *value;
  }
  return out;
}

Json rate(double per_s, const char* units) {
  Json out = Json::object();
  out["units"] = units;
  out["mean"] = per_s;
  return out;
}

Json throughput(const Json& summary) {
  const double duration_s = number(summary, "duration_s");
  const double in = duration_s > 0 ? number(summary, "prompt_tokens") / duration_s : 0;
  const double made = number(summary, "output_tokens_per_s");
  Json out = Json::object();
  out["input_token_rate"] = rate(in, "tokens/s");
  out["output_token_rate"] = rate(made, "tokens/s");
  out["total_token_rate"] = rate(in + made, "tokens/s");
  out["requests_rate"] = rate(number(summary, "requests_per_s"), "queries/s");
  return out;
}

}  // namespace

std::string prometheus_of(const ResultStore& store, const FrameChoice& choice) {
  Exposition out;
  each_chosen(store, choice, [&](const NamedRun& run) { add_run(out, run); });
  return out.text();
}

Json llm_d_report(const NamedRun& run) {
  const Json document = parse_json(run.row.document, "document");
  const Json* summary = document.find("summary");
  if (summary == nullptr || summary->find("ttft_s") == nullptr) {
    throw Error("--format llm-d", "run " + run.row.run_hash + " (" + run.name +
                                      ") has no requests; choose runs of kind serve with --set");
  }
  Json out = Json::object(), config = Json::object(), requests = Json::object();
  out["version"] = "0.2";
  out["run"]["uid"] = run.row.run_hash;
  if (!run.set.set_hash.empty()) out["run"]["eid"] = run.set.set_hash;
  out["run"]["time"]["duration"] = "PT" + json_number(number(*summary, "duration_s")) + "S";
  config["scenario"] = run.row.scenario;
  config["variant"] = run.name;
  config["seed"] = run.row.seed;
  config["parameters"] = parse_json(run.row.parameters, "parameters");
  if (const Json* evidence = summary->find("evidence")) config["evidence"] = *evidence;
  Json component = Json::object();
  component["metadata"]["kind"] = "generic";
  component["metadata"]["label"] = "rooflua";
  component["metadata"]["cfg_id"] = run.row.run_hash;
  component["standardized"]["tool"] = "rooflua (simulated)";
  component["standardized"]["tool_version"] = run.row.build;
  component["native"]["config"] = std::move(config);
  out["scenario"]["stack"] = Json(Json::Array{std::move(component)});
  const std::int64_t total = static_cast<std::int64_t>(number(*summary, "requests"));
  std::int64_t failed = 0;
  if (const Json* reasons = summary->find("failed"); reasons != nullptr && reasons->is_object()) {
    for (const Json::Member& each : reasons->members()) failed += each.value.integer();
  }
  requests["total"] = total;
  requests["failures"] = failed;
  requests["incomplete"] =
      total - failed - static_cast<std::int64_t>(number(*summary, "completed"));
  Json latency = Json::object();
  for (const auto& [metric, name, units] :
       {std::tuple{"ttft_s", "time_to_first_token", "s"},
        std::tuple{"tpot_s", "time_per_output_token", "s/token"},
        std::tuple{"itl_s", "inter_token_latency", "s/token"},
        std::tuple{"e2e_s", "request_latency", "s"}}) {
    // Statistics without a mean are not allowed there: nothing was completed.
    if (const Json* values = summary->find(metric);
        values != nullptr && values->find("mean") != nullptr && values->find("mean")->is_number())
      latency[name] = statistics(*values, units);
  }
  Json aggregate = Json::object();
  aggregate["requests"] = std::move(requests);
  aggregate["latency"] = std::move(latency);
  aggregate["throughput"] = throughput(*summary);
  out["results"]["request_performance"]["aggregate"] = std::move(aggregate);
  return out;
}

}  // namespace rooflua
