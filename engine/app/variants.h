#pragma once
// The variants of a scenario: run, or taken from a file of results (`--results`) that has them, so
// that an interrupted sweep goes on.

#include <functional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "script/read_scenario.h"

namespace rooflua::app {

struct Ran {
  /// One per variant. What failed, or was stopped before it could begin, is not known().
  std::vector<script::VariantResult> results;
  struct Failure {
    std::string variant, problem;
    bool died = false;  // its process, of something else than an error
  };
  std::vector<Failure> failures;
};

/// With one job and no results file in this process, else in workers (measure/sweep.h), where each
/// variant has the time limit for itself. After a stop no further variant is begun.
/// @throws Error what the first variant that failed threw, or if a stop left nothing; with
///               `--results` a failed variant costs itself only
Ran run_variants(script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
                 const std::function<script::VariantResult(std::size_t)>& run);

}  // namespace rooflua::app
