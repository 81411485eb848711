#pragma once
// The adapter of each request: what its workload says, or a draw. Adapters of a replica's steps are
// its own (serve/adapters/slots.h).

#include <memory>

#include "serve/core/part.h"

namespace rooflua {

std::unique_ptr<Part> make_adapters(Core& core, Loop& loop);

}  // namespace rooflua
