#pragma once
// A naive simulator behind the same seams as engine/serve: the same SchedulerPolicy, in C++ or Lua,
// runs on both. It asks the policy at every step and keeps no sums and no indices: every list, sum
// and context that a policy reads is rebuilt from per-request numbers after each operation, and
// every request is visited in every step. Blocks are vLLM's block pool.

#include "serve/contract/policy.h"
#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// @param question  its config is the replica's (seats, budget, blocks, depth, prefix caching)
/// @param encoder  of its items; null: no prompt has some
History run_naive(const ServingCase& question, SchedulerPolicy& scheduler,
                  class NaiveEncoder* encoder = nullptr);

}  // namespace rooflua::reference
