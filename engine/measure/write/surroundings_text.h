#pragma once
// What surrounds the engines of a run, for the report of it.

#include <string>
#include <vector>

#include "measure/record/summary.h"

namespace rooflua {

/// Lines on clients and faults, an empty one in front of each; nothing where there are none.
std::string surroundings_text(const Summary& summary);

/// A line that says which part of the requests quantiles are of, and which flatters them; "" where
/// all completed, or none. Of several runs, of that of which the smallest part completed.
std::string survivors_text(const Summary& summary);
std::string survivors_text(const std::vector<NamedSummary>& runs);

}  // namespace rooflua
