// rooflua capacity: how many tokens the KV cache of an engine holds, and whether it would start
// (scripts/lib/rooflua/engines/capacity.lua).

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// The deployment as a scenario has it.
Json given_by(const CapacityArguments& arguments) {
  Json given = Json::object(), deployment = Json::object();
  given["hardware"] = arguments.hardware;
  if (!arguments.command.empty()) return given;
  given["model"] = arguments.model;
  if (!arguments.engine.empty()) given["engine"] = arguments.engine;
  const std::pair<const char*, int> widths[] = {
      {"tp", arguments.tp}, {"pp", arguments.pp}, {"dp", arguments.dp}, {"ep", arguments.ep}};
  for (const auto& [key, value] : widths)
    if (value > 0) deployment[key] = value;
  if (!arguments.weights.empty()) deployment["weights"] = arguments.weights;
  if (!arguments.kv.empty()) deployment["kv"] = arguments.kv;
  given["deployment"] = std::move(deployment);
  return given;
}

}  // namespace

int capacity(const CapacityArguments& arguments, const std::filesystem::path& home) {
  check_folder(arguments.json);
  check_launched("capacity", arguments.command, arguments.model,
                 {{"--tp", arguments.tp > 0},
                  {"--pp", arguments.pp > 0},
                  {"--dp", arguments.dp > 0},
                  {"--ep", arguments.ep > 0},
                  {"--weights", !arguments.weights.empty()},
                  {"--kv", !arguments.kv.empty()}});
  const script::LaunchCommand command{arguments.command, arguments.engine, arguments.model};
  script::VmOptions options;
  options.home = home;
  options.print_to_stderr = arguments.json == "-";
  script::Vm vm(options);
  Json sets = Json::array();
  for (const std::string& each : arguments.set) sets.push_back(each);
  const Json answer = vm.call("rooflua.engines.capacity_text", "command",
                              {given_by(arguments), std::move(sets), command.json()});
  if (arguments.json != "-") std::printf("%s\n", printable(text_of(answer, "text")).c_str());
  if (!arguments.json.empty()) write_document(*answer.find("document"), arguments.json);
  return answer.find("starts")->boolean() ? 0 : 1;
}

}  // namespace rooflua::app
