#pragma once
// Which requests the quantiles of a run are of.

#include <string>
#include <vector>

#include "measure/record/summary.h"

namespace rooflua {

/// A line that says which part of the requests quantiles are of, and which flatters them; "" where
/// all completed, or none. Of several runs, of that of which the smallest part completed.
std::string survivors_text(const Summary& summary);
std::string survivors_text(const std::vector<NamedSummary>& runs);

}  // namespace rooflua
