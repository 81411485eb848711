// `rooflua results diff`: the runs of two files with the same parameters, compared.

#include <cstdio>
#include <map>
#include <set>

#include "app/results/results.h"
#include "base/json.h"
#include "base/json_text.h"
#include "measure/store/frame.h"
#include "measure/store/merge.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// Two runs with the same parameters and seed: which one is meant has to be said.
[[noreturn]] void refuse_two(const std::string& file, const NamedRun& a, const NamedRun& b) {
  const bool builds = a.row.build != b.row.build;
  const auto part = [&](const NamedRun& run) {
    return builds ? run.row.build : run.set.set_hash.substr(0, 8);
  };
  throw Error(file, "has two runs of '" + a.name + "', of the " + (builds ? "builds " : "sets ") +
                        part(a) + " and " + part(b) + "; say which with " +
                        (builds ? "--build" : "--set"));
}

/// [{name, parameters, seed, summary}]. A run that is there of several builds counts once.
Json runs_of(const std::string& file, const ResultsArguments& arguments) {
  const auto store = open_results(file);
  Json out = Json::array();
  std::set<std::string> seen;
  std::map<std::string, NamedRun> by_parameters;
  each_chosen(*store, {arguments.set, arguments.build}, [&](const NamedRun& run) {
    const Json document = parse_json(run.row.document, file);
    const Json* summary = document.find("summary");
    if (summary == nullptr || !seen.insert(run.row.run_hash).second) return;
    const std::string what = run.row.parameters + " " + std::to_string(run.row.seed);
    const auto [other, is_new] = by_parameters.emplace(what, run);
    if (!is_new) refuse_two(file, other->second, run);
    Json entry = Json::object();
    entry["name"] = run.name;
    entry["parameters"] = parse_json(run.row.parameters, file);
    entry["seed"] = run.row.seed;
    entry["summary"] = *summary;
    out.push_back(std::move(entry));
  });
  return out;
}

}  // namespace

int results_diff(const ResultsArguments& arguments, const std::filesystem::path& home) {
  Json options = Json::object();
  options["metrics"] = texts_json(arguments.select);
  options["files"] = Json(Json::Array{Json(arguments.file), Json(arguments.second)});
  const Json first = runs_of(arguments.file, arguments),
             second = runs_of(arguments.second, arguments);
  script::Vm vm({.home = home});
  std::fputs(
      vm.call("rooflua.explore.stored", "differences", {first, second, options}).text().c_str(),
      stdout);
  return 0;
}

}  // namespace rooflua::app
