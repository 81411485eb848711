// The indices that spare routers a loop over the replicas.

#include <algorithm>
#include <vector>

#include "serve/routing/least_index.h"
#include "serve/routing/prefix_holders.h"
#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("the least of many counts is the first of the smallest, whatever changed") {
  for (const std::size_t count : {1u, 2u, 3u, 7u, 8u, 100u}) {
    LeastIndex index(count);
    std::vector<std::int32_t> plain(count, 0);
    CHECK(index.least() == 0);
    std::uint64_t state = count;
    for (int change = 0; change < 2000; ++change) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const std::size_t place = (state >> 33) % count;
      const std::int32_t more = (state >> 20) % 3 == 0 && plain[place] > 0 ? -1 : 1;
      plain[place] += more;
      index.add(static_cast<std::int32_t>(place), more);
      const auto least = std::min_element(plain.begin(), plain.end()) - plain.begin();
      REQUIRE(index.least() == least);
      REQUIRE(index.value(static_cast<std::int32_t>(place)) == plain[place]);
    }
  }
}

TEST_CASE(
    "replicas with a first block are known in the order of their indices, until they lose it") {
  PrefixHolders holders;
  CHECK(holders.of(7).empty());
  for (const std::int32_t replica : {5, 0, 9}) holders.add(7, replica);
  holders.add(8, 1);
  const auto found = holders.of(7);
  CHECK(std::vector<std::int32_t>(found.begin(), found.end()) ==
        std::vector<std::int32_t>{0, 5, 9});
  holders.remove(7, 5);
  CHECK(holders.of(7).size() == 2);
  holders.remove(7, 0);
  holders.remove(7, 9);
  CHECK(holders.of(7).empty());
  CHECK(holders.of(8).size() == 1);
}
