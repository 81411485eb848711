#pragma once
// Reading documents that may lack a member.

#include <string>
#include <string_view>

#include "base/json.h"

namespace rooflua {

/// The text at `key`; "" if there is none, or something else.
std::string text_of(const Json& object, std::string_view key);

}  // namespace rooflua
