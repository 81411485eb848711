// Replicas that fail at random, are found out and are repaired: the engine against a naive cluster.

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/random_questions.h"

namespace rooflua::reference {

namespace {

/// Faults while requests are under way; some at the very instant at which a step ends.
void draw_faults(ClusterCase& cluster, const History& calm) {
  Dice dice(cluster.question.seed * 32452843 + 11);
  Ps end = 2;
  for (const Served& each : calm.requests) end = std::max(end, std::max(each.last, each.arrival));
  const auto any = [&](Ps most) {
    return static_cast<Ps>(dice.bits() % static_cast<std::uint64_t>(std::max<Ps>(1, most)));
  };
  for (int left = dice.between(1, 8); left > 0; --left) {
    CaseFault fault;
    fault.time = any(end);
    if (dice.chance(30))
      fault.time =
          calm.steps[static_cast<std::size_t>(any(static_cast<Ps>(calm.steps.size())))].end;
    fault.replica = dice.between(0, static_cast<int>(cluster.replicas.size()) - 1);
    if (!dice.chance(15)) fault.lasts = dice.chance(15) ? 0 : any(end / 3);
    if (dice.chance(25)) fault.factor = 1 << dice.between(0, 3);
    cluster.faults.list.push_back(fault);
  }
  std::stable_sort(cluster.faults.list.begin(), cluster.faults.list.end(),
                   [](const CaseFault& a, const CaseFault& b) { return a.time < b.time; });
  if (dice.chance(60)) cluster.faults.detect = any(end / 6);
  if (dice.chance(60)) cluster.faults.connect = any(end / 20);
  for (int left = dice.chance(50) ? dice.between(1, 20) : 0; left > 0; --left)
    cluster.aborts.push_back(
        {any(end), dice.between(0, static_cast<int>(calm.requests.size()) - 1)});
  std::stable_sort(cluster.aborts.begin(), cluster.aborts.end(),
                   [](const Abort& a, const Abort& b) { return a.time < b.time; });
}

}  // namespace

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
  CHECK(cases >= 150);
  CHECK(held >= 20);
  for (const char* what :
       {"a replica", "a replica for ever", "lost", "sent to a lost replica", "refused"}) {
    CAPTURE(what);
    CHECK(seen[what] >= 5);
  }
}

}  // namespace rooflua::reference
