#pragma once
// A report for a terminal: tables without the columns that do not fit, and colour. Reports are kept
// in results files and are written to pipes as they are, so that this is the last thing that
// happens to a text.

#include <set>
#include <string>
#include <string_view>

namespace rooflua {

/// Heads of columns that the user asked for by name: metrics of a search.
using NamedColumns = std::set<std::string>;

/// The text with tables that fit lines of that many characters. Of a table of runs the least useful
/// columns are left out; its first column, the goodput and the scenario's own metrics always stay,
/// also where they are wider than the terminal. Of other tables columns are left out from the
/// right; the first and the named ones always stay, and the times and shares of a step stay as long
/// as they fit. A line under the table says what is missing. A table is a run of lines of at least three columns,
/// which are two spaces apart in every line. All other lines stay.
/// @param columns  0: the text as it is
/// @param option   shows everything: "--wide"
std::string fitted(std::string_view text, int columns, std::string_view option,
                   const NamedColumns& named = {});

/// The text with colour for a terminal: the first line and the heads of tables bold, rules dim,
/// kinds of evidence green (measured, interpolated) or yellow (extrapolated, stand_in, assumed),
/// and FAILED and PARTIAL red. Without its colour it is the text.
std::string painted(std::string_view text);

}  // namespace rooflua
