// What only tables that record their spread can be asked: ours.

#include "cost/quality/measured_row.h"

#include <cmath>

#include "base/numbers/digits.h"
#include "cost/lookup/lookup.h"
#include "cost/tables/row_check.h"

namespace rooflua {
namespace {

constexpr double rounding = 1e-5;  // tables keep six digits
constexpr double wide_spread = 1.25;

double flop_of_row(const KernelTable& table, const KernelRow& row) {
  const auto& s = row.shape;
  // one GEMM of the pair that a query means: tokens * experts_per_token rows of [k] x [k, n]
  if (table.op == Op::grouped_gemm) return 2 * s[6] * s[3] * s[4] * s[5];
  return flop_of(table, row);
}

double bytes_of_row(const KernelTable& table, const KernelRow& row) {
  if (table.op == Op::grouped_gemm) return 0;  // which experts were touched is not recorded
  return bytes_of(query_of(table, row));
}

std::string micros(double time_s, int digits) {
  return significant(time_s * 1e6, digits) + " us";
}

}  // namespace

RowDoubt doubt_of(const KernelTable& table, const KernelRow& row, const Hardware* hardware) {
  if (!(row.latency_s > 0)) {
    return {FindingKind::not_positive, micros(row.latency_s, 6)};
  }
  if (const std::string why = impossible_shape(table, row); !why.empty()) {
    return {FindingKind::impossible_shape, why};
  }
  if (const std::string why = impossible_latency(row); !why.empty()) {
    return {FindingKind::impossible_latency, why};
  }
  if (!(row.latency_s_p10 > 0) || !(row.latency_s_p90 > 0)) return {};
  const double slack = rounding * row.latency_s;
  if (row.latency_s_p10 > row.latency_s + slack || row.latency_s > row.latency_s_p90 + slack) {
    return {FindingKind::quantiles,
            "p10 " + micros(row.latency_s_p10, 6) + ", p90 " + micros(row.latency_s_p90, 6)};
  }
  if (hardware != nullptr && table.op == Op::grouped_gemm) {
    const auto peak = hardware->stated_peak(table.dtype);
    const double mfu = peak ? flop_of_row(table, row) / (row.latency_s * peak->in_base_units()) : 0;
    if (mfu > 1) return {FindingKind::above_peak, significant(mfu, 4)};
  }
  if (hardware != nullptr && !over_links(query_of(table, row))) {
    const double least_s = bytes_of_row(table, row) / hardware->memory_bandwidth.in_base_units();
    if (least_s > row.latency_s) {
      return {FindingKind::above_bandwidth,
              micros(row.latency_s, 4) + ", its bytes need " + significant(least_s * 1e6, 4)};
    }
  }
  if (row.latency_s_p90 > wide_spread * row.latency_s_p10) {
    return {FindingKind::spread,
            "p10 " + micros(row.latency_s_p10, 4) + ", p90 " + micros(row.latency_s_p90, 4)};
  }
  return {};
}

}  // namespace rooflua
