#pragma once
// What a multi-modal config.json has besides the language model: the vision encoder and what
// projects its output.

#include <optional>
#include <string>

#include "base/fields.h"
#include "spec/layers.h"

namespace rooflua::hf {

/// The encoder that `vision_config` describes; nothing without one, or without its widths.
/// It has a price where the word of the model is known.
/// @param family       model_type
/// @param hidden_size  of the language model
std::optional<ItemEncoder> vision_encoder(const Fields& config, const std::string& family,
                                          int hidden_size);

}  // namespace rooflua::hf
