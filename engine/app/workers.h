#pragma once
// Variants in worker processes: a crash or a limit costs one variant, and results do not depend on
// how many workers there are.

#include <functional>
#include <vector>

#include "script/read_scenario.h"

namespace rooflua::app {

/// Results of run(0), ..., run(count - 1), in that order. With one job in this process; with more,
/// job j of n runs variants j, j + n, ... in a process of its own.
///
/// After a stop (Ctrl-C, which workers are told of, or a time limit, which each has for itself) a
/// worker begins no further variant: what it did not begin is not known() in the results.
/// @throws Error with what the variant said, naming it, if one fails, or if the stop left nothing
std::vector<script::VariantResult> in_workers(
    std::size_t count, int jobs, const std::function<script::VariantResult(std::size_t)>& run);

}  // namespace rooflua::app
