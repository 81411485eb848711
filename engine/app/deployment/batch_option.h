#pragma once
// The batch that --prefill and --decode say.

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua::app {

/// As kind "price" has it.
/// @param images  "1024x768"
/// @throws Error for what is no such batch, and where none is given
Json batch_of(const std::vector<std::string>& prefill, const std::vector<std::string>& decode,
              const char* command, const std::vector<std::string>& images = {});

}  // namespace rooflua::app
