// Gates in front of random clusters: the engine, which asks a policy only when something has
// changed, against a naive cluster that asks at every tick.

#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"

namespace rooflua::reference {

TEST_CASE("the engine and a naive cluster agree on what is held, and when it goes") {
  Coverage coverage;
  int held = 0, clocks = 0, stale = 0, refused = 0, expired = 0, split = 0, kinds[4] = {},
      fair[4] = {}, left = 0;
  const auto [first, last] = seeds(1, 600);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_cluster(seed);
    cluster.gate = draw_gate(seed, cluster.split());
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    bool waits = false;
    for (const Served& each : expected.requests) waits |= each.held > 0;
    held += waits;
    const auto count = [&](const char* where) {
      const auto found = expected.aborted.find(where);
      return found == expected.aborted.end() ? 0 : found->second;
    };
    refused += count("refused");
    expired += count("expired");
    left += count("waits");
    clocks += waits && cluster.gate.interval > 0;
    stale += waits && cluster.gate.staleness > 0;
    split += waits && cluster.split();
    kinds[cluster.gate.kind] += waits;
    fair[static_cast<int>(cluster.gate.rules.queue.fair)] += waits;
  }
  coverage.print("gates", first, last);
  std::printf("held %d, clocks %d, stale %d, split %d, refused %d, expired %d, of them queued %d\n",
              held, clocks, stale, split, refused, expired, left);
  CHECK(held >= enough(300));
  CHECK(clocks >= enough(100));
  CHECK(stale >= enough(100));
  CHECK(split >= enough(80));
  CHECK(refused >= enough(100));
  CHECK(expired >= enough(500));
  CHECK(left >= enough(50));
  for (int i = 1; i < 4; ++i) CHECK(kinds[i] >= enough(50));
  for (const int each : fair) CHECK(each >= enough(50));
}

}  // namespace rooflua::reference
