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
  };
  std::vector<Failure> failures;
};

/// @throws Error what a variant threw; with `--results` a failed variant costs itself only
Ran run_variants(script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
                 const std::function<script::VariantResult(std::size_t)>& run);

}  // namespace rooflua::app
