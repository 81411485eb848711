#pragma once
// Clients that do not wait for ever, and send requests again (contract/client.h).

#include <memory>

#include "serve/core/part.h"

namespace rooflua {

std::unique_ptr<Part> make_clients(Core& core, Loop& loop);

}  // namespace rooflua
