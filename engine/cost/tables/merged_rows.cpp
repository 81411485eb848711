#include "cost/tables/merged_rows.h"

#include <algorithm>

#include "cost/tables/own_columns.h"

namespace rooflua {

ShapeOrder::ShapeOrder(Op op) {
  const OpDeclaration& declared = declaration_of(op);
  axis_ = work_axis(declared);
  std::vector<Column> last;
  for (const OwnColumn& own : own_columns(declared)) {
    const bool is_kv = own.field->is_kv();
    const bool is_axis = !is_kv && own.place == axis_;
    if (own.field->number == &Query::batch) batch_ = own.place;
    (is_axis ? last : columns_).push_back({own.place, own.field->kind == FieldKind::word, is_kv});
  }
  columns_.insert(columns_.end(), last.begin(), last.end());
}

int ShapeOrder::compare_column(const Column& column, const MergedRow& a, const MergedRow& b) const {
  if (column.is_kv) return static_cast<int>(a.row->kv_dtype) - static_cast<int>(b.row->kv_dtype);
  const double x = a.row->shape[column.place], y = b.row->shape[column.place];
  if (!column.is_word) return x < y ? -1 : x > y ? 1 : 0;
  const auto word = [](const MergedRow& row, double label) -> std::string_view {
    if (row.table->labels.empty()) return {};
    return row.table->labels[static_cast<std::size_t>(label)];
  };
  return word(a, x).compare(word(b, y));
}

int ShapeOrder::compare(const MergedRow& a, const MergedRow& b) const {
  for (const Column& column : columns_) {
    if (const int order = compare_column(column, a, b); order != 0) return order;
  }
  return 0;
}

int ShapeOrder::compare_series(const MergedRow& a, const MergedRow& b) const {
  for (const Column& column : columns_) {
    if (!column.is_kv && column.place == axis_) continue;
    if (const int order = compare_column(column, a, b); order != 0) return order;
  }
  return 0;
}

int ShapeOrder::compare_without_batch(const MergedRow& a, const MergedRow& b) const {
  for (const Column& column : columns_) {
    if (!column.is_kv && (column.place == axis_ || column.place == batch_)) continue;
    if (const int order = compare_column(column, a, b); order != 0) return order;
  }
  return 0;
}

std::vector<MergedRow> fastest_rows(const std::vector<const KernelTable*>& tables,
                                    const NotWritten& not_written) {
  std::vector<MergedRow> rows;
  for (const KernelTable* table : tables) {
    for (const KernelRow& row : table->rows) rows.push_back({table, &row});
  }
  const ShapeOrder order(tables.front()->op);
  std::stable_sort(rows.begin(), rows.end(), [&](const MergedRow& a, const MergedRow& b) {
    const int shape = order.compare(a, b);
    return shape != 0 ? shape < 0 : a.row->latency_s < b.row->latency_s;
  });
  std::vector<MergedRow> kept;
  for (const MergedRow& row : rows) {
    if (kept.empty() || order.compare(kept.back(), row) != 0) {
      kept.push_back(row);
    } else if (not_written) {
      not_written(*row.table, *row.row,
                  "the same shape again: the fastest row of a shape is taken");
    }
  }
  return kept;
}

}  // namespace rooflua
