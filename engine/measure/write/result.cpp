#include "measure/write/result.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <variant>

#include "base/build_stamp.h"
#include "base/fields.h"
#include "measure/record/metrics.h"
#include "measure/write/evidence_text.h"
#include "measure/write/latency_text.h"

namespace rooflua {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Json limits_json(const Slo& slo) {
  Json out = Json::object();
  if (slo.ttft_s) out["ttft_s"] = *slo.ttft_s;
  if (slo.tpot_s) out["tpot_s"] = *slo.tpot_s;
  if (slo.e2e_s) out["e2e_s"] = *slo.e2e_s;
  return out;
}

Json counts(const OutcomeCounts& ended) {
  Json out = Json::object();
  for (const Word<Outcome>& word : outcome_words) {
    const std::int64_t count = ended[static_cast<std::size_t>(word.value)];
    if (word.value != Outcome::completed && count > 0) out[word.name] = count;
  }
  return out;
}

/// A metric's value as a document has it; nothing where its key is left out.
struct Write {
  using Written = std::optional<Json>;
  Written operator()(std::int64_t value) const { return Json(value); }
  Written operator()(double value) const { return Json(value); }
  Written operator()(bool value) const { return Json(value); }
  Written operator()(const std::optional<double>& value) const {
    if (!value) return Json();
    return Json(*value);
  }
  Written operator()(const std::optional<std::int64_t>& value) const {
    return value ? Written(Json(*value)) : std::nullopt;
  }
  Written operator()(const Statistics& value) const { return to_json(value); }
  Written operator()(const std::string& value) const { return Json(value); }
  Written operator()(const std::vector<double>& values) const {
    Json out = Json::array();
    for (const double each : values) out.push_back(each);
    return out;
  }
  Written operator()(const Slo& value) const {
    return value.given() ? Written(limits_json(value)) : std::nullopt;
  }
  Written operator()(const OutcomeCounts& value) const { return counts(value); }
  Written operator()(const EvidenceShares& value) const { return evidence_json(value); }
  Written operator()(const std::optional<PartSeconds>& value) const {
    return value ? Written(parts_json(*value)) : std::nullopt;
  }
};

enum class Absent { null, left_out };

template <class Record>
void write(Json& out, std::span<const MetricOf<Record>> metrics, const Record& record,
           Absent absent = Absent::null) {
  for (const MetricOf<Record>& metric : metrics) {
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), std::monostate>) {
            auto value = Write()(record.*member);
            if (value && !(value->is_null() && absent == Absent::left_out))
              out[metric.name] = std::move(*value);
          }
        },
        metric.source);
  }
}

Json part_json(const PartFigures& part) {
  Json out = Json::object();
  std::any figures = part.figures;
  for (const PartMetric& metric : part.part->metrics) {
    const auto value = [](auto* member) { return Write()(*member); };
    if (auto written = std::visit(value, metric.in(figures)))
      out[metric.name] = std::move(*written);
  }
  return out;
}

Json group(const GroupSummary& g) {
  Json out = Json::object();
  out["name"] = g.name;
  write(out, group_metrics(), g, Absent::left_out);
  if (g.slo.given()) out["slo"] = limits_json(g.slo);
  return out;
}

/// The inverse of Write: reads the member `key` of `fields` into a value.
struct Read {
  const Fields& fields;
  std::string_view key;

  void operator()(std::int64_t& value) const { value = fields.integer(key).value_or(0); }
  void operator()(double& value) const { value = fields.need_number(key); }
  void operator()(bool& value) const { value = fields.boolean(key, true); }
  void operator()(std::optional<double>& value) const { value = fields.number(key); }
  void operator()(std::optional<std::int64_t>& value) const { value = fields.integer(key); }
  void operator()(std::string& value) const { value = fields.text(key).value_or(""); }
  void operator()(std::vector<double>& value) const { value = fields.numbers(key); }
  void operator()(Statistics& value) const {
    const Fields table = fields.need_table(key);
    value.count = table.integer("count").value_or(0);
    for (const Figure& figure : statistic_figures)
      value.*figure.read = table.number(figure.name).value_or(nan);
  }
  void operator()(Slo& value) const {
    if (const auto slo = fields.table(key))
      value = {slo->number("ttft_s"), slo->number("tpot_s"), slo->number("e2e_s")};
  }
  void operator()(OutcomeCounts& value) const {
    const Fields counts = fields.need_table(key);
    for (const Word<Outcome>& word : outcome_words)
      value[static_cast<std::size_t>(word.value)] = counts.integer(word.name).value_or(0);
  }
  void operator()(std::optional<PartSeconds>& value) const {
    const auto parts = fields.table(key);
    if (!parts) return;
    value.emplace();
    for (const Word<LatencyPart>& word : latency_part_words)
      (*value)[static_cast<std::size_t>(word.value)] = parts->number(word.name).value_or(0);
  }
  void operator()(EvidenceShares& value) const {
    value = shares_from_json(fields.need_table(key).object());
  }
};

template <class Record>
void read(const Fields& fields, std::span<const MetricOf<Record>> metrics, Record& record) {
  for (const MetricOf<Record>& metric : metrics) {
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), std::monostate>)
            Read{fields, metric.name}(record.*member);
        },
        metric.source);
  }
}

const Json::Array& items(const Json* list) {
  static const Json::Array none;
  return list != nullptr && list->is_array() ? list->items() : none;
}

PartFigures read_part(const Fields& fields, const PartRow& part) {
  PartFigures out{&part, part.empty()};
  for (const PartMetric& metric : part.metrics) {
    const auto into = [&](auto* member) { Read{fields, metric.name}(*member); };
    std::visit(into, metric.in(out.figures));
  }
  return out;
}

Json nulls_for_nan(const Json& value) {
  if (value.is_object()) {
    Json::Object members = value.members();
    for (Json::Member& member : members) member.value = nulls_for_nan(member.value);
    return Json(std::move(members));
  }
  if (value.is_array()) {
    Json::Array items = value.items();
    for (Json& item : items) item = nulls_for_nan(item);
    return Json(std::move(items));
  }
  return value.is_number() && !std::isfinite(value.number()) ? Json() : value;
}

GroupSummary read_group(const Fields& fields) {
  GroupSummary g;
  g.name = fields.text("name").value_or("");
  read(fields, group_metrics(), g);
  Read{fields, "slo"}(g.slo);
  return g;
}

std::string text_of(const Json* value) {
  return value == nullptr ? "absent" : dump_json(*value);
}

/// Whether the text at a path says in words what numbers beside it say: those of an interval.
bool repeats_numbers(const std::string& path) {
  const std::size_t interval = path.find("interval");
  return interval != std::string::npos && path.find(".text", interval) != std::string::npos;
}

void compare_at(const Json* a, const Json* b, const std::string& path, double tolerance,
                Comparison& out) {
  if (path == "build") return;  // says who computed it, and is no result
  if (repeats_numbers(path)) return;
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
  for (const Figure& figure : statistic_figures) out[figure.name] = statistics.*figure.read;
  return out;
}

Json to_json(const Summary& s) {
  Json out = Json::object();
  write(out, run_metrics(), s);
  if (!s.classes.empty()) out["classes"] = Json::array();
  for (const GroupSummary& g : s.classes) out["classes"].push_back(group(g));
  out["replicas"] = Json::array();
  for (const ReplicaSummary& replica : s.replicas) {
    Json entry = group(replica.requests);
    write(entry, replica_metrics(), replica, Absent::left_out);
    out["replicas"].push_back(std::move(entry));
  }
  for (const PartFigures& each : s.parts) {
    Json& place = out[each.part->name];
    if (!each.part->many) place = part_json(each);
    if (each.part->many && place.is_null()) place = Json::array();
    if (each.part->many) place.push_back(part_json(each));
  }
  if (!s.tenants.empty()) out["tenants"] = Json::array();
  for (const GroupSummary& g : s.tenants) out["tenants"].push_back(group(g));
  if (s.sessions) {
    out["sessions"] = Json::object();
    write(out["sessions"], session_metrics(), *s.sessions);
  }
  if (s.noted_frac) out["noted_frac"] = *s.noted_frac;
  for (const OwnMetric& each : s.own) out["own"][each.name] = each.value;
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

Json with_build(const Json& document) {
  if (!document.is_object()) return document;
  Json out = Json::object();
  for (const Json::Member& each : document.members()) {
    out[each.key] = each.value;
    if (each.key == "schema") out["build"] = build_stamp();
  }
  out["build"] = build_stamp();
  return out;
}

Json document(const Summary& summary) {
  return nulls_for_nan(to_json(summary));
}

Summary summary_from_json(const Json& json, const std::string& file) {
  const Fields f(json, file);
  Summary s;
  read(f, run_metrics(), s);
  s.ended[static_cast<std::size_t>(Outcome::completed)] = s.completed;
  for (const Json& entry : items(f.find("classes")))
    s.classes.push_back(read_group(Fields(entry, file, "classes")));
  for (const Json& entry : items(f.find("replicas"))) {
    const Fields fields(entry, file, "replicas");
    ReplicaSummary replica;
    replica.requests = read_group(fields);
    read(fields, replica_metrics(), replica);
    s.replicas.push_back(std::move(replica));
  }
  for (const PartRow* part : parts()) {
    for (const Json& entry : items(f.find(part->name)))
      s.parts.push_back(read_part(Fields(entry, file, std::string(part->name)), *part));
    if (const auto fields = part->many ? std::nullopt : f.table(part->name))
      s.parts.push_back(read_part(*fields, *part));
  }
  for (const Json& entry : items(f.find("tenants")))
    s.tenants.push_back(read_group(Fields(entry, file, "tenants")));
  if (const auto sessions = f.table("sessions")) {
    s.sessions = SessionSummary{};
    read(*sessions, session_metrics(), *s.sessions);
  }
  s.noted_frac = f.number("noted_frac");
  if (const Json* own = f.find("own"); own != nullptr && own->is_object()) {
    for (const Json::Member& each : own->members())
      s.own.push_back({each.key, "", each.value.is_number() ? each.value.number() : nan});
  }
  return s;
}

Comparison compare(const Json& a, const Json& b, double tolerance) {
  Comparison out;
  compare_at(&a, &b, "", tolerance, out);
  return out;
}

}  // namespace rooflua
