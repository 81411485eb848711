#pragma once
// Sentences that a reader needs besides the figures of a result, as its documents carry them.

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The `notes` of these documents (variants of --json), each once, in order of first appearance. A
/// parameter without effect in some of them comes with their names.
std::vector<std::string> notes_of(const std::vector<const Json*>& documents);

}  // namespace rooflua
