#pragma once
// The page of a validation.

#include <string>

#include "base/json.h"

namespace rooflua::app {

/// @param described  {title, lead, sections: [{heading, note, tables, charts: [{title, unit,
///                   series: [{name, points: [{x, y, note}]}]}], text}]} of validate_page.lua
std::string validation_page(const Json& described);

}  // namespace rooflua::app
