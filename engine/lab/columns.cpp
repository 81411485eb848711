#include "lab/columns.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "measure/html/parts.h"
#include "measure/record/metrics.h"
#include "script/run_documents.h"

namespace rooflua::lab {

namespace {

using script::VariantResult;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

std::vector<const Summary*> summaries_of(const std::vector<VariantResult>& results) {
  std::vector<const Summary*> out;
  for (const VariantResult& each : results)
    if (each.summary) out.push_back(each.summary.get());
  return out;
}

/// The declaration of a column's metric; null of one of the scenario's own.
const Metric* declaration_of(const std::string& name) {
  const std::vector<std::string>& known = run_column_names();
  const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
  return is_known ? run_column(name).metric : nullptr;
}

/// "22.1 ms (19.8 to 25.0)" of a mean that has an interval; null of others.
Json interval_of(const Json& variant, const Metric* metric, const std::string& column) {
  const Json* intervals = variant.find("intervals");
  if (intervals == nullptr || metric == nullptr || column != std::string(metric->name) + "_mean")
    return {};
  const Json* own = intervals->find(metric->name);
  return own == nullptr ? Json() : *own;
}

Json column_json(const RunColumn& column, const std::vector<VariantResult>& results, bool shown) {
  const Metric* metric = declaration_of(column.metric);
  Json out = Json::object();
  out["name"] = column.metric;
  out["label"] = column.label;
  out["unit"] = column.kind == RunColumn::Kind::time       ? column.unit.name
                : metric == nullptr || metric->unit == "1" ? ""
                                                           : std::string(metric->unit);
  out["group"] = metric == nullptr ? column.metric : std::string(metric->name);
  out["better"] = metric == nullptr                ? "neither"
                  : metric->better == Better::less ? "less"
                  : metric->better == Better::more ? "more"
                                                   : "neither";
  out["help"] = metric == nullptr ? "a metric of the scenario" : std::string(metric->help);
  out["shown"] = shown;
  for (const char* key : {"values", "texts", "intervals"}) out[key] = Json::array();
  for (const VariantResult& each : results) {
    if (!each.known()) continue;
    const Summary* summary = each.summary.get();
    out["values"].push_back(summary == nullptr ? Json() : number(column.value(*summary)));
    out["texts"].push_back(summary == nullptr ? "-" : column.cell(*summary));
    out["intervals"].push_back(interval_of(each.document, metric, column.metric));
  }
  return out;
}

}  // namespace

Json columns_of(const std::vector<VariantResult>& results) {
  const std::vector<const Summary*> runs = summaries_of(results);
  Json out = Json::array();
  if (runs.empty()) return out;
  std::vector<std::string> seen;
  for (const RunColumn& each : html::summary_columns(runs)) {
    out.push_back(column_json(each, results, true));
    seen.push_back(each.metric);
  }
  std::vector<WantedColumn> others;
  for (const std::string& name : run_column_names())
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) others.push_back({name});
  for (const RunColumn& each : run_columns(others, runs, Empty::drop))
    if (std::find(seen.begin(), seen.end(), each.metric) == seen.end())
      out.push_back(column_json(each, results, false));
  return out;
}

void add_figures(script::Scenario& scenario, const std::vector<VariantResult>& results, Json& out) {
  if (scenario.kind() != "serve" || script::is_partial(results)) return;
  Json documents = Json::array(), numbers = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].known()) continue;
    documents.push_back(results[i].document);
    numbers.push_back(static_cast<std::int64_t>(i + 1));
  }
  const Json told = scenario.laboratory("figures", {documents, numbers});
  for (const Json& each : told.find("columns")->items()) out["columns"].push_back(each);
  out["facts"] = *told.find("facts");
}

Json all_columns(script::Scenario& scenario, const std::vector<VariantResult>& results) {
  Json out = Json::object();
  out["columns"] = columns_of(results);
  add_figures(scenario, results, out);
  return *out.find("columns");
}

}  // namespace rooflua::lab
