#pragma once

#include <string>

namespace rooflua {

/// What a page can do where scripts run: tables are sorted by a click on a head and filtered,
/// differences to a baseline, series switched off and on by their legend, values under the pointer,
/// zoom by dragging, and the data as CSV and JSON. A page is complete without it. Comments and
/// spaces that mean nothing are left out. Its pure functions are the exports of a module in node
/// (tests/measure/page_script.js).
std::string page_script();

}  // namespace rooflua
