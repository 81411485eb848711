#pragma once
// Architectures that a Model cannot describe, by their model_type or by a key.

#include <string_view>

#include "base/fields.h"

namespace rooflua::hf {

/// @throws Error naming model_type, or the key
void refuse_what_a_model_cannot_describe(const Fields& fields, std::string_view type);

}  // namespace rooflua::hf
