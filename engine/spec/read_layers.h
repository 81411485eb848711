#pragma once
// A model while it is read: the kinds of its layers, as lists or in the short form.

#include <string>

#include "base/fields.h"
#include "spec/declared/read_kind.h"
#include "spec/model.h"

namespace rooflua {

/// A model, and what its description says in the short form.
struct ModelDraft : Model, ShortForm {
  declared::Folders folders;  // of files of kinds of layers
};

/// So many layers with the heads of the model.
AttentionLayers layers_of(AttentionKind kind, int layers, const ModelDraft& model);

/// So many layers of a kind that is a file, with one of its parameters.
AttentionLayers layers_of_file(const std::string& kind, int layers, const std::string& parameter,
                               int value, const ModelDraft& model);

/// [[attention]], [[mlp]], [weights], [releases.NAME] and what belongs to them. Figures that a kind
/// leaves out are those of the model, which must have been read before.
/// @throws Error at the key
void read_layer_kinds(ModelDraft& model, const Fields& fields);

/// @param where  "a.toml: moe."
/// @throws Error if a token visits more experts than there are
void check_experts(const MixtureOfExperts& moe, const std::string& where);

/// Expands the short form to the lists that are empty, and gives each kind a name of its own; then
/// the model's own figures become those of the first kind that has them.
/// @throws Error if the short form does not fit the number of layers
void complete_layer_kinds(ModelDraft& model);
/// Gives each kind a name of its own: "window", and "window_2" for the next of that name.
void name_layer_kinds(Model& model);

}  // namespace rooflua
