#pragma once
// A grid of colours: a table with a cell for each pair of values of two parameters, and a coloured
// table for each metric, of which the reader sees one at a time. It needs no script.
//
//     {title, x: {label, unit}, y: {label, unit}, xs: [...], ys: [...],
//      variants: [index or -1, ...], states: [why a cell has no run, or "", ...],
//      metrics: [{name, label, unit, limit, low, high, values: [number or null, ...]}, ...]}
//
// Lists of cells go row by row, along x first. `unit` of a metric is that of its values: "s" is
// shown in a unit that fits, "1" as percent. `limit` is a most that the SLO allows, or missing. The
// colours reach from `low` to `high`, which are at the ends of the values of all grids of a
// section.

#include <string>

#include "base/json.h"

namespace rooflua::html {

/// @param described   the document above
/// @param parameters  [{path, unit}] of the scenario, for labels that are paths
/// @param number      of the grid on its page: names its switches
std::string grid_html(const Json& described, const Json& parameters, int number);

}  // namespace rooflua::html
