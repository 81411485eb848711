#pragma once
// Experts that move: the load of the fullest rank in each step of an engine (contract/experts.h).
// In a period every step has the same load, so that prices of steps ahead stay right; a new period
// ends them.

#include <memory>

#include "serve/core/part.h"

namespace rooflua {

std::unique_ptr<Part> make_experts(Core& core, Loop& loop);

}  // namespace rooflua
