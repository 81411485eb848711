#pragma once
// Sentences that a reader needs besides the figures of a result, as its documents carry them.

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The `notes` of these documents (variants of --json), each once, in order of first appearance.
/// Those of some variants only come with names of these; of notes that differ in numbers alone the
/// first three, and how many more there are.
std::vector<std::string> notes_of(const std::vector<const Json*>& documents);

}  // namespace rooflua
