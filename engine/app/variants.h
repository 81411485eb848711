#pragma once
// The variants of a scenario: run, or taken from a file of results (`--results`) that has them, so
// that an interrupted sweep goes on.

#include <functional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "script/scenario.h"

namespace rooflua::app {

/// With one job and no results file in this process, else in workers (measure/sweep.h), where each
/// variant has the time limit for itself. After a stop no further variant is begun.
/// @return one result per variant; one that failed says its `problem` and costs itself only
/// @throws Error if all failed of the same, or if a stop left nothing
std::vector<script::VariantResult> run_variants(
    script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
    const std::function<script::VariantResult(std::size_t)>& run);

}  // namespace rooflua::app
