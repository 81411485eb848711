// Clients with random patience that send requests again: the engine against a naive cluster.

#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_speculation.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/retries.h"

namespace rooflua::reference {

namespace {

struct Counts {
  int cases = 0, timed_out = 0, retries = 0, kept = 0, late_tokens = 0;
};

template <class Change>
Counts compare(const char* name, std::uint64_t most, Change change) {
  Counts counts;
  const auto [first, last] = seeds(1, most);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = change(draw_cluster(seed));
    const History calm = run_naive(cluster);
    if (calm.requests.size() > 40 || !calm.finished) continue;
    draw_client(cluster, calm);
    const History expected = run_naive_with_retries(cluster);
    INFO("seed " << seed << "\n" << text(cluster));
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    ++counts.cases;
    for (std::size_t id = 0; id < expected.requests.size(); ++id) {
      const Served& served = expected.requests[id];
      const bool is_retry = cluster.client.attempts[id].attempt > 0;
      counts.timed_out += served.aborted != unset;
      counts.late_tokens += served.aborted != unset && served.first != unset;
      counts.retries += is_retry;
      counts.kept += is_retry && cluster.client.keeps;
    }
  }
  std::printf("%s: %d cases, %d timed out (%d with tokens), %d retries (%d may keep output)\n",
              name, counts.cases, counts.timed_out, counts.late_tokens, counts.retries,
              counts.kept);
  return counts;
}

}  // namespace

TEST_CASE("the engine and a naive cluster agree on patience and retries") {
  const Counts counts = compare("clusters", 300, [](ClusterCase cluster) { return cluster; });
  CHECK(counts.cases >= enough(100));
  CHECK(counts.timed_out >= enough(500));
  CHECK(counts.late_tokens >= enough(100));
  CHECK(counts.retries >= enough(300));
  CHECK(counts.kept >= enough(100));
}

TEST_CASE("the engine and a naive cluster agree on patience and retries where replicas speculate") {
  const Counts counts =
      compare("drafts", 150, [](ClusterCase cluster) { return speculative(std::move(cluster)); });
  CHECK(counts.retries >= enough(50));
}

}  // namespace rooflua::reference
