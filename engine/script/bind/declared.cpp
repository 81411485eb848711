// What the engine declares as data, for Lua: the small vocabularies, the metrics of a run, and the
// figures of models, GPUs and deployments.

#include <algorithm>

#include "base/error.h"
#include "cost/price/evidence.h"
#include "cost/price/roofline.h"
#include "measure/record/metrics.h"
#include "script/serving/config.h"
#include "script/vm/context.h"
#include "serve/contract/words.h"
#include "serve/stores/config.h"
#include "spec/deployment.h"
#include "spec/figures/hardware.h"
#include "spec/figures/model.h"
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
/// phase, outcome, refusal, latency}: each in the order of its codes, which begin at 0.
int vocabulary(lua_State* L) {
  Json out = Json::object();
  out["evidence"] = words_json(evidence_words);
  out["bound"] = words_json(bound_words);
  out["phase"] = words_json(phase_words);
  out["outcome"] = words_json(outcome_words);
  out["refusal"] = words_json(refusal_words);
  out["latency"] = words_json(latency_part_words);
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
                      std::holds_alternative<std::optional<double> Summary::*>(metric.source) ||
                      std::holds_alternative<std::optional<std::int64_t> Summary::*>(metric.source);
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

/// {name, help, many, metrics = {{name, label, unit, better, help, kind}, ...}}. "count": a whole
/// number; "figure": a number that may be missing; "distribution", "text", "list": of figures.
Json part_json(const PartRow& part) {
  static constexpr const char* kinds[] = {"text",   "count",        "figure",
                                          "figure", "distribution", "list"};
  static_assert(std::size(kinds) == std::variant_size_v<PartValue>);
  Json out = Json::object();
  out["name"] = part.name;
  out["help"] = part.help;
  out["many"] = part.many;
  out["metrics"] = Json::array();
  std::any figures = part.empty();
  for (const PartMetric& metric : part.metrics) {
    Json each = Json::object();
    each["name"] = metric.name;
    each["label"] = metric.label;
    each["unit"] = metric.unit;
    each["better"] = better_name(metric.better);
    each["help"] = metric.help;
    each["kind"] = kinds[metric.in(figures).index()];
    out["metrics"].push_back(std::move(each));
  }
  return out;
}

/// Of a class or a tenant, and of a replica: {{name, unit, better, help}, ...}
template <class Record>
Json of_record(std::span<const MetricOf<Record>> metrics) {
  Json out = Json::array();
  for (const MetricOf<Record>& metric : metrics) {
    Json each = Json::object();
    each["name"] = metric.name;
    each["unit"] = metric.unit;
    each["better"] = better_name(metric.better);
    each["help"] = metric.help;
    out.push_back(std::move(each));
  }
  return out;
}

/// metrics() -> {run = {{name, label, unit, better, help, kind, of_requests}, ...}, derived =
/// {{name, unit, better, help, factors, whole, divisor}, ...}, figures = {"mean", ...}, parts =
/// {part_json(), ...}, groups, replicas, sessions = of_record()}
int metrics(lua_State* L) {
  Json out = Json::object();
  out["run"] = Json::array();
  for (const Metric& metric : run_metrics()) out["run"].push_back(metric_json(metric));
  out["derived"] = Json::array();
  for (const DerivedMetric& metric : derived_metrics())
    out["derived"].push_back(derived_json(metric));
  out["figures"] = Json::array();
  for (const Figure& figure : statistic_figures) out["figures"].push_back(figure.name);
  out["parts"] = Json::array();
  for (const PartRow* part : parts()) out["parts"].push_back(part_json(*part));
  out["groups"] = of_record(group_metrics());
  out["replicas"] = of_record(replica_metrics());
  out["sessions"] = of_record(session_metrics());
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

void add_range(Json& out, const std::string& key, const FigureRow& row) {
  if (row.unit.empty() || !row.shown) return;
  out.push_back(range_json(key, FigureRange{std::string(row.name), row.unit, row.least, row.most}));
}

/// ranges() -> {{key, unit, least, most}, ...}: the declared ranges of figures of models, GPUs and
/// deployments.
int ranges(lua_State* L) {
  Json out = Json::array();
  for (const FigureRange& range : figure_ranges())
    out.push_back(range_json(std::string(range.key), range));
  for (const ListedFigure& each : list_figures(figures<Hardware>(), "hardware"))
    add_range(out, each.name, *each.row);
  for (const ListedFigure& each : list_figures(figures<DeploymentOptions>(), "deployment"))
    add_range(out, each.name, *each.row);
  for (const HardwareFigure& each : hardware_figures()) {
    const FigureRange range{std::string(each.key), each.unit.name, each.least / each.unit.base,
                            each.most / each.unit.base};
    out.push_back(range_json("hardware." + std::string(each.key), range));
  }
  push_json(L, out, false);
  return 1;
}

/// {name, type, doc, shown, default, values, unit, least, most}. Words have values, numbers have
/// unit, least and most; what is open and has no default is computed where it is left out.
Json figure_json(const FigureTable& table, const FigureRow& row) {
  Json out = Json::object();
  out["name"] = row.name;
  out["type"] = row.type;
  out["doc"] = row.doc;
  out["shown"] = row.shown;
  out["default"] = left_out(table, row);
  if (const auto values = words_of(table, row); !values.empty())
    out["values"] = Json::Array(values.begin(), values.end());
  if (row.unit.empty()) return out;
  out["unit"] = row.unit;
  out["least"] = row.least;
  out["most"] = row.most;
  return out;
}

/// The same, and how files state it: {key, needed, computed, optional, list, among, apart, part}.
Json file_figure_json(const FigureTable& table, const FigureRow& row) {
  Json out = figure_json(table, row);
  out["key"] = row.key;
  out["needed"] = row.stated == Stated::needed;
  out["computed"] = row.stated == Stated::computed;
  out["optional"] = row.applies != nullptr;
  out["list"] = row.list;
  out["among"] = row.among;
  out["apart"] = row.apart;
  if (row.part != nullptr) out["part"] = row.part().name;
  return out;
}

/// model_figures() -> {{name, doc, rows = {file_figure_json(), ...}}, ...}: the tables of figures
/// of models, each once.
int model_figures(lua_State* L) {
  std::vector<const FigureTable*> tables;
  collect_tables(figures<Model>(), tables);
  collect_tables(figures<ShortForm>(), tables);
  Json out = Json::array();
  for (const FigureTable* table : tables) {
    Json entry = Json::object();
    entry["name"] = table->name;
    entry["doc"] = table->doc;
    entry["rows"] = Json::array();
    for (const FigureRow& row : table->rows) entry["rows"].push_back(file_figure_json(*table, row));
    out.push_back(std::move(entry));
  }
  push_json(L, out, false);
  return 1;
}

struct NamedTable {
  std::string_view name;
  const FigureTable& (*table)();
};
constexpr NamedTable tables[] = {
    {"deployment", figures<DeploymentOptions>},
    {"deployed", figures<Deployment>},
    {"replica", figures<ReplicaConfig>},
    {"stages", figures<StageConfig>},
    {"stage_link", figures<StageLink>},
    {"transfer", figures<KvTransfer>},
    {"link", figures<LinkConfig>},
    {"store", figures<StoreConfig>},
    {"tiers", figures<TiersConfig>},
    {"pool", figures<PoolConfig>},
    {"start", figures<StartConfig>},
    {"frontend", figures<Frontend>},
    {"disaggregation", figures<Disaggregation>},
    {"slo", figures<Slo>},
    {"hardware", figures<Hardware>},
};

/// figures() -> {[table] = {figure_json(), ...}}: the declared figures, in order
/// (spec/figures/figure.h).
int declared_figures(lua_State* L) {
  Json out = Json::object();
  for (const NamedTable& each : tables) {
    const FigureTable& table = each.table();
    for (const FigureRow& row : table.rows) out[each.name].push_back(figure_json(table, row));
  }
  for (const HardwareFigure& each : hardware_figures()) {
    if (each.get == nullptr) continue;
    Json entry = Json::object();
    entry["name"] = each.name;
    entry["type"] = "number";
    entry["doc"] = each.doc;
    entry["shown"] = true;
    entry["unit"] = each.scripts.name;
    entry["least"] = each.least;
    entry["most"] = each.most;
    out["hardware"].push_back(std::move(entry));
  }
  push_json(L, out, false);
  return 1;
}

/// figure_problem(table, name, value) -> what is wrong with the value of a number; "" if nothing is
int figure_problem(lua_State* L) {
  const std::string name = check_text(L, 1, "table");
  const auto found = std::find_if(std::begin(tables), std::end(tables),
                                  [&](const NamedTable& each) { return each.name == name; });
  ROOFLUA_ASSERT(found != std::end(tables));
  const FigureRow& row = row_named(found->table(), check_text(L, 2, "name"));
  const bool is_number = lua_type(L, 3) == LUA_TNUMBER;
  const std::string problem = is_number ? problem_of(row, lua_tonumber(L, 3))
                                        : "expected a number, found " + describe_value(L, 3);
  lua_pushlstring(L, problem.data(), problem.size());
  return 1;
}

}  // namespace

void bind_declared(lua_State* L) {
  set_function(L, "vocabulary", guarded<vocabulary>);
  set_function(L, "metrics", guarded<metrics>);
  set_function(L, "ranges", guarded<ranges>);
  set_function(L, "figures", guarded<declared_figures>);
  set_function(L, "figure_problem", guarded<figure_problem>);
  set_function(L, "model_figures", guarded<model_figures>);
}

}  // namespace rooflua::script
