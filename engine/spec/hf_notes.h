#pragma once
// What a Hugging Face config.json says and a Model leaves out, as notes of the model. Other floors
// see the notes in Model::notes.

#include "base/fields.h"
#include "spec/model.h"
#include "spec/quantization.h"

namespace rooflua {

/// Adds the notes: windows and chunks of attention, indexers, encoders, prediction layers, parts
/// that are not quantised, and keys whose effect is not known.
/// @param config  every key that the model follows was read from it before
void note_what_is_left_out(Model& model, const Fields& config, const FollowedFormats& followed);

}  // namespace rooflua
