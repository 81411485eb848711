// How well a lookup predicts rows that were taken away.

#include <algorithm>
#include <cmath>

#include "cost/lookup.h"
#include "cost/mfu_database.h"

namespace rooflua {
namespace {

bool same_point(const KernelRow& a, const KernelRow& b) {
  return a.shape == b.shape && a.kv_dtype == b.kv_dtype;
}

KernelTable without(const KernelTable& table, std::size_t row) {
  KernelTable rest = table;
  rest.rows.erase(rest.rows.begin() + static_cast<std::ptrdiff_t>(row));
  const std::size_t width = table.part_names.size();
  const auto part = rest.parts.begin() + static_cast<std::ptrdiff_t>(row * width);
  rest.parts.erase(part, part + static_cast<std::ptrdiff_t>(width));
  return rest;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

LeaveOneOut leave_one_out(const KernelTable& table, const std::string& lookup,
                          const std::optional<Hardware>& hardware, int stride) {
  DatabaseOptions options;
  options.hardware = hardware;
  if (options.hardware) options.hardware->tables_from.clear();
  options.lookup = lookup;
  options.layout = Layout::infersim;
  options.gpu = hardware ? hardware->name : "";
  options.default_mfu = 0.5;  // a policy without a row still answers
  LeaveOneOut result;
  result.table = table.name;
  std::vector<double> errors, inside;
  for (std::size_t i = 0; i < table.rows.size();
       i += static_cast<std::size_t>(std::max(1, stride))) {
    const KernelRow& row = table.rows[i];
    const auto twins =
        std::count_if(table.rows.begin(), table.rows.end(),
                      [&](const KernelRow& other) { return same_point(row, other); });
    if (twins > 1 || table.rows.size() < 2 || !(row.latency_s > 0)) continue;
    const auto database = MfuDatabase::from_tables({without(table, i)}, options);
    const Estimate estimate = database->estimate(query_of(table, row));
    const double error = std::abs(estimate.latency_s / row.latency_s - 1);
    if (!std::isfinite(error)) continue;
    errors.push_back(error);
    if (estimate.evidence <= Evidence::interpolated) inside.push_back(error);
  }
  result.rows = static_cast<int>(errors.size());
  result.rows_inside = static_cast<int>(inside.size());
  result.mape = mean(errors);
  result.mape_inside = mean(inside);
  std::sort(errors.begin(), errors.end());
  if (!errors.empty()) result.median = errors[errors.size() / 2];
  return result;
}

}  // namespace rooflua
