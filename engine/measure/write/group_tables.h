#pragma once
// Tables of groups of requests: classes, tenants, the requests of a replica.

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/metrics.h"
#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

/// What a table says of a group: goodput only where a run has it, times at a gate only where some
/// request was held.
std::vector<GroupColumn> columns_of_groups(const std::vector<const Summary*>& runs);

/// A record's number as a report shows it; "" where it has none.
template <class Record>
std::string cell(const ColumnOf<Record>& column, const Record& record) {
  const double value = column.value(record);
  if (column.is_optional() && std::isnan(value)) return "";
  if (column.is_time()) return duration(value);
  if (column.is_share()) return percent(value);
  return column.is_count() ? grouped(static_cast<std::int64_t>(value)) : figure(value);
}

/// A header, and a row per run and group; nothing where no run has such groups. Groups without a
/// request that ended are left out.
/// @param title  of the column with the groups' names: "class"
std::vector<std::vector<std::string>> rows_of_groups(const std::vector<NamedSummary>& runs,
                                                     std::vector<GroupSummary> Summary::*groups,
                                                     const char* title);

}  // namespace rooflua
