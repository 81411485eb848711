#include <cstdio>

#include "app/commands.h"
#include "app/output.h"
#include "base/json.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

int calibrate(const CalibrateArguments& arguments, const std::filesystem::path& home) {
  std::vector<std::string> read = arguments.measured;
  read.push_back(arguments.scenario);
  check_files({arguments.json}, read);
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  Json options = Json::object();
  options["measured"] = texts_json(arguments.measured);
  options["params"] = texts_json(arguments.params);
  options["set"] = texts_json(arguments.set);
  if (arguments.seed) options["seed"] = std::int64_t{*arguments.seed};
  if (!arguments.objective.empty()) options["objective"] = arguments.objective;
  if (arguments.evaluations > 0) options["evaluations"] = arguments.evaluations;
  options["jobs"] = arguments.jobs;
  options["progress"] = !arguments.quiet;
  const Json result =
      vm.call("rooflua.explore.fit.calibrate", "run", {Json(arguments.scenario), options});
  if (arguments.json != "-") std::fputs(result.find("text")->text().c_str(), stdout);
  if (!arguments.json.empty()) write_document(*result.find("document"), arguments.json);
  if (result.find("describes")->boolean()) return 0;
  std::fprintf(stderr, "rooflua: the fitted scenario does not describe the measured run\n");
  return 1;
}

}  // namespace rooflua::app
