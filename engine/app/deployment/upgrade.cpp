// rooflua upgrade: what another release of an engine changes of a deployment
// (scripts/lib/rooflua/upgrade).

#include "app/commands.h"
#include "app/deployment/asked.h"
#include "app/options.h"
#include "app/output.h"
#include "base/json_text.h"
#include "measure/html/sections.h"
#include "script/vm/vm.h"

namespace rooflua::app {

void add_upgrade(const Command& app) {
  const Command command = app.command(
      "upgrade", "What another release of an engine changes (exit 1: it does not start there)");
  auto* a = new UpgradeArguments;
  command.option("scenario", a->asked.scenario, "A scenario of kind serve; else --command");
  add_command(command, a->asked.command, &a->asked.model);
  command.option("--hardware", a->asked.hardware,
                 "With --command, in place of a scenario: a shipped GPU or hardware.toml");
  command.option(
      "--from", a->from,
      "With --command: the release before, as in \"vllm 0.24\"; or files of a start, which "
      "say release and command (docs/ATTACH.md)");
  command.option("--to", a->to, "The release after, also of another engine: \"vllm 0.33\"",
                 {.required = true});
  add_load(command, a->load);
  command.option("--set", a->asked.set, "key=value of both sides, as in run", {.repeated = true});
  command.option("--seed", a->asked.seed, "Overrides the scenario's seed", {.check = seeds()});
  command.option("--json", a->asked.json, "Write the answer to a file (- = stdout, alone)");
  command.option("--html", a->html, "Write the answer as one page");
  command.runs([a](const std::filesystem::path& home) { return upgrade(*a, home); });
}

int upgrade(const UpgradeArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json, arguments.html}, {arguments.asked.scenario});
  Json options = Json::object();
  put(options, "scenario", arguments.asked.scenario);
  put(options, "command", arguments.asked.command);
  put(options, "model", arguments.asked.model);
  put(options, "hardware", arguments.asked.hardware);
  if (!arguments.from.empty()) options["from"] = texts_json(arguments.from);
  put(options, "seed", arguments.asked.seed);
  options["to"] = arguments.to;
  options["set"] = texts_json(arguments.asked.set);
  put_load(options, arguments.load);
  options["page"] = !arguments.html.empty();
  const std::string& json = arguments.asked.json;
  script::Vm vm({.home = home, .print_to_stderr = json == "-"});
  const Json found = vm.call("rooflua.upgrade.command", "run", {options});
  if (json != "-") print_report(text_of(found, "text"), false);
  if (!json.empty()) write_document(*found.find("document"), json);
  if (!arguments.html.empty())
    write_text(html::described_page(*found.find("page")), arguments.html);
  return static_cast<int>(found.find("status")->number());
}

}  // namespace rooflua::app
