#include "cost/tables/row_check.h"

#include <cmath>

#include "base/numbers/digits.h"
#include "cost/ops/declaration.h"

namespace rooflua {
namespace {

constexpr double least_s = 1e-9;
constexpr double most_s = 1000;
constexpr double most_whole = 9007199254740992.0;  // 2^53: every whole number is exact below

std::string number(double value) {
  return significant(value, 6);
}

/// The least value of a field that was measured.
double least_of(const Field& field) {
  const bool counted = field.number == &Query::batch || field.number == &Query::new_tokens;
  const bool setting = field.need == FieldNeed::zero && !counted;
  return field.number == &Query::context_tokens || field.need == FieldNeed::nothing || setting ? 0
                                                                                               : 1;
}

bool possible(double latency_s) {
  return latency_s >= least_s && latency_s <= most_s;
}

}  // namespace

std::string impossible_shape(const KernelTable& table, const KernelRow& row) {
  const bool divided = table.op == Op::grouped_gemm && row.shape[1] > 1;  // by the ranks
  std::string found;
  for_each_axis(declaration_of(table.op), [&](const Field& field, std::size_t place) {
    if (!found.empty() || field.kind == FieldKind::word) return;
    const double value = row.shape[place];
    const double least = divided && field.number == &Query::tokens ? 0 : least_of(field);
    const bool whole = divided || value == std::floor(value);
    if (value >= least && value <= most_whole && whole) return;
    found = std::string(field.axis_name()) + " " + number(value) +
            ": expected a whole number, at least " + number(least);
    if (value > most_whole) found += " and at most 2^53";
  });
  return found;
}

std::string impossible_latency(const KernelRow& row) {
  const auto text = [](const char* which, double latency_s) {
    return which + number(latency_s * 1e6) + " us; expected 0.001 us (1 ns) to 1e9 us (1,000 s)";
  };
  if (!possible(row.latency_s)) return text("a latency of ", row.latency_s);
  if (row.latency_s_p10 != 0 && !possible(row.latency_s_p10)) {
    return text("a p10 of ", row.latency_s_p10);
  }
  if (row.latency_s_p90 != 0 && !possible(row.latency_s_p90)) {
    return text("a p90 of ", row.latency_s_p90);
  }
  return "";
}

}  // namespace rooflua
