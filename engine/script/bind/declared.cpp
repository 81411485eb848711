// What the engine declares as data, for Lua: the small vocabularies, the metrics of a run, and the
// ranges of figures.

#include "cost/evidence.h"
#include "cost/work/roofline.h"
#include "measure/record/metrics.h"
#include "script/vm/context.h"
#include "serve/contract/words.h"
#include "spec/figures/model.h"
#include "spec/hardware_units.h"
#include "spec/ranges.h"

namespace rooflua::script {

namespace {

template <class Words>
Json words_json(const Words& words) {
  Json out = Json::array();
  for (const auto& word : words) {
    Json entry = Json::object();
    entry["name"] = word.name;
    entry["help"] = word.help;
    if constexpr (requires { word.unsupported; }) entry["unsupported"] = word.unsupported;
    out.push_back(std::move(entry));
  }
  return out;
}

/// vocabulary() -> {evidence = {{name, help, unsupported}, ...}, bound = {{name, help}, ...},
/// phase, outcome, refusal}: each in the order of its codes, which begin at 0.
int vocabulary(lua_State* L) {
  Json out = Json::object();
  out["evidence"] = words_json(evidence_words);
  out["bound"] = words_json(bound_words);
  out["phase"] = words_json(phase_words);
  out["outcome"] = words_json(outcome_words);
  out["refusal"] = words_json(refusal_words);
  push_json(L, out, false);
  return 1;
}

std::string_view better_name(Better better) {
  return better_words[static_cast<std::size_t>(better)].name;
}

/// "distribution": a table of figures; "number"; "other": no single number (counts by outcome,
/// shares, limits, yes or no).
const char* kind_of(const Metric& metric) {
  if (std::holds_alternative<Statistics Summary::*>(metric.source)) return "distribution";
  const bool number = std::holds_alternative<std::monostate>(metric.source) ||
                      std::holds_alternative<std::int64_t Summary::*>(metric.source) ||
                      std::holds_alternative<double Summary::*>(metric.source) ||
                      std::holds_alternative<std::optional<double> Summary::*>(metric.source);
  return number ? "number" : "other";
}

Json metric_json(const Metric& metric) {
  Json out = Json::object();
  out["name"] = metric.name;
  out["label"] = metric.label;
  out["unit"] = metric.unit;
  out["better"] = better_name(metric.better);
  out["help"] = metric.help;
  out["kind"] = kind_of(metric);
  out["of_requests"] = metric.of_requests;
  return out;
}

Json derived_json(const DerivedMetric& metric) {
  Json out = Json::object();
  out["name"] = metric.name;
  out["unit"] = metric.unit;
  out["better"] = better_name(metric.better);
  out["help"] = metric.help;
  out["factors"] = Json::array();
  for (const std::string_view factor : metric.factors) {
    if (!factor.empty()) out["factors"].push_back(factor);
  }
  out["whole"] = metric.whole;
  out["divisor"] = metric.divisor;
  return out;
}

/// metrics() -> {run = {{name, label, unit, better, help, kind, of_requests}, ...}, derived =
/// {{name, unit, better, help, factors, whole, divisor}, ...}, figures = {"mean", ...}}
int metrics(lua_State* L) {
  Json out = Json::object();
  out["run"] = Json::array();
  for (const Metric& metric : run_metrics()) out["run"].push_back(metric_json(metric));
  out["derived"] = Json::array();
  for (const DerivedMetric& metric : derived_metrics())
    out["derived"].push_back(derived_json(metric));
  out["figures"] = Json::array();
  for (const Figure& figure : statistic_figures) out["figures"].push_back(figure.name);
  push_json(L, out, false);
  return 1;
}

Json range_json(const std::string& key, const FigureRange& range) {
  Json out = Json::object();
  out["key"] = key;
  out["unit"] = range.unit;
  out["least"] = range.least;
  out["most"] = range.most;
  return out;
}

/// ranges() -> {{key, unit, least, most}, ...}: the declared ranges of figures of models, GPUs and
/// deployments.
int ranges(lua_State* L) {
  Json out = Json::array();
  for (const FigureRange& range : figure_ranges()) out.push_back(range_json(range.key, range));
  for (const FigureRange& range : plausible_ranges())
    out.push_back(range_json("hardware." + range.key, range));
  push_json(L, out, false);
  return 1;
}

Json row_json(const FigureTable& table, const FigureRow& row) {
  Json out = Json::object();
  out["name"] = row.name;
  out["key"] = row.key;
  out["type"] = row.type;
  out["unit"] = row.unit;
  out["least"] = row.least;
  out["most"] = row.most;
  out["doc"] = row.doc;
  out["needed"] = row.stated == Stated::needed;
  out["computed"] = row.stated == Stated::computed;
  out["optional"] = row.applies != nullptr;
  out["otherwise"] = left_out(table, row);
  for (const auto& [key, flag] : {std::pair{"list", row.list},
                                  {"among", row.among},
                                  {"apart", row.apart},
                                  {"shown", row.shown}})
    out[key] = flag;
  out["words"] = Json::array();
  for (const std::string& each : words_of(table, row)) out["words"].push_back(each);
  if (row.part != nullptr) out["part"] = row.part().name;
  return out;
}

/// figures() -> {{name, doc, rows = {{name, key, type, unit, least, most, doc, needed, computed,
/// optional, otherwise, list, among, apart, shown, words,
/// part}, ...}}, ...}: the tables of figures of
/// models, each once.
int figure_tables(lua_State* L) {
  std::vector<const FigureTable*> tables;
  collect_tables(figures<Model>(), tables);
  collect_tables(figures<ShortForm>(), tables);
  Json out = Json::array();
  for (const FigureTable* table : tables) {
    Json entry = Json::object();
    entry["name"] = table->name;
    entry["doc"] = table->doc;
    entry["rows"] = Json::array();
    for (const FigureRow& row : table->rows) entry["rows"].push_back(row_json(*table, row));
    out.push_back(std::move(entry));
  }
  push_json(L, out, false);
  return 1;
}

}  // namespace

void bind_declared(lua_State* L) {
  set_function(L, "vocabulary", guarded<vocabulary>);
  set_function(L, "metrics", guarded<metrics>);
  set_function(L, "ranges", guarded<ranges>);
  set_function(L, "figures", guarded<figure_tables>);
}

}  // namespace rooflua::script
