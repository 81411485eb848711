#pragma once
// Reads a text member that a document may lack.

#include <string>
#include <string_view>

#include "base/json.h"

namespace rooflua {

/// The text at `key`; "" if the member is missing or not a text.
std::string text_of(const Json& object, std::string_view key);

}  // namespace rooflua
