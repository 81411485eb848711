#include "cost/work/octave_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cost/price/evidence.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, ... up to `most`, written down one after another.
std::vector<double> points_to(double most) {
  std::vector<double> out{1, 2, 3};
  for (double octave = 4; octave < most; octave *= 2) {
    for (const double quarters : {4, 5, 6, 7}) out.push_back(octave * quarters / 4);
  }
  out.push_back(most);
  return out;
}

/// A grid to 64 and 4,096 whose latency tells the place: row + column / 1,000.
struct Example {
  std::vector<double> x = points_to(64), y = points_to(4096), latency_s;
  std::vector<std::uint8_t> evidence;
  rooflua_octave_grid grid{};

  Example() {
    const std::size_t width = y.size() + 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        latency_s.push_back(static_cast<double>(i + 1) + static_cast<double>(j) / 1000);
        evidence.push_back(static_cast<std::uint8_t>((i + j) % 4));
      }
    }
    grid = {64, 4096, latency_s.data(), evidence.data(), static_cast<std::int32_t>(width)};
  }

  [[nodiscard]] rooflua_grid_cell at(double asked_x, double asked_y) const {
    rooflua_grid_cell cell{};
    find_cell(grid, asked_x, asked_y, cell);
    return cell;
  }
  [[nodiscard]] double value(std::size_t row, std::size_t column) const {
    return static_cast<double>(row) + static_cast<double>(column) / 1000;
  }
};

/// Index, from 1, of the last point at or before `number`.
std::size_t last_at(const std::vector<double>& points, double number) {
  return static_cast<std::size_t>(std::upper_bound(points.begin(), points.end(), number) -
                                  points.begin());
}

}  // namespace

TEST_CASE("the cell of a place is that between the points around it") {
  const Example example;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp2(std::uniform_real_distribution(0.0, 5.999)(random));
    const double y = std::exp2(std::uniform_real_distribution(0.0, 11.999)(random));
    const rooflua_grid_cell cell = example.at(x, y);
    const std::size_t row = last_at(example.x, x), column = last_at(example.y, y);
    REQUIRE(cell.x == example.x[row - 1]);
    REQUIRE(cell.next_x == example.x[row]);
    REQUIRE(cell.y == example.y[column - 1]);
    REQUIRE(cell.next_y == example.y[column]);
    REQUIRE(cell.u == (x - cell.x) / (cell.next_x - cell.x));
    REQUIRE(cell.v == (y - cell.y) / (cell.next_y - cell.y));
    REQUIRE(cell.few_few == example.value(row, column));
    REQUIRE(cell.few_many == example.value(row, column + 1));
    REQUIRE(cell.many_few == example.value(row + 1, column));
    REQUIRE(cell.many_many == example.value(row + 1, column + 1));
  }
}

TEST_CASE("at every point of the grid the cell begins, and has the point's evidence") {
  const Example example;
  for (std::size_t i = 1; i <= example.x.size(); ++i) {
    for (std::size_t j = 1; j <= example.y.size(); ++j) {
      const rooflua_grid_cell cell = example.at(example.x[i - 1], example.y[j - 1]);
      REQUIRE(cell.u == 0);
      REQUIRE(cell.v == 0);
      REQUIRE(cell.few_few == example.value(i, j));
      REQUIRE(cell.evidence == static_cast<int>((i - 1 + j) % 4));
    }
  }
}

TEST_CASE(
    "beside a point the evidence is the worst of those that count, and at best interpolated") {
  const Example example;
  constexpr auto interpolated = static_cast<int>(Evidence::interpolated);
  // Row 4 is x = 4, column 4 is y = 4: (4 - 1 + 4) % 4 = 3; its neighbours have 0, 0 and 1.
  CHECK(example.at(4, 4).evidence == 3);
  CHECK(example.at(4.5, 4).evidence == 3);
  CHECK(example.at(5, 4).evidence == 0);
  CHECK(example.at(5.5, 4).evidence == interpolated);  // 0 and 1
  CHECK(example.at(5, 4.5).evidence == interpolated);  // 0 and 1
  CHECK(example.at(5.5, 4.5).evidence == 2);           // 0, 1, 1 and 2
}

TEST_CASE("numbers outside of the grid count as its first or last point") {
  const Example example;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {-infinity, -3.0, 0.0, 0.99, 1.0, nan})
    CHECK(example.at(x, 1).few_few == example.value(1, 1));
  for (const double x : {64.0, 64.5, 1e300, infinity}) {
    CHECK(example.at(x, 1).few_few == example.value(example.x.size(), 1));
    CHECK(example.at(x, 1).u == 0);
  }
  for (const double y : {4096.0, 5000.0, infinity}) {
    const rooflua_grid_cell cell = example.at(64, y);
    CHECK(cell.few_few == example.value(example.x.size(), example.y.size()));
    CHECK(cell.many_many == cell.few_few);  // nothing is read beyond the grid
    CHECK(cell.v == 0);
  }
  for (const double y : {-infinity, -1.0, 0.0, 0.5, nan}) {
    CHECK(example.at(2, y).few_few == example.value(2, 0));
    CHECK(example.at(2, y).y == 0);
    CHECK(example.at(2, y).v == 0);
  }
}
