#pragma once
// What a config.json says of MLPs beside the experts, and of figures that differ by layer.

#include "base/fields.h"
#include "spec/hf/classes.h"
#include "spec/read_layers.h"

namespace rooflua::hf {

/// Whether the MLPs have a gate: as the file says (gated_mlp, mlp_type), as the class has it, else
/// by the activation.
/// @throws Error naming the activation where none of them decides
bool has_gate(const Fields& config, const Class* model_class);

/// The width of the dense MLP; 0 where the file has none or lists it by layer.
int mlp_width(const Model& model, const Fields& config, const Class* model_class);

/// Models whose layers have KV heads or widths of their own: num_key_value_heads_per_layer, lists
/// of num_key_value_heads and intermediate_size, block_configs. Fills attentions and mlps.
/// @throws Error naming the key for a block that is not supported
void read_layer_figures(ModelDraft& model, const Fields& config);

}  // namespace rooflua::hf
