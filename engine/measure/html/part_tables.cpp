// Tables of a page: parts of a run that not every run has, and its groups of requests.

#include "measure/html/choice.h"
#include "measure/html/parts.h"
#include "measure/record/metrics.h"
#include "measure/write/group_tables.h"
#include "measure/write/surroundings_text.h"

namespace rooflua::html {

namespace {

/// A number as a table shows it; of a distribution its mean.
template <class Record>
std::string cell_of(const MetricOf<Record>& metric, const Record& record) {
  const bool is_time = metric.unit == "s", is_share = metric.unit == "1";
  const auto text = [&](double value) {
    return is_time ? duration(value) : is_share ? percent(value) : figure(value);
  };
  if (const auto* count = std::get_if<std::int64_t Record::*>(&metric.source))
    return grouped(record.*(*count));
  if (const auto* value = std::get_if<double Record::*>(&metric.source))
    return text(record.*(*value));
  if (const auto* maybe = std::get_if<std::optional<double> Record::*>(&metric.source))
    return record.*(*maybe) ? text(*(record.*(*maybe))) : "";
  if (const auto* times = std::get_if<Statistics Record::*>(&metric.source))
    return text((record.*(*times)).mean);
  return "";
}

template <class Record>
void add_cells(std::vector<std::string>& row, const Record& record,
               std::span<const MetricOf<Record>> metrics) {
  for (const auto& metric : metrics) row.push_back(cell_of(metric, record));
}

/// What a part of the run amounted to, of variants that have it.
template <class Record>
void add_part(HtmlPage& page, const std::vector<Served>& variants,
              std::optional<Record> Summary::*part, std::span<const MetricOf<Record>> metrics) {
  std::vector<std::vector<std::string>> rows{{"variant"}};
  for (const auto& metric : metrics) rows[0].emplace_back(metric.label);
  for (const Served& each : variants) {
    const std::optional<Record>& found = each.summary.*part;
    if (!found) continue;
    rows.push_back({name_of(each)});
    add_cells(rows.back(), *found, metrics);
  }
  if (rows.size() > 1) page.table(rows);
}

/// Pools whose engines come and go.
void add_pools(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::vector<std::string>> rows{{"variant", "pool"}};
  for (const auto& metric : pool_metrics()) rows[0].emplace_back(metric.label);
  for (const Served& each : variants) {
    for (const PoolSummary& pool : each.summary.pools) {
      rows.push_back({name_of(each), pool.name});
      add_cells(rows.back(), pool, pool_metrics());
    }
  }
  if (rows.size() > 1) page.table(rows);
}

void add_groups(HtmlPage& page, const std::vector<NamedSummary>& runs,
                std::vector<GroupSummary> Summary::*groups, const char* title) {
  const auto rows = rows_of_groups(runs, groups, title);
  if (rows.empty()) return;
  const bool many = rows.size() > most_listed;
  if (many) page.open_details(std::to_string(rows.size() - 1) + " rows by " + title);
  page.table(rows);
  if (many) page.close_details();
}

}  // namespace

std::string name_of(const Served& variant) {
  return variant.name.empty() ? "run" : variant.name;
}

void add_parts(HtmlPage& page, const std::vector<Served>& variants) {
  std::vector<std::string> names;
  for (const Served& each : variants) names.push_back(name_of(each));
  std::vector<NamedSummary> runs;
  for (std::size_t i = 0; i < variants.size(); ++i)
    runs.push_back({names[i], &variants[i].summary});
  if (const std::string survivors = survivors_text(runs); !survivors.empty())
    page.note(survivors.substr(0, survivors.size() - 1) + ".");
  add_groups(page, runs, &Summary::classes, "class");
  add_groups(page, runs, &Summary::tenants, "tenant");
  add_part(page, variants, &Summary::clients, client_metrics());
  add_part(page, variants, &Summary::faults, fault_metrics());
  add_part(page, variants, &Summary::plays, play_metrics());
  add_part(page, variants, &Summary::gate, gate_metrics());
  add_part(page, variants, &Summary::adapters, adapter_metrics());
  add_part(page, variants, &Summary::experts, expert_metrics());
  add_part(page, variants, &Summary::fairness, fairness_metrics());
  add_pools(page, variants);
}

}  // namespace rooflua::html
