#pragma once
// Reads the kinds of layers and the formats of weights from a model's .toml.

#include "base/fields.h"
#include "spec/model.h"

namespace rooflua {

/// [[attention]], [[mlp]], [weights], [releases.NAME] and what belongs to them. Figures that a kind
/// leaves out are those of the model, which must have been read before.
/// @throws Error at the key
void read_layer_kinds(Model& model, const Fields& fields);

/// Gives each kind a name of its own, and the model's figures to what a kind leaves open; then the
/// model's own figures become those of the first kind that has them.
void complete_layer_kinds(Model& model);

/// @throws Error if a kind's figures are out of range or the layers do not add up
void validate_layer_kinds(const Model& model, const std::string& where);

}  // namespace rooflua
