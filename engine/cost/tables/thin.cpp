// Which rows follow from their neighbours.

#include <algorithm>
#include <cmath>
#include <optional>

#include "cost/tables/merged_rows.h"

namespace rooflua {
namespace {

struct Point {
  double x, y;
  std::size_t row;  // among all rows
};
using Line = std::vector<Point>;

/// The latency at x on the line between two points, both axes in logarithms. From an axis of 0 it
/// is the logarithm of one more.
double between(double x, double x0, double y0, double x1, double y1) {
  if (x0 <= 0) ++x, ++x0, ++x1;
  const double share = (std::log(x) - std::log(x0)) / (std::log(x1) - std::log(x0));
  return std::exp(std::log(y0) * (1 - share) + std::log(y1) * share);
}
double between(double x, const Point& a, const Point& b) {
  return between(x, a.x, a.y, b.x, b.y);
}

std::optional<double> read_at(const Line& line, double x) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i].x == x) return line[i].y;
    if (i > 0 && line[i - 1].x < x && x < line[i].x) return between(x, line[i - 1], line[i]);
  }
  return std::nullopt;
}

/// Points that stand alone: 1.5 times off the line between their neighbours, and 1.25 times off
/// both.
Line outliers(const Line& line) {
  constexpr double off_line = 1.5, off_both = 1.25;
  Line found;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    const Point &a = line[i - 1], &b = line[i], &c = line[i + 1];
    const double middle = between(b.x, a, c);
    const bool above = b.y > off_line * middle && b.y > off_both * std::max(a.y, c.y);
    const bool below = b.y * off_line < middle && b.y * off_both < std::min(a.y, c.y);
    if (above || below) found.push_back(b);
  }
  return found;
}

/// The fewest points from which the others follow.
Line fewest(const Line& line, double tolerance) {
  const std::size_t n = line.size();
  if (n < 3) return line;
  std::vector<std::size_t> count(n, n + 1), from(n, 0);
  count[0] = 0;
  const auto follow = [&](std::size_t i, std::size_t j) {
    for (std::size_t q = i + 1; q < j; ++q) {
      if (std::abs(between(line[q].x, line[i], line[j]) / line[q].y - 1) > tolerance) return false;
    }
    return true;
  };
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = j; i-- > 0;) {
      if (count[i] + 1 < count[j] && follow(i, j)) count[j] = count[i] + 1, from[j] = i;
    }
  }
  Line kept{line[n - 1]};
  for (std::size_t j = n - 1; j > 0;) kept.push_back(line[j = from[j]]);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

struct Series {
  double batch = 0;
  Line all, kept;
};

/// Whether every row of the batches between two follows from these.
bool batches_follow(const std::vector<Series>& group, const Series& low, const Series& high,
                    double tolerance) {
  for (const Series& each : group) {
    if (!(low.batch < each.batch && each.batch < high.batch)) continue;
    for (const Point& point : each.all) {
      const auto a = read_at(low.kept, point.x), b = read_at(high.kept, point.x);
      if (!a || !b) return false;
      if (std::abs(between(each.batch, low.batch, *a, high.batch, *b) / point.y - 1) > tolerance)
        return false;
    }
  }
  return true;
}

/// Leaves out batches as a whole where the neighbouring ones say the same.
void drop_batches(std::vector<Series>& group, double tolerance) {
  std::sort(group.begin(), group.end(),
            [](const Series& a, const Series& b) { return a.batch < b.batch; });
  std::vector<Series*> alive;
  for (Series& each : group) alive.push_back(&each);
  for (std::size_t i = 1; i + 1 < alive.size();) {
    if (batches_follow(group, *alive[i - 1], *alive[i + 1], tolerance)) {
      alive[i]->kept.clear();
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace

void thin(std::vector<MergedRow>& rows, double tolerance, const NotWritten& not_written) {
  if (rows.empty()) return;
  const ShapeOrder order(rows.front().table->op);
  std::vector<std::size_t> by_group(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) by_group[i] = i;
  std::stable_sort(by_group.begin(), by_group.end(), [&](std::size_t a, std::size_t b) {
    return order.compare_without_batch(rows[a], rows[b]) < 0;
  });
  std::vector<bool> keep(rows.size(), false);
  const auto leave_out = [&](const Point& point, std::string_view reason) {
    const MergedRow& row = rows[point.row];
    if (not_written) not_written(*row.table, *row.row, reason);
  };
  for (std::size_t start = 0; start < by_group.size();) {
    std::vector<Series> group;
    std::size_t end = start;
    for (; end < by_group.size(); ++end) {
      const MergedRow& row = rows[by_group[end]];
      if (order.compare_without_batch(rows[by_group[start]], row) != 0) break;
      const bool fresh = end == start || order.compare_series(rows[by_group[end - 1]], row) != 0;
      if (fresh) group.push_back({order.has_batch() ? order.batch(row) : 0, {}, {}});
      group.back().all.push_back({order.axis(row), row.row->latency_s, by_group[end]});
    }
    for (Series& series : group) {
      for (const Point& alone : outliers(series.all)) {
        leave_out(alone, "thinned: it stands alone, 1.5 times off the line between its neighbours");
        std::erase_if(series.all, [&](const Point& point) { return point.row == alone.row; });
      }
      series.kept = fewest(series.all, tolerance);
    }
    if (order.has_batch()) drop_batches(group, tolerance);
    for (const Series& series : group) {
      for (const Point& point : series.kept) keep[point.row] = true;
      for (const Point& point : series.all) {
        if (!keep[point.row]) leave_out(point, "thinned: it follows from its neighbours");
      }
    }
    start = end;
  }
  std::vector<MergedRow> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (keep[i]) kept.push_back(rows[i]);
  }
  rows = std::move(kept);
}

}  // namespace rooflua
