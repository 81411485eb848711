#pragma once
// Parts of a run in its report.

#include <string>

#include "measure/record/summary.h"

namespace rooflua {

/// The lines and tables of the parts that stand there, in order. An empty line is in front of each
/// among_parts.
std::string parts_text(const Summary& summary, PartPosition::Spot spot);

}  // namespace rooflua
