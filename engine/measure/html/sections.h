#pragma once
// Sections of a page that a script describes: text, tables and charts, as a document.
//
//     {heading, lead: text, facts: [{title, text}], fields: [{label, key, value, unit}], note,
//      paragraphs: [line, ...], evidence: {names, shares}, charts: [chart, ...],
//      tables: [[[cell, ...], ...], ...], cards: {head: [cell, ...], rows: [[text, ...], ...]},
//      text: "as it is", folded, grids: [grid of measure/html/grid.h, ...]}
//
//     text  = {lines: [line, ...], key}: a page's script finds it by the key and replaces it
//     chart = {title, kind, x: axis, y: axis, series: [{name, points: [point]}],
//              diagonal, bands: [0.1, ...], limits: [{value, label, plain}],
//              marks: [{value, label}]}
//     point = {x, y, note, low, high, variant}: low and high are the ends of an interval of y,
//             variant is the index of the run in the document
//     bars  = {title, kind: "bar", x: axis, segments: [name, ...], bars: [{name, total, values}]}
//     gantt = {title, kind: "gantt", x: axis, segments: [name, ...],
//              rows: [{label, note, open, spans: [{from, to, part: from 0, note, open}]}]};
//              a laboratory opens the picture `open` on a click
//     axis  = {label, unit, log, ticks: [where they should be, instead of at round numbers]}
//
// Everything but the heading may be missing. `kind` is "scatter" (default), "line", "bar" or
// "gantt"; `folded` is the line after which tables, cards and text are folded away. A limit is a
// value of y, a mark one of x (kind "line"). A series has one colour in all charts of the page. The
// value of a limit is added to its label, in the unit of the axis, unless the limit is `plain`. An
// axis whose label is a parameter of the scenario shows its unit.

#include "base/json.h"
#include "measure/html/page.h"

namespace rooflua::html {

/// @param sections    a list of them; anything else adds nothing
/// @param parameters  [{path, unit}] of the scenario, or nothing
/// @param below       whether they are parts of a section that was opened
void add_sections(HtmlPage& page, const Json& sections, const Json& parameters = {},
                  bool below = false);

/// A whole page: {title, lead, sections}.
std::string described_page(const Json& described);

}  // namespace rooflua::html
