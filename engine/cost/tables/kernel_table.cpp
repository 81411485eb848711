#include "cost/tables/kernel_table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/power.h"

namespace rooflua {
namespace {

/// Rows whose MFU has so few digits that it says nothing about the peak are left out.
bool tells_the_peak(const KernelTable& table, double listed) {
  return listed >= 10 * power_of_ten(-table.mfu_decimals);
}

}  // namespace

std::vector<std::string> axis_names(Op op) {
  std::vector<std::string> names;
  for_each_axis(declaration_of(op), [&](const Field& field, std::size_t place) {
    if (place == names.size()) names.emplace_back(field.axis_name());
  });
  return names;
}

double value_of(const Field& field, const KernelTable& table, const KernelRow& row,
                std::size_t place) {
  const double value = row.shape[place];
  if (field.kind != FieldKind::word) return value;
  const auto label = static_cast<std::size_t>(value);
  return label < table.labels.size() ? code_of(field, table.labels[label]) : unknown_word;
}

double flop_of(const KernelTable& table, const KernelRow& row) {
  const OpDeclaration& op = declaration_of(table.op);
  if (op.convention == FlopConvention::none) return 0;
  const bool half = table.convention == FlopConvention::attention_causal_half;
  return op.flop(query_of(table, row), half ? 0.5 : 1);
}

double derived_mfu(const KernelTable& table, const KernelRow& row, FlopPerSecond peak) {
  const double flop = flop_of(table, row);
  if (!(flop > 0) || !(row.latency_s > 0) || !(peak.in_base_units() > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return flop / (row.latency_s * peak.in_base_units());
}

ImpliedPeak implied_peak(const KernelTable& table) {
  std::vector<double> peaks;
  for (const KernelRow& row : table.rows) {
    const double flop = flop_of(table, row);
    if (flop > 0 && row.latency_s > 0 && tells_the_peak(table, row.listed_mfu)) {
      peaks.push_back(flop / (row.latency_s * row.listed_mfu));
    }
  }
  if (peaks.empty()) return {};
  std::sort(peaks.begin(), peaks.end());
  return {FlopPerSecond(peaks.front()), FlopPerSecond(peaks[peaks.size() / 2]),
          FlopPerSecond(peaks.back())};
}

Query query_of(const KernelTable& table, const KernelRow& row) {
  const OpDeclaration& op = declaration_of(table.op);
  Query q;
  q.op = table.op;
  q.dtype = table.dtype;
  q.kv_dtype = row.kv_dtype;
  q.decode = table.decode;
  for_each_axis(op, [&](const Field& field, std::size_t place) {
    if (!field.number || !field.read_by(q)) return;
    field.number(q) = value_of(field, table, row, place);
  });
  if (op.from_row != nullptr) op.from_row(q, table, row);
  return q;
}

}  // namespace rooflua
