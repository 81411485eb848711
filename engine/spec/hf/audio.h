#pragma once
// What a multi-modal config.json says of its encoder of sounds.

#include <optional>

#include "base/fields.h"
#include "spec/layers.h"

namespace rooflua::hf {

/// The encoder that `audio_config` describes; nothing without one, and of encoders that are not
/// known here (Whisper's, as Qwen2-Audio and Voxtral have it, and that of Qwen3-Omni).
/// @param hidden_size  of the language model
std::optional<ItemEncoder> audio_encoder(const Fields& config, int hidden_size);

}  // namespace rooflua::hf
