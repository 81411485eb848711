#pragma once
// The HTML page of a validation.

#include <string>

#include "base/json.h"

namespace rooflua::app {

/// @param described  {title, lead, sections: [{heading, note, tables, charts: [{title, unit,
///                   series: [{name, points: [{x, y, note}]}]}], text}]}, as
///                   scripts/lib/rooflua/validate/page.lua builds it
std::string validation_page(const Json& described);

}  // namespace rooflua::app
