#include "measure/write/group_tables.h"

#include <algorithm>

namespace rooflua {

namespace {

constexpr std::string_view group_columns[] = {
    "completed",  "requests_per_s", "output_tokens_per_s", "ttft_s_p50",  "ttft_s_p99",
    "tpot_s_p50", "e2e_s_mean",     "goodput_per_s",       "held_s_mean", "held_s_p99"};

bool was_held(const std::vector<GroupSummary>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const GroupSummary& each) { return each.held_s_mean.has_value(); });
}

}  // namespace

std::vector<GroupColumn> columns_of_groups(const std::vector<const Summary*>& runs) {
  bool with_goodput = false, with_held = false;
  for (const Summary* each : runs) {
    with_goodput = with_goodput || each->goodput_per_s.has_value();
    with_held = with_held || was_held(each->classes) || was_held(each->tenants);
  }
  std::vector<GroupColumn> out;
  for (const std::string_view name : group_columns) {
    out.push_back(group_column(name));
    const bool is_held = name.starts_with("held_s");
    if (out.back().is_optional() && !(is_held ? with_held : with_goodput)) out.pop_back();
  }
  return out;
}

std::vector<std::vector<std::string>> rows_of_groups(const std::vector<NamedSummary>& runs,
                                                     std::vector<GroupSummary> Summary::*groups,
                                                     const char* title) {
  std::vector<const Summary*> summaries;
  for (const NamedSummary& each : runs) summaries.push_back(each.summary);
  const std::vector<GroupColumn> columns = columns_of_groups(summaries);
  std::vector<std::vector<std::string>> rows{{"variant", title}};
  for (const GroupColumn& column : columns) rows[0].push_back(column.label());
  for (const NamedSummary& run : runs) {
    for (const GroupSummary& group : run.summary->*groups) {
      if (group.completed + group.failed == 0) continue;
      std::vector<std::string> row{std::string(run.name), group.name};
      for (const GroupColumn& column : columns) row.push_back(cell(column, group));
      rows.push_back(std::move(row));
    }
  }
  return rows.size() > 1 ? rows : std::vector<std::vector<std::string>>{};
}

}  // namespace rooflua
