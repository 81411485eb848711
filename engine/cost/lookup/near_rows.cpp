#include "cost/lookup/near_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rooflua {
namespace {

constexpr double least_value = 0.5;

double doubling(double value) {
  return std::log2(std::max(value, least_value));
}

/// What the rows of a table, which are those of one rank, are compared with.
double wanted_of(const Field& field, const Query& query) {
  const double value = field.number(query);
  return field.per_rank ? std::max(1.0, std::floor(value / std::max(1.0, query.tp))) : value;
}

}  // namespace

NearRows::NearRows(const KernelTable& table) : table_(table) {
  const OpDeclaration& op = declaration_of(table.op);
  Query asked;
  asked.decode = table.decode;
  for_each_axis(op, [&](const Field& field, std::size_t place) {
    if (!field.number || !field.read_by(asked)) return;
    (field.kind == FieldKind::word ? words_ : axes_).push_back(&field);
    (field.kind == FieldKind::word ? word_places_ : axis_places_).push_back(place);
  });
  has_kv_dtype_ = op.find("kv_dtype") != nullptr;
  for (const std::size_t place : axis_places_) {
    std::vector<double>& column = doublings_.emplace_back();
    column.reserve(table.rows.size());
    for (const KernelRow& row : table.rows) column.push_back(doubling(row.shape[place]));
  }
}

bool NearRows::fits(const Query& query, std::size_t i) const {
  const KernelRow& row = table_.rows[i];
  if (!(row.latency_s > 0) || (has_kv_dtype_ && row.kv_dtype != query.kv_dtype)) return false;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const double wanted = words_[w]->number(query);
    if (wanted != 0 && value_of(*words_[w], table_, row, word_places_[w]) != wanted) return false;
  }
  return true;
}

double NearRows::distance(const std::vector<double>& wanted, std::size_t row) const {
  double sum = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const double measured = std::max(table_.rows[row].shape[axis_places_[a]], least_value);
    const double doublings = std::log(std::max(wanted[a], least_value) / measured) / std::log(2.0);
    sum += doublings * doublings;
  }
  return std::sqrt(sum);
}

std::vector<NearRow> NearRows::near(const Query& query, std::size_t count) const {
  const std::size_t rows = table_.rows.size();
  std::vector<double> wanted;
  std::vector<double> squares(rows, 0);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    wanted.push_back(wanted_of(*axes_[a], query));
    const double at = doubling(wanted.back());
    const std::vector<double>& column = doublings_[a];
    for (std::size_t i = 0; i < rows; ++i) squares[i] += (column[i] - at) * (column[i] - at);
  }
  std::vector<double> smallest;
  for (std::size_t i = 0; i < rows; ++i) {
    if (fits(query, i)) {
      smallest.push_back(squares[i]);
    } else {
      squares[i] = std::numeric_limits<double>::infinity();
    }
  }
  count = std::min(count, smallest.size());
  if (count == 0) return {};
  std::nth_element(smallest.begin(), smallest.begin() + static_cast<std::ptrdiff_t>(count - 1),
                   smallest.end());
  // The squares are rounded; all rows that may be among the nearest are compared exactly.
  const double limit = smallest[count - 1] * (1 + 1e-9) + 1e-9;
  std::vector<NearRow> found;
  for (std::size_t i = 0; i < rows; ++i) {
    if (squares[i] <= limit) found.push_back({static_cast<int>(i), distance(wanted, i)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const NearRow& a, const NearRow& b) { return a.distance < b.distance; });
  found.resize(count);
  return found;
}

}  // namespace rooflua
