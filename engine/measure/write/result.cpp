#include "measure/write/result.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fields.h"

namespace rooflua {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Figure {
  const char* key;
  double Statistics::*member;
};
constexpr Figure figures[] = {{"mean", &Statistics::mean}, {"std", &Statistics::std},
                              {"min", &Statistics::min},   {"p50", &Statistics::p50},
                              {"p90", &Statistics::p90},   {"p95", &Statistics::p95},
                              {"p99", &Statistics::p99},   {"max", &Statistics::max}};

struct Metric {
  const char* key;
  Statistics GroupSummary::*member;
};
constexpr Metric metrics[] = {{"ttft_s", &GroupSummary::ttft_s},
                              {"tpot_s", &GroupSummary::tpot_s},
                              {"e2e_s", &GroupSummary::e2e_s},
                              {"queue_s", &GroupSummary::queue_s}};

Json limits(const Slo& slo) {
  Json out = Json::object();
  if (slo.ttft_s) out["ttft_s"] = *slo.ttft_s;
  if (slo.tpot_s) out["tpot_s"] = *slo.tpot_s;
  if (slo.e2e_s) out["e2e_s"] = *slo.e2e_s;
  return out;
}

Json group(const GroupSummary& g, bool with_goodput) {
  Json out = Json::object();
  out["name"] = g.name;
  out["completed"] = g.completed;
  out["failed"] = g.failed;
  out["prompt_tokens"] = g.prompt_tokens;
  out["output_tokens"] = g.output_tokens;
  out["cached_tokens"] = g.cached_tokens;
  out["requests_per_s"] = g.requests_per_s;
  out["output_tokens_per_s"] = g.output_tokens_per_s;
  if (with_goodput) out["goodput_per_s"] = g.goodput_per_s;
  for (const Metric& metric : metrics) out[metric.key] = to_json(g.*metric.member);
  return out;
}

Statistics read_statistics(const Fields& fields) {
  Statistics s;
  s.count = fields.integer("count").value_or(0);
  for (const Figure& figure : figures) s.*figure.member = fields.number(figure.key).value_or(nan);
  return s;
}

GroupSummary read_group(const Fields& fields) {
  GroupSummary g;
  g.name = fields.text("name").value_or("");
  g.completed = fields.integer("completed").value_or(0);
  g.failed = fields.integer("failed").value_or(0);
  g.prompt_tokens = fields.integer("prompt_tokens").value_or(0);
  g.output_tokens = fields.integer("output_tokens").value_or(0);
  g.cached_tokens = fields.integer("cached_tokens").value_or(0);
  g.requests_per_s = fields.need_number("requests_per_s");
  g.output_tokens_per_s = fields.need_number("output_tokens_per_s");
  g.goodput_per_s = fields.number("goodput_per_s").value_or(0);
  for (const Metric& metric : metrics)
    g.*metric.member = read_statistics(fields.need_table(metric.key));
  return g;
}

const Json::Array& items(const Json* list) {
  static const Json::Array none;
  return list != nullptr && list->is_array() ? list->items() : none;
}

std::string text_of(const Json* value) {
  return value == nullptr ? "absent" : dump_json(*value);
}

void compare_at(const Json* a, const Json* b, const std::string& path, double tolerance,
                Comparison& out) {
  if (a != nullptr && b != nullptr && a->is_object() && b->is_object()) {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto& member : a->members()) {
      compare_at(&member.value, b->find(member.key), prefix + member.key, tolerance, out);
    }
    for (const auto& member : b->members()) {
      if (a->find(member.key) == nullptr)
        compare_at(nullptr, &member.value, prefix + member.key, tolerance, out);
    }
    return;
  }
  if (a != nullptr && b != nullptr && a->is_array() && b->is_array()) {
    for (std::size_t i = 0; i < std::max(a->items().size(), b->items().size()); ++i) {
      compare_at(i < a->items().size() ? &a->items()[i] : nullptr,
                 i < b->items().size() ? &b->items()[i] : nullptr,
                 path + "[" + std::to_string(i) + "]", tolerance, out);
    }
    return;
  }
  ++out.compared;
  const bool numbers = a != nullptr && b != nullptr && a->is_number() && b->is_number();
  const bool same = a != nullptr && b != nullptr && !numbers && text_of(a) == text_of(b);
  double relative = same ? 0 : infinite;
  if (numbers) {
    const double largest = std::max(std::abs(a->number()), std::abs(b->number()));
    relative = largest == 0 ? 0 : std::abs(a->number() - b->number()) / largest;
  }
  out.largest = std::max(out.largest, relative);
  if (relative > tolerance) out.differences.push_back({path, text_of(a), text_of(b), relative});
}

}  // namespace

Json to_json(const Statistics& statistics) {
  Json out = Json::object();
  out["count"] = statistics.count;
  for (const Figure& figure : figures) out[figure.key] = statistics.*figure.member;
  return out;
}

Json to_json(const Summary& s) {
  Json out = Json::object();
  out["requests"] = s.requests;
  out["completed"] = s.completed;
  out["failed"] = Json::object();
  for (int i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const std::int64_t count = s.ended[static_cast<std::size_t>(i)];
    if (outcome != Outcome::completed && count > 0) out["failed"][name(outcome)] = count;
  }
  out["preemptions"] = s.preemptions;
  out["steps"] = s.steps;
  out["duration_s"] = s.duration_s;
  out["requests_per_s"] = s.requests_per_s;
  out["output_tokens_per_s"] = s.output_tokens_per_s;
  out["ttft_s"] = to_json(s.ttft_s);
  out["tpot_s"] = to_json(s.tpot_s);
  out["itl_s"] = to_json(s.itl_s);
  out["e2e_s"] = to_json(s.e2e_s);
  out["queue_s"] = to_json(s.queue_s);
  out["goodput_per_s"] = s.goodput_per_s ? Json(*s.goodput_per_s) : Json();
  if (s.slo.given()) out["slo"] = limits(s.slo);
  out["kv_used_frac_max"] = s.kv_used_frac_max;
  out["evidence"] = Json::object();
  for (int i = 0; i < evidence_count; ++i) {
    const double share = s.evidence[static_cast<std::size_t>(i)];
    if (share > 0) out["evidence"][name(static_cast<Evidence>(i))] = share;
  }
  out["prompt_tokens"] = s.prompt_tokens;
  out["output_tokens"] = s.output_tokens;
  out["cached_tokens"] = s.cached_tokens;
  out["peak_output_tokens_per_s"] = s.peak_output_tokens_per_s;
  out["peak_concurrency"] = s.peak_concurrency;
  out["exact"] = s.exact;
  const bool with_goodput = s.goodput_per_s.has_value();
  if (!s.classes.empty()) out["classes"] = Json::array();
  for (const GroupSummary& g : s.classes) out["classes"].push_back(group(g, with_goodput));
  out["replicas"] = Json::array();
  for (const ReplicaSummary& replica : s.replicas) {
    Json entry = group(replica.requests, with_goodput);
    entry["steps"] = replica.steps;
    entry["preemptions"] = replica.preemptions;
    entry["busy_frac"] = replica.busy_frac;
    entry["decode_batch_mean"] = replica.decode_batch_mean;
    entry["kv_used_frac_max"] = replica.kv_used_frac_max;
    out["replicas"].push_back(std::move(entry));
  }
  if (s.sessions) {
    out["sessions"]["count"] = s.sessions->count;
    out["sessions"]["turns"] = to_json(s.sessions->turns);
    out["sessions"]["duration_s"] = to_json(s.sessions->duration_s);
  }
  return out;
}

Json to_json(const Result& result) {
  Json out = Json::object();
  out["schema"] = result_schema;
  out["scenario"] = result.scenario;
  if (!result.title.empty()) out["title"] = result.title;
  out["seed"] = result.seed;
  out["variants"] = Json::array();
  for (const Variant& variant : result.variants) {
    Json entry = Json::object();
    entry["name"] = variant.name;
    entry["parameters"] = variant.parameters;
    entry["summary"] = to_json(variant.summary);
    out["variants"].push_back(std::move(entry));
  }
  return out;
}

Summary summary_from_json(const Json& json, const std::string& file) {
  const Fields f(json, file);
  Summary s;
  s.requests = f.integer("requests").value_or(0);
  s.completed = f.integer("completed").value_or(0);
  s.ended[static_cast<std::size_t>(Outcome::completed)] = s.completed;
  const Fields failed = f.need_table("failed"), evidence = f.need_table("evidence");
  for (int i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcome != Outcome::completed)
      s.ended[static_cast<std::size_t>(i)] = failed.integer(name(outcome)).value_or(0);
  }
  for (int i = 0; i < evidence_count; ++i) {
    s.evidence[static_cast<std::size_t>(i)] =
        evidence.number(name(static_cast<Evidence>(i))).value_or(0);
  }
  s.preemptions = f.integer("preemptions").value_or(0);
  s.steps = f.integer("steps").value_or(0);
  s.duration_s = f.need_number("duration_s");
  s.requests_per_s = f.need_number("requests_per_s");
  s.output_tokens_per_s = f.need_number("output_tokens_per_s");
  s.ttft_s = read_statistics(f.need_table("ttft_s"));
  s.tpot_s = read_statistics(f.need_table("tpot_s"));
  s.itl_s = read_statistics(f.need_table("itl_s"));
  s.e2e_s = read_statistics(f.need_table("e2e_s"));
  s.queue_s = read_statistics(f.need_table("queue_s"));
  s.goodput_per_s = f.number("goodput_per_s");
  if (const auto slo = f.table("slo"))
    s.slo = {slo->number("ttft_s"), slo->number("tpot_s"), slo->number("e2e_s")};
  s.kv_used_frac_max = f.need_number("kv_used_frac_max");
  s.prompt_tokens = f.integer("prompt_tokens").value_or(0);
  s.output_tokens = f.integer("output_tokens").value_or(0);
  s.cached_tokens = f.integer("cached_tokens").value_or(0);
  s.peak_output_tokens_per_s = f.number("peak_output_tokens_per_s").value_or(0);
  s.peak_concurrency = f.integer("peak_concurrency").value_or(0);
  s.exact = f.boolean("exact").value_or(true);
  for (const Json& entry : items(f.find("classes")))
    s.classes.push_back(read_group(Fields(entry, file, "classes")));
  for (const Json& entry : items(f.find("replicas"))) {
    const Fields fields(entry, file, "replicas");
    s.replicas.push_back({read_group(fields), fields.integer("steps").value_or(0),
                          fields.integer("preemptions").value_or(0),
                          fields.need_number("busy_frac"), fields.need_number("decode_batch_mean"),
                          fields.need_number("kv_used_frac_max")});
  }
  if (const auto sessions = f.table("sessions")) {
    s.sessions = SessionSummary{sessions->integer("count").value_or(0),
                                read_statistics(sessions->need_table("turns")),
                                read_statistics(sessions->need_table("duration_s"))};
  }
  return s;
}

Comparison compare(const Json& a, const Json& b, double tolerance) {
  Comparison out;
  compare_at(&a, &b, "", tolerance, out);
  return out;
}

}  // namespace rooflua
