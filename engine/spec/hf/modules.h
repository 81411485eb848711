#pragma once
// Which classes of weights a list of module names in a config.json means: "lm_head",
// "model.layers.3.self_attn.o_proj", "model.layers.*.mlp.shared_experts*", "re:.*self_attn.*".

#include <array>
#include <string>
#include <vector>

#include "spec/layers.h"
#include "spec/model.h"

namespace rooflua {

/// The part of each class's modules that the names of a list match, in [0, 1]. A list names every
/// layer, or a pattern for all of them.
using ModuleShares = std::array<double, weight_classes>;
/// @param of_layers  if given, the same of each layer that may have the class
ModuleShares named_share(const Model& model, const std::vector<std::string>& names,
                         std::vector<ModuleShares>* of_layers = nullptr);

/// Whether it names a layer that the model does not have: of multi-token prediction.
bool names_a_layer_behind(const Model& model, const std::string& name);

/// Whether the model has weights of this class.
bool has_class(const Model& model, WeightClass each);

/// Whether the list names this class: at least half of its modules.
inline bool names_class(const ModuleShares& shares, WeightClass each) {
  return shares[static_cast<std::size_t>(each)] >= 0.5;
}

}  // namespace rooflua
