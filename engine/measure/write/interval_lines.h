#pragma once
// How far an answer may be off, as lines: the `intervals` of a variant's document
// (scripts/lib/rooflua/intervals/answers.lua).

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The lines of one document; none where it has no intervals.
std::vector<std::string> interval_lines(const Json& document);

/// What these documents say of their kinds: one line for each kind under each load, that of its
/// widest interval, in order of first appearance.
std::vector<std::string> interval_kinds(const std::vector<const Json*>& documents);

}  // namespace rooflua
