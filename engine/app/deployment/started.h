#pragma once
// Files of a start (--from) in the place of a scenario: `rooflua run --from vllm.log`.

#include <string>
#include <vector>

#include "app/commands.h"
#include "script/scenario.h"

namespace rooflua::app {

/// The arguments of a command with files and the scenario apart.
/// @throws Misused where there is neither, or a GPU beside a scenario
RunArguments sorted(RunArguments arguments, const char* command = "run");
/// The same; of files alone one scenario without a name.
CheckArguments sorted(CheckArguments arguments);

/// The options that say what a scenario says, "--model NAME", as a page names them.
std::vector<std::string> stated_options(const RunArguments& arguments);

/// The table of a scenario of files alone: what nothing states comes from them.
Json started(const std::string& hardware);

/// The scenario's file, or that of files alone.
script::Scenario opened(script::Vm& vm, const RunArguments& arguments,
                        const script::ScenarioOptions& options);

}  // namespace rooflua::app
