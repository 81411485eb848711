#include "app/commands.h"
#include "app/deployment/batch_option.h"
#include "app/options.h"
#include "app/output.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/json_text.h"
#include "measure/write/notes.h"
#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

void add_deployment(const StepArguments& arguments, Json& table) {
  const int tp = arguments.tp.value_or(1);
  table["title"] = arguments.model + " on " + arguments.hardware + ", tp " + std::to_string(tp);
  table["model"] = model_given(arguments.model, arguments.words);
  if (!arguments.engine.empty()) table["engine"] = arguments.engine;
  Json deployment = Json::object();
  deployment["tp"] = tp;
  if (!arguments.weights.empty()) deployment["weights"] = arguments.weights;
  if (!arguments.kv.empty()) deployment["kv"] = arguments.kv;
  table["deployment"] = std::move(deployment);
}

}  // namespace

int step(const StepArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.json}, {arguments.model});
  const script::LaunchCommand command =
      deployed("step", arguments.command, arguments.engine, arguments.model, arguments.hardware,
               arguments.from);
  check_launched("step", command,
                 {{"--tp", arguments.tp.has_value()},
                  {"--weights", !arguments.weights.empty()},
                  {"--kv", !arguments.kv.empty()},
                  {"--ignore", !arguments.words.ignore.empty()},
                  {"--read-as", !arguments.words.read_as.empty()}});
  Json table = Json::object();
  table["kind"] = "price";
  if (!arguments.hardware.empty()) table["hardware"] = arguments.hardware;
  table["steps"] = arguments.steps;
  if (!command.is_given()) add_deployment(arguments, table);
  Json price = Json::array();
  price.push_back(batch_of(arguments.prefill, arguments.decode, "step", arguments.images));
  table["price"] = std::move(price);
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  script::ScenarioOptions options;
  if (command.is_given()) {
    options.command = command;
    table["title"] =
        vm.call("rooflua.applied.launch", "title", {command.json(), Json(arguments.hardware)})
            .text();
  }
  for (const std::string& each : arguments.set) {
    const std::string key = each.substr(0, each.find('='));
    const std::string path =
        vm.call("rooflua.program.scenarios", "step_path", {Json(key), Json(arguments.steps)})
            .text();
    if (path == "deployment.tp") throw Error("--set " + each, "say --tp");
    options.set.push_back(path + each.substr(key.size()));
  }
  set_intervals(arguments.intervals, options.set);
  script::Scenario scenario(vm, table, options);
  script::RunOutputs outputs;
  outputs.operations = arguments.explain || !arguments.json.empty();
  std::vector<script::VariantResult> results{scenario.run(0, arguments.explain, outputs)};
  if (arguments.json != "-") {
    const Json& formats = *results.front().document.find("formats");
    std::string text = scenario.title() + ", weights " + text_of(formats, "weights") + ", KV " +
                       text_of(formats, "kv") + "\n\n" + results.front().text + "\n";
    for (const std::string& line : notes_of({&results.front().document})) text += line + "\n";
    print_report(text, arguments.wide);
  }
  if (!arguments.json.empty()) write_document(scenario.document(results), arguments.json);
  return 0;
}

}  // namespace rooflua::app
