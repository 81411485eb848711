#include <cstdio>
#include <fstream>

#include "app/commands.h"
#include "base/error.h"
#include "base/json.h"
#include "script/vm.h"

namespace rooflua::app {

int calibrate(const CalibrateArguments& arguments, const std::filesystem::path& home) {
  script::VmOptions vm_options;
  vm_options.home = home;
  vm_options.print_to_stderr = arguments.json == "-";
  script::Vm vm(vm_options);
  Json options = Json::object();
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    options[key] = Json::array();
    for (const std::string& each : values) options[key].push_back(each);
  };
  list("measured", arguments.measured);
  list("params", arguments.params);
  list("set", arguments.set);
  if (arguments.seed) options["seed"] = std::int64_t{*arguments.seed};
  if (!arguments.objective.empty()) options["objective"] = arguments.objective;
  if (arguments.evaluations > 0) options["evaluations"] = arguments.evaluations;
  const Json result = vm.call("rooflua.calibrate", "run", {Json(arguments.scenario), options});
  if (arguments.json != "-") std::fputs(result.find("text")->text().c_str(), stdout);
  if (arguments.json.empty()) return 0;
  const std::string text = dump_json(*result.find("document"), 2) + "\n";
  if (arguments.json == "-") {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  std::ofstream out(arguments.json, std::ios::binary);
  if (!(out << text)) throw Error(arguments.json, "cannot be written");
  return 0;
}

}  // namespace rooflua::app
