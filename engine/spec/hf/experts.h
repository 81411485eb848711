#pragma once
// The routed experts of a config.json, under the words that released models use.

#include "base/fields.h"
#include "spec/hf/classes.h"
#include "spec/read_layers.h"

namespace rooflua::hf {

/// Fills model.moe; nothing for a model without experts. Layers and widths are read before.
/// @throws Error naming the key where the file speaks of experts and one of their figures is
///         missing, or where they differ by layer
void read_experts(ModelDraft& model, const Fields& fields, const Class* model_class);

}  // namespace rooflua::hf
