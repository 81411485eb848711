#pragma once
// What surrounds the engines of a run, for the report of it.

#include <string>

#include "measure/record/summary.h"

namespace rooflua {

/// Lines on clients and faults, an empty one in front of each; nothing where there are none.
std::string surroundings_text(const Summary& summary);

}  // namespace rooflua
