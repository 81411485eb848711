#pragma once
// Sections of a page that a script describes: text, tables and charts, as a document.
//
//     {heading, note, tables: [[[cell, ...], ...], ...], charts: [chart, ...], text, folded}
//
//     chart = {title, kind, x: axis, y: axis, series: [{name, points: [{x, y, note}]}],
//              diagonal, bands: [0.1, ...]}
//     bars  = {title, kind: "bar", x: axis, segments: [name, ...], bars: [{name, total, values}]}
//     axis  = {label, unit, log}
//
// Everything but the heading may be missing. `kind` is "scatter" (default), "line" or "bar";
// `folded` is the line behind which the tables are folded away.

#include "base/json.h"
#include "measure/html/page.h"

namespace rooflua::html {

/// @param sections  a list of them; anything else adds nothing
void add_sections(HtmlPage& page, const Json& sections);

}  // namespace rooflua::html
