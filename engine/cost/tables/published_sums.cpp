#include "cost/tables/published_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

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

std::vector<KernelRow> SummedRows::averaged() {
  // A row that cannot be stays as it is: it is an error later, with its line.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].latency_s > 0) order.push_back(i);
  }
  const auto key_of = [&](std::size_t i) {
    return std::tie(rows_[i].shape, rows_[i].kv_dtype, tag_of_[i]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key_of(a) < key_of(b); });
  std::vector<bool> repeats(rows_.size(), false);
  for (std::size_t start = 0; start < order.size();) {
    std::size_t end = start;
    double sum_s = 0;
    for (; end < order.size() && key_of(order[start]) == key_of(order[end]); ++end) {
      sum_s += rows_[order[end]].latency_s;
      repeats[order[end]] = end > start;
    }
    if (end > start + 1) {
      rows_[order[start]].latency_s = sum_s / static_cast<double>(end - start);
      if (fates_ != nullptr) fates_->note_averaged(end - start - 1);
    }
    start = end;
  }
  std::vector<KernelRow> result;
  result.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!repeats[i]) result.push_back(rows_[i]);
  }
  return result;
}

std::vector<KernelRow> SummedRows::finish() && {
  if (parts_ == 1) return averaged();
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
    shape.latencies_s[tag_of_[i]].push_back(rows_[i].latency_s);
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
        const bool is_plus = !plus_.empty() && tag_of_[i] == 1;
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
    const bool is_short = q.new_tokens * std::max(1.0, q.batch) <= most_tokens;
    if (is_short && q.context_tokens == 0) short_rows[key_of(row)].push_back(row.latency_s);
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
