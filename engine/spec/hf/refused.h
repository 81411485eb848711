#pragma once
// Architectures that a Model cannot describe, by their model_type or by a key.

#include <string>
#include <string_view>

#include "base/fields.h"

namespace rooflua::hf {

/// @throws Error naming model_type, or the key
void refuse_what_a_model_cannot_describe(const Fields& fields, std::string_view type);

/// A description to begin with: what the file says of the shape of every layer.
std::string skeleton_of(const Fields& fields);

}  // namespace rooflua::hf
