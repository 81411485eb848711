#pragma once
// Units of a scenario's parameters, for axes and heads of tables.

#include <string>

#include "base/json.h"

namespace rooflua::html {

/// The unit of a parameter; "" where it has none.
/// @param parameters  [{path, unit}] of the scenario, or nothing
std::string unit_of_parameter(const Json& parameters, const std::string& path);

}  // namespace rooflua::html
