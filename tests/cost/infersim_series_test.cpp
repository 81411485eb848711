// Searches over the rows of InferSim's tables against the scans they stand for, literally, on rows
// in any order, with twins, and on tables of none.

#include "cost/lookup/infersim_series.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/catch.h"

using namespace rooflua::infersim;

namespace {

class Noise {
 public:
  int below(int limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_ = 5;
};

struct Rows {
  Scan scan;
  std::vector<double> y;
};

/// Mostly ascending, as tables are, with a few numbers out of order and twins.
Rows random_rows(Noise& noise) {
  Rows rows;
  const int count = noise.below(20);
  for (int i = 0; i < count; ++i) {
    const bool astray = noise.below(4) == 0;
    rows.scan.add(astray ? noise.below(30) : i, 3 * i + noise.below(3));
    rows.y.push_back(noise.below(12));
  }
  return rows;
}

int last_up_to(const Rows& rows, double x) {
  int row = -1;
  for (std::size_t i = 0; i < rows.y.size(); ++i)
    if (rows.scan.x[i] <= x) row = rows.scan.row[i];
  return row;
}

int before_first_larger(const Rows& rows, double x) {
  int row = -1;
  for (std::size_t i = 0; i < rows.y.size() && rows.scan.x[i] <= x; ++i) row = rows.scan.row[i];
  return row;
}

int nearest(const Rows& rows, double x) {
  double least = std::numeric_limits<double>::infinity();
  int row = -1;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double far = std::abs(rows.scan.x[i] - x);
    if (far < least) least = far, row = rows.scan.row[i];
  }
  return row;
}

int below(const Rows& rows, double x) {
  double largest = -1;
  int row = -1;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double number = rows.scan.x[i];
    if (number <= x && number > largest) largest = number, row = rows.scan.row[i];
  }
  return row;
}

int nearest_of_two(const Rows& rows, double x, double y) {
  double least = std::numeric_limits<double>::infinity();
  int row = -1;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double far = std::abs(rows.scan.x[i] - x) + std::abs(rows.y[i] - y);
    if (far < least) least = far, row = rows.scan.row[i];
  }
  return row;
}

}  // namespace

TEST_CASE("a search among InferSim's rows ends at the row where its scan ends") {
  Noise noise;
  int differ = 0;
  for (int round = 0; round < 20000; ++round) {
    const Rows rows = random_rows(noise);
    const LastUpTo last(rows.scan);
    const BeforeFirstLarger before(rows.scan);
    const Nearest near(rows.scan);
    const NearestOfTwo near_two(rows.scan, rows.y);
    for (int question = 0; question < 8; ++question) {
      const double x = noise.below(64) / 2.0 - 1, y = noise.below(28) / 2.0;
      differ += last.at(x) != last_up_to(rows, x);
      differ += before.at(x) != before_first_larger(rows, x);
      differ += near.at(x) != nearest(rows, x);
      differ += near.below(x) != below(rows, x);
      differ += near_two.at(x, y) != nearest_of_two(rows, x, y);
    }
  }
  CHECK(differ == 0);
}
