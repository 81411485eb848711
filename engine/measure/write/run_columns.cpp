#include "measure/write/run_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "measure/record/metrics.h"

namespace rooflua {

namespace {

using Runs = std::vector<const Summary*>;

RunColumn::Kind kind_of(const Column& column) {
  if (column.is_time()) return RunColumn::Kind::time;
  if (column.is_share()) return RunColumn::Kind::share;
  return column.is_count() ? RunColumn::Kind::count : RunColumn::Kind::number;
}

bool says_something(const RunColumn& column, bool may_be_empty, const Runs& runs) {
  if (may_be_empty && column.kind != RunColumn::Kind::count) return true;
  return std::any_of(runs.begin(), runs.end(), [&](const Summary* run) {
    const double value = column.value(*run);
    return std::isfinite(value) && (column.kind != RunColumn::Kind::count || value != 0);
  });
}

TimeUnit unit_of(const RunColumn& column, const Runs& runs) {
  double largest = 0;
  for (const Summary* run : runs) {
    const double value = column.value(*run);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return time_unit(largest);
}

bool is_number(const Metric& metric) {
  return std::visit(
      [](const auto& source) {
        using Member = std::remove_cvref_t<decltype(source)>;
        return std::is_same_v<Member, std::int64_t Summary::*> ||
               std::is_same_v<Member, double Summary::*> ||
               std::is_same_v<Member, std::optional<double> Summary::*> ||
               std::is_same_v<Member, std::optional<std::int64_t> Summary::*> ||
               std::is_same_v<Member, OutcomeCounts Summary::*> ||
               std::is_same_v<Member, EvidenceShares Summary::*>;
      },
      metric.source);
}

/// Names of the scenario's own metrics, each once.
std::vector<std::string> own_names(const Runs& runs) {
  std::vector<std::string> out;
  for (const Summary* run : runs) {
    for (const OwnMetric& each : run->own) {
      if (std::find(out.begin(), out.end(), each.name) == out.end()) out.push_back(each.name);
    }
  }
  return out;
}

double own_value(const Summary& run, const std::string& name) {
  for (const OwnMetric& each : run.own) {
    if (each.name == name) return each.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string RunColumn::title() const {
  return kind == Kind::time ? label + " " + unit.name : label;
}

std::string RunColumn::cell(const Summary& run) const {
  const double number = value(run);
  if (!std::isfinite(number)) return "-";
  if (kind == Kind::time) return figure(number * unit.per_s);
  if (kind == Kind::share) return percent(number);
  if (kind == Kind::count) return grouped(static_cast<std::int64_t>(number));
  return figure(number);
}

std::vector<RunColumn> run_columns(const std::vector<WantedColumn>& wanted, const Runs& runs,
                                   Empty empty) {
  std::vector<RunColumn> out;
  for (const WantedColumn& each : wanted) {
    const Column column = run_column(each.metric);
    RunColumn added;
    added.label = each.label.empty() ? column.label() : std::string(each.label);
    added.metric = each.metric;
    added.kind = kind_of(column);
    added.value = [column](const Summary& run) { return column.value(run); };
    if (!says_something(added, empty == Empty::keep && !column.is_optional(), runs)) continue;
    added.unit = unit_of(added, runs);
    out.push_back(std::move(added));
  }
  for (const std::string& name : own_names(runs)) {
    RunColumn added;
    added.label = added.metric = name;
    added.value = [name](const Summary& run) { return own_value(run, name); };
    out.push_back(std::move(added));
  }
  return out;
}

const std::vector<std::string>& run_column_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Metric& each : run_metrics()) {
      const std::string name(each.name);
      if (std::holds_alternative<Statistics Summary::*>(each.source)) {
        for (const Figure& figure : statistic_figures)
          out.push_back(name + "_" + std::string(figure.name));
      } else if (is_number(each)) {
        out.push_back(name);
      }
    }
    return out;
  }();
  return names;
}

}  // namespace rooflua
