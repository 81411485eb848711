#pragma once
// The requests that a workload knows of and does not send, as documents and as lines for people.

#include <string>
#include <vector>

#include "base/json.h"
#include "serve/contract/workload.h"

namespace rooflua {

/// [{source, unit, total, count, reasons: [{why, count, first_line}]}]; first_line only of a file.
/// Null where nothing was left out.
Json to_json(const std::optional<Unsent>& left);

/// A line for each source, of the `left_out` that these documents may have (variants of --json);
/// where they disagree it is the largest, as "up to":
///
///     burst.csv: 12 of 8,819 rows left out: 10 no output (first in line 17), 2 failed (first in
///     line 40)
std::vector<std::string> left_out_lines(const std::vector<const Json*>& documents);

}  // namespace rooflua
