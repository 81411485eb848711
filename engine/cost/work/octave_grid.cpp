#include "cost/work/octave_grid.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cost/price/evidence.h"

namespace rooflua {

namespace {

/// Where a number lies on an axis.
struct Place {
  std::int32_t index;  // of the point at or before it; the point 1 has index 1
  double point, gap;   // that point, and the distance to the next one
  double per_gap;      // 1 / gap, which is exact: gaps are powers of two
};

/// @param x  from 1 to 2^26
Place place_of(double x) noexcept {
  if (x < 4) {
    const auto index = static_cast<std::int32_t>(x);
    return {index, static_cast<double>(index), 1, 1};
  }
  // The exponent and the first two bits after the point say which of four an octave it is.
  constexpr int other_bits = 50;
  constexpr auto of_four =
      static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(4.0) >> other_bits);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const double point = std::bit_cast<double>(bits >> other_bits << other_bits);
  const std::uint64_t octave = bits >> 52 << 52;
  constexpr std::uint64_t of_one = std::bit_cast<std::uint64_t>(1.0);
  return {4 + static_cast<std::int32_t>(bits >> other_bits) - of_four, point,
          std::bit_cast<double>(octave) / 4, std::bit_cast<double>(2 * of_one - octave) * 4};
}

}  // namespace

void find_cell(const rooflua_octave_grid& grid, double x, double y,
               rooflua_grid_cell& cell) noexcept {
  x = x >= 1 ? std::min(x, grid.most_x) : 1;  // also where it is no number
  y = y >= 1 ? std::min(y, grid.most_y) : 0;
  const Place row = place_of(x);
  const Place column = y == 0 ? Place{0, 0, 1, 1} : place_of(y);
  cell.x = row.point;
  cell.next_x = row.point + row.gap;
  cell.u = (x - row.point) * row.per_gap;
  cell.y = column.point;
  cell.next_y = column.point + column.gap;
  cell.v = (y - column.point) * column.per_gap;
  const std::int32_t few = (row.index - 1) * grid.width + column.index;
  const std::int32_t right = y < grid.most_y ? 1 : 0;
  const std::int32_t many = few + (x < grid.most_x ? grid.width : 0);
  cell.few_few = grid.latency_s[few];
  cell.few_many = grid.latency_s[few + right];
  cell.many_few = grid.latency_s[many];
  cell.many_many = grid.latency_s[many + right];
  std::uint8_t worst = grid.evidence[few];
  if (cell.u > 0 || cell.v > 0)
    worst = std::max(worst, static_cast<std::uint8_t>(Evidence::interpolated));
  if (cell.v > 0) worst = std::max(worst, grid.evidence[few + right]);
  if (cell.u > 0) worst = std::max(worst, grid.evidence[many]);
  if (cell.u > 0 && cell.v > 0) worst = std::max(worst, grid.evidence[many + right]);
  cell.evidence = worst;
}

}  // namespace rooflua
