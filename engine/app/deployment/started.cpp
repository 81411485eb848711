#include "app/deployment/started.h"

#include <utility>
#include <vector>

#include "app/options.h"

namespace rooflua::app {

namespace {

/// Where the scenario, or files of a start in place of it, are missing.
void check_stated(const char* command, const std::string& scenario, bool has_files,
                  const std::string& hardware) {
  if (scenario.empty() && !has_files)
    throw Misused(command,
                  "scenario is missing: A Lua file that returns a scenario, or --from LOG");
  if (!scenario.empty() && !hardware.empty())
    throw Misused("--hardware", "is said by " + scenario + "; change it with --set");
}

}  // namespace

RunArguments sorted(RunArguments arguments, const char* command) {
  sort_files(arguments.scenario, arguments.from);
  check_stated(command, arguments.scenario, !arguments.from.empty(), arguments.hardware);
  return arguments;
}

CheckArguments sorted(CheckArguments arguments) {
  const bool has_files = !arguments.from.empty();
  std::vector<std::string> all = std::exchange(arguments.from, {});
  std::vector<std::string> named = std::exchange(arguments.scenarios, {});
  all.insert(all.end(), named.begin(), named.end());
  for (std::string& each : all) {
    const bool is_scenario = !has_files || each.ends_with(".lua");
    (is_scenario ? arguments.scenarios : arguments.from).push_back(std::move(each));
  }
  const std::string first = arguments.scenarios.empty() ? "" : arguments.scenarios.front();
  check_stated("check", first, !arguments.from.empty(), arguments.hardware);
  if (arguments.scenarios.empty()) arguments.scenarios.emplace_back();
  return arguments;
}

std::vector<std::string> stated_options(const RunArguments& arguments) {
  const std::pair<const char*, const std::string&> options[] = {{"--engine ", arguments.engine},
                                                                {"--model ", arguments.model},
                                                                {"--hardware ", arguments.hardware},
                                                                {"--bench ", arguments.bench},
                                                                {"--command ", arguments.command}};
  std::vector<std::string> out;
  for (const auto& [option, value] : options)
    if (!value.empty()) out.push_back(option + value);
  for (const std::string& each : arguments.from) out.push_back("--from " + each);
  return out;
}

Json started(const std::string& hardware) {
  Json table = Json::object();
  table["rooflua"] = 1;
  table["title"] = "What a server does that has started";
  if (!hardware.empty()) table["hardware"] = hardware;
  return table;
}

script::Scenario opened(script::Vm& vm, const RunArguments& arguments,
                        const script::ScenarioOptions& options) {
  if (!arguments.scenario.empty()) return {vm, std::filesystem::path(arguments.scenario), options};
  return {vm, started(arguments.hardware), options, "run"};
}

}  // namespace rooflua::app
