// Replicas that fail at random, are found out and are repaired: the engine against a naive cluster.

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_parts.h"
#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

TEST_CASE(
    "the engine and a naive cluster agree on replicas that fail, are found out and repaired") {
  std::map<std::string, int> seen;
  int cases = 0, held = 0;
  // In seed 1036 a request stands still for good. The naive cluster waits for the next fault, which
  // ends it; the engine says at once that nothing can happen any more.
  const auto [first, last] = seeds(1, 1000);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_cluster(seed);
    if (cluster.split()) continue;
    for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
      ClusterReplica& each = cluster.replicas[i];
      if (each.group < 0 && seed % 4 == 0) each.config.stages = draw_stages(seed + 17 * i);
    }
    const History calm = run_naive(cluster);
    if (calm.steps.empty()) continue;
    draw_faults(cluster, calm);
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    for (const auto& [what, times] : expected.aborted) seen[what] += times;
    for (const Served& each : expected.requests) held += each.held > 0;
    ++cases;
  }
  std::printf("faults: %d cases, %d requests waited for a replica", cases, held);
  for (const auto& [what, times] : seen) std::printf(" | %s %d", what.c_str(), times);
  std::printf("\n");
  CHECK(cases >= enough(150));
  CHECK(held >= enough(20));
  for (const char* what :
       {"a replica", "a replica for ever", "lost", "sent to a lost replica", "refused"}) {
    CAPTURE(what);
    CHECK(seen[what] >= enough(5));
  }
}

}  // namespace rooflua::reference
