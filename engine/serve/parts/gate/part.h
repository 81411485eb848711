#pragma once
// The gate of a run as a part of it (core/part.h).

#include <memory>

#include "serve/core/part.h"

namespace rooflua {

std::unique_ptr<Part> make_gate(Core& core, Loop& loop);

}  // namespace rooflua
