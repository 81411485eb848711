#include "cost/tables/published_sums.h"

#include <algorithm>
#include <map>

#include "cost/tables/row_fates.h"

namespace rooflua {
namespace {

using Key = std::pair<std::array<double, max_axes>, Dtype>;

/// The upper one of the two middle values of an even number.
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<KernelRow> SummedRows::finish() && {
  if (parts_ == 1) return std::move(rows_);
  struct Shape {
    std::size_t first = 0;
    std::vector<std::vector<double>> latencies_s;
    std::vector<std::size_t> rows;
  };
  std::map<Key, Shape> shapes;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Shape& shape = shapes[{rows_[i].shape, rows_[i].kv_dtype}];
    if (shape.latencies_s.empty()) {
      shape.first = i;
      shape.latencies_s.resize(parts_);
    }
    shape.latencies_s[part_of_[i]].push_back(rows_[i].latency_s);
    shape.rows.push_back(i);
  }
  std::vector<std::pair<std::size_t, double>> whole;
  for (auto& [key, shape] : shapes) {
    double sum_s = 0;
    bool complete = true;
    for (std::vector<double>& each : shape.latencies_s) {
      complete = complete && !each.empty();
      if (!each.empty()) sum_s += median(each);
    }
    if (complete) {
      whole.emplace_back(shape.first, sum_s);
    } else if (fates_ != nullptr) {
      for (const std::size_t i : shape.rows) {
        const bool is_plus = !plus_.empty() && part_of_[i] == 1;
        fates_->leave_out(is_plus ? plus_ : path_, rows_[i].line, RowFates::taken_back,
                          "the other part of the shape has no row");
      }
    }
  }
  std::sort(whole.begin(), whole.end());
  std::vector<KernelRow> result;
  for (const auto& [first, latency_s] : whole) {
    result.push_back(rows_[first]);
    result.back().latency_s = latency_s;
  }
  return result;
}

void drop_launch_floor(KernelTable& table, double floors, const std::filesystem::path& path,
                       RowFates* fates) {
  constexpr double most_tokens = 64;
  std::map<Key, std::vector<double>> short_rows;
  const auto key_of = [&](const KernelRow& row) {
    Key key{{}, row.kv_dtype};
    for_each_axis(declaration_of(table.op), [&](const Field& field, std::size_t place) {
      const bool width = field.number == &Query::hidden_size || field.number == &Query::heads;
      if (width) key.first[place] = row.shape[place];
    });
    return key;
  };
  for (const KernelRow& row : table.rows) {
    const Query q = query_of(table, row);
    if (q.new_tokens * std::max(1.0, q.batch) <= most_tokens)
      short_rows[key_of(row)].push_back(row.latency_s);
  }
  std::erase_if(table.rows, [&](const KernelRow& row) {
    const auto found = short_rows.find(key_of(row));
    if (found == short_rows.end()) return false;
    if (row.latency_s >= floors * median(found->second)) return false;
    if (fates != nullptr) {
      fates->leave_out(path, row.line, RowFates::taken_back,
                       "timed eagerly: below 1.5 times the floor of the launches");
    }
    return true;
  });
}

}  // namespace rooflua
