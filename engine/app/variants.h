#pragma once
// Runs the variants of a scenario. A variant whose result is in the results file (`--results`) is
// taken from there, so that an interrupted sweep can be continued.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "script/scenario.h"

namespace rooflua::app {

class WrittenFiles;

/// Where results are kept.
struct Keeping {
  std::string file;                       // that gets the runs; "" = none
  std::vector<std::string> also;          // files that are read besides
  bool explained = false;                 // whether the kept texts list operations
  const WrittenFiles* written = nullptr;  // files of other tools, which may need the requests
  std::optional<Shard> round;             // of a search or plan: whose part of a round is run
};

/// With one job and no results file the variants run in this process. Otherwise they run in worker
/// processes (measure/sweep.h), and the time limit applies to each variant. After a stop no further
/// variant is started.
/// @return one result per variant; a variant that failed has a `problem`, the others are complete
/// @throws Error if all variants failed for the same reason, or if a stop left no result at all
std::vector<script::VariantResult> run_variants(
    script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
    const Keeping& keeping, const std::function<script::VariantResult(std::size_t)>& run);

}  // namespace rooflua::app
