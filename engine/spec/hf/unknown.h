#pragma once
// Keys of a config.json that nothing reads.

#include <string>
#include <vector>

#include "base/fields.h"
#include "spec/model.h"

namespace rooflua::hf {

/// Refuses keys that speak of the shape of a model (experts, heads, groups, layers, windows,
/// compression, ...) or look like a misspelt key; the others become a note.
/// @param config  every key that the model follows was read from it before
/// @throws Error naming the key, and how to go on
void check_unread(Model& model, const Fields& config);

/// What an error says of a key that may be left out.
std::string how_to_go_on_without(const std::string& key);

/// "a, b, c and 4 more"
std::string listed(const std::vector<std::string>& names);

}  // namespace rooflua::hf
