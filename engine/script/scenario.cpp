#include "script/scenario.h"

#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

constexpr const char* scenario_module = "rooflua.program.scenarios";

Json shard_json(const Shard& shard) {
  Json out = Json::object();
  out["index"] = shard.index;
  out["count"] = shard.count;
  return out;
}

/// The options of kinds.lua's run.
Json run_options(bool explain, const RunOutputs& outputs) {
  Json options = Json::object();
  options["explain"] = explain;
  for (const auto& [key, path] : {std::pair{"requests_path", outputs.requests},
                                  {"trace_path", outputs.trace},
                                  {"rows_path", outputs.rows},
                                  {"progress", outputs.progress},
                                  {"results", outputs.results}}) {
    if (!path.empty()) options[key] = path;
  }
  if (outputs.sketch) options["sketch"] = true;
  if (!outputs.why.empty()) options["why"] = outputs.why;
  if (!outputs.as.empty()) options["as"] = outputs.as;
  options["jobs"] = outputs.jobs;
  if (outputs.strict_percent) options["strict"] = *outputs.strict_percent;
  options["operations"] = outputs.operations;
  if (outputs.round) options["round"] = shard_json(*outputs.round);
  if (!outputs.emulate.is_null()) options["emulate"] = outputs.emulate;
  if (!outputs.also.empty()) options["also"] = texts_json(outputs.also);
  return options;
}

Json options_json(const ScenarioOptions& options) {
  Json given = Json::object();
  given["set"] = texts_json(options.set);
  if (options.command.is_given()) given["command"] = options.command.json();
  if (options.seed) given["seed"] = std::int64_t{*options.seed};
  if (options.shard) given["shard"] = shard_json(*options.shard);
  return given;
}

/// What the scripts say of a scenario that they have opened.
const Json& told_of(const Json& opened, const std::string& key) {
  const Json* found = opened.find(key);
  if (found == nullptr)
    throw Error(scenario_module, "open: '" + key +
                                     "' is missing; the scripts are those of another version of "
                                     "the program (ROOFLUA_HOME)");
  return *found;
}

/// The documents of results, of all or of those that are known.
Json documents(const std::vector<VariantResult>& results, bool known_only = false) {
  Json all = Json::array();
  for (const VariantResult& each : results) {
    if (each.known() || !known_only) all.push_back(each.document);
  }
  return all;
}

}  // namespace

Json LaunchCommand::json() const {
  if (!is_given()) return {};
  Json out = Json::object();
  if (!text.empty()) out["text"] = text;
  if (!from.empty()) {
    out["from"] = Json::array();
    for (const std::string& each : from) out["from"].push_back(each);
  }
  if (!engine.empty()) out["engine"] = engine;
  if (!model.empty()) out["model"] = model;
  return out;
}

Scenario::Scenario(Vm& vm, const std::filesystem::path& file, const ScenarioOptions& options)
    : vm_(&vm), file_(file.string()) {
  adopt(vm_->call(scenario_module, "open", {Json(file_), options_json(options)}));
}

Scenario::Scenario(Vm& vm, const Json& table, const ScenarioOptions& options, const char* called)
    : vm_(&vm), file_(called) {
  Json given = options_json(options);
  given["file"] = file_;
  adopt(vm_->call(scenario_module, "open_table", {table, given}));
}

Scenario Scenario::told(Vm& vm, const Json& opened) {
  Scenario out(vm);
  out.file_ = text_of(opened, "file");
  out.adopt(opened);
  return out;
}

void Scenario::adopt(const Json& opened) {
  number_ = told_of(opened, "number");
  kind_ = text_of(opened, "kind");
  title_ = text_of(opened, "title");
  seed_ = told_of(opened, "seed").integer();
  set_ = told_of(opened, "set");
  has_report_ = told_of(opened, "has_report").boolean();
  has_startup_ = told_of(opened, "has_startup").boolean();
  lists_operations_ = told_of(opened, "lists_operations").boolean();
  total_ = told_of(opened, "total").integer();
  for (const Json& each : told_of(opened, "variants").items()) {
    variants_.push_back({text_of(each, "name"), told_of(each, "parameters"),
                         told_of(each, "seed").integer(), told_of(each, "position").integer()});
  }
}

Json Scenario::ask(const char* name, std::vector<Json> arguments) {
  arguments.insert(arguments.begin(), number_);
  return vm_->call(scenario_module, name, arguments);
}

RunNames Scenario::names(bool explain, bool sketch) {
  const Json told = ask("hashes", {Json(explain), Json(sketch)});
  const Json& set = *told.find("set");
  RunNames out;
  out.set = {text_of(set, "hash"), text_of(set, "title"), set.find("total")->integer(),
             text_of(set, "file")};
  for (const Json& each : told.find("runs")->items())
    out.run_hashes.push_back(text_of(each, "run_hash"));
  return out;
}

void Scenario::check() {
  ask("check");
}

VariantResult Scenario::run(std::size_t variant, bool explain, const RunOutputs& outputs) {
  ROOFLUA_ASSERT(variant < variants_.size());
  const Json returned =
      ask("run", {Json(static_cast<double>(variant + 1)), run_options(explain, outputs)});
  if (returned.find("waits") != nullptr) {
    VariantResult waiting;
    waiting.waits = true;
    return waiting;
  }
  return result(variant, returned, explain);
}

VariantResult Scenario::result(std::size_t variant, const Json& returned, bool explain) const {
  // The summary of a served variant comes beside the table that Lua returns: it stays a struct.
  VariantResult out =
      variant_result(kind_, variants_[variant], returned,
                     std::exchange(context_of(vm_->state()).served, nullptr), explain, file_);
  // Of a case that sets its own seed: neither the document nor the parameters say it.
  const ScenarioVariant& own = variants_[variant];
  if (own.seed != seed_ && own.parameters.find("seed") == nullptr && out.known())
    out.document["seed"] = own.seed;
  return out;
}

Json OwnReport::json() const {
  return rows.is_null() && !text.empty() ? Json(text) : rows;
}

OwnReport Scenario::report(const std::vector<VariantResult>& results) {
  if (!has_report_) return {};
  const Json told = ask("report", {documents(results)});
  const Json* rows = told.find("rows");
  const Json* figures = told.find("figures");
  return {text_of(told, "text"), rows == nullptr ? Json() : *rows,
          text_of(told, figures == nullptr ? "text" : "figures")};
}

Json Scenario::startup() {
  return has_startup_ ? ask("startup") : Json();
}

Json Scenario::facts(std::size_t variant) {
  return ask("facts", {Json(static_cast<double>(variant + 1))});
}

Json Scenario::parameters() {
  return ask("parameters");
}

std::string Scenario::over_seeds(const std::vector<VariantResult>& results) {
  if (results.size() < 4 || results.front().document.find("parameters")->find("seed") == nullptr)
    return "";
  return ask("over_seeds", {documents(results)}).text();
}

Json Scenario::explored(const std::vector<VariantResult>& results) {
  Json missing = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].known()) continue;
    Json entry = Json::object();
    entry["name"] = variants_[i].name;
    entry["parameters"] = variants_[i].parameters;
    entry["why"] = results[i].problem.empty() ? "not run" : "failed: " + results[i].problem;
    missing.push_back(std::move(entry));
  }
  return ask("explored", {documents(results, true), std::move(missing)});
}

Json Scenario::laboratory(const char* function, const std::vector<Json>& arguments) {
  return ask("laboratory", {Json(function), Json(arguments)});
}

Json Scenario::document(const std::vector<VariantResult>& results) const {
  Json out = Json::object();
  out["schema"] = 1;
  out["scenario"] = file_;
  out["title"] = title_;
  out["kind"] = kind_;
  out["seed"] = seed_;
  if (!set_.items().empty()) out["set"] = set_;
  Json all = Json::array();
  Json stopped = Json::object();
  Json not_run = Json::array();
  Json failed = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const VariantResult& each = results[i];
    if (const Json* partial = each.partial()) stopped["stopped_by"] = *partial->find("stopped_by");
    if (each.known()) {
      all.push_back(each.document);
    } else if (!each.problem.empty()) {
      Json entry = Json::object();
      entry["name"] = variants_[i].name;
      entry["problem"] = each.problem;
      failed.push_back(std::move(entry));
    } else {
      not_run.push_back(variants_[i].name);
    }
  }
  if (!stopped.members().empty() || !not_run.items().empty()) {
    stopped["not_run"] = std::move(not_run);
    out["partial"] = std::move(stopped);
  }
  out["variants"] = std::move(all);
  if (!failed.items().empty()) out["failed"] = std::move(failed);
  return out;
}

}  // namespace rooflua::script
