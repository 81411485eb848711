// Clusters against a naive cluster: routers with stale signals, prefill and decode split,
// frontends, mixed replicas, ranks that step together, schedulers that sleep.

#include "tests/reference/cases/cluster.h"

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/draw_parts.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"

namespace rooflua::reference {

namespace {

/// The same requests, sent while steps end: all of that happens at whole multiples of a tick.
/// Every replica has two stages, and routers read fresh signals.
ClusterCase on_ticks(ClusterCase cluster) {
  constexpr Ps tick = 1000;
  cluster.staleness = 0;
  cluster.frontend_base = cluster.frontend_prompt_token = cluster.frontend_output_token = 0;
  for (Prompt& prompt : cluster.question.prompts)
    prompt.plain.arrival -= prompt.plain.arrival % tick;
  for (ClusterReplica& each : cluster.replicas) {
    each.group = -1;
    each.sync = 0;
    if (each.policy == 3) each.policy = 1;  // it looks at the ranks of its group
    each.tariff = {};
    each.tariff.step = 2 * tick;
    each.config.stages = {{0.5, 0.5}, {0}, {0}, 2};
  }
  return cluster;
}

}  // namespace

TEST_CASE("the engine and a naive cluster agree in every step and every request's times") {
  Coverage coverage;
  int reads_group = 0, grouped = 0, with_empty_steps = 0, split_in_groups = 0, synchronised = 0;
  int split = 0, waited = 0, cached = 0, stale = 0, frontends = 0, sleepers = 0, spread = 0,
      routers[7] = {}, changed_rank = 0;
  const auto [first, last] = seeds(1, 400);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ClusterCase cluster = draw_cluster(seed);
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    const std::string differs = difference(expected, run_engine(cluster));
    REQUIRE(differs == "");
    coverage.add(expected);
    split += cluster.split();
    waited += expected.held_back > 0;
    stale += cluster.staleness > 0;
    frontends += cluster.frontend_base > 0;
    ++routers[cluster.router];
    changed_rank += expected.changed_rank > 0;
    grouped += cluster.grouped();
    reads_group += std::any_of(cluster.replicas.begin(), cluster.replicas.end(),
                               [](const ClusterReplica& each) { return each.policy == 3; });
    split_in_groups += cluster.grouped() && cluster.split();
    synchronised += cluster.grouped() && expected.empty_steps > 0 &&
                    std::any_of(cluster.replicas.begin(), cluster.replicas.end(),
                                [](const ClusterReplica& each) { return each.sync > 0; });
    with_empty_steps += expected.empty_steps > 0;
    cached += expected.cached_pulls > 0;
    bool sleeps = false, elsewhere = false;
    for (const ClusterReplica& each : cluster.replicas) sleeps |= each.policy == 2 && each.hold > 0;
    for (const Served& each : expected.requests)
      elsewhere |= each.replica != expected.requests.front().replica;
    sleepers += sleeps;
    spread += elsewhere;
  }
  coverage.print("clusters", first, last);
  std::printf("prefill split %d, of them waited for decode %d, found parts there %d\n", split,
              waited, cached);
  std::printf("stale signals %d, frontends %d, sleeping schedulers %d\n", stale, frontends,
              sleepers);
  std::printf("ranks that step together %d, with empty steps %d, prefill split %d\n", grouped,
              with_empty_steps, split_in_groups);
  CHECK(grouped >= enough(100));
  CHECK(reads_group >= enough(30));
  CHECK(with_empty_steps >= enough(80));
  CHECK(split_in_groups >= enough(30));
  CHECK(synchronised >= enough(30));
  CHECK(coverage.questions >= enough(200));
  CHECK(coverage.unfinished * 20 <
        coverage.questions);  // dice may lock each other out: both starve
  CHECK(coverage.with_preemption >= enough(50));
  CHECK(coverage.with_resume_hits >= enough(20));
  CHECK(coverage.with_prefix_hits >= enough(50));
  CHECK(coverage.with_discarded >= enough(150));
  CHECK(coverage.ended_waiting >= enough(10));
  CHECK(split >= enough(100));
  CHECK(waited >= enough(50));
  CHECK(cached >= enough(10));
  CHECK(stale >= enough(100));
  CHECK(frontends >= enough(100));
  CHECK(sleepers >= enough(100));
  CHECK(spread >= enough(200));
  CHECK(changed_rank >= enough(40));
  for (const int each : routers) CHECK(each >= enough(25));
}

TEST_CASE("the engine and a naive cluster agree on KV that is pushed and on prompts not split") {
  Coverage coverage;
  int chunks = 0, first = 0, local = 0, waited = 0;
  const auto [begin, end] = seeds(1, 1200);
  for (std::uint64_t seed = begin; seed <= end; ++seed) {
    const ClusterCase cluster = pushed(draw_cluster(seed));
    if (!cluster.split()) continue;
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    chunks += cluster.pushes_chunks;
    first += cluster.decode_first;
    waited += expected.held_back > 0;
    for (const Served& each : expected.requests) local += each.prefill_replica < 0;
  }
  coverage.print("pushed", begin, end);
  CHECK(chunks >= enough(200));
  CHECK(first >= enough(80));
  CHECK(local >= enough(500));
  CHECK(waited >= enough(50));
}

TEST_CASE("the engine and a naive cluster agree where some replicas have stages") {
  Coverage coverage;
  int split = 0, waited = 0, prefill_stages = 0, dealt = 0;
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_cluster(seed);
    int with_stages = 0;
    for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
      ClusterReplica& each = cluster.replicas[i];
      if (each.group >= 0 || (seed + i) % 3 == 0) continue;
      each.config.stages = draw_stages(seed + 17 * i);
      ++with_stages;
      prefill_stages += each.role == Role::prefill;
    }
    if (with_stages == 0) continue;
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    split += cluster.split();
    waited += expected.held_back > 0;
    dealt += expected.dealt_over_plans > 0;
  }
  coverage.print("clusters with stages", first, last);
  std::printf("requests of one instant dealt out over plans: %d\n", dealt);
  CHECK(coverage.questions >= enough(150));
  CHECK(coverage.with_preemption >= enough(50));
  CHECK(coverage.with_prefix_hits >= enough(30));
  CHECK(split >= enough(40));
  CHECK(waited >= enough(15));
  CHECK(prefill_stages >= enough(30));
  CHECK(dealt >= enough(50));
}

TEST_CASE("with stages, both agree where requests are sent and handed over while steps end") {
  Coverage coverage;
  int split = 0, dealt = 0;
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ClusterCase cluster = on_ticks(draw_cluster(seed));
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    split += cluster.split();
    dealt += expected.dealt_over_plans > 0;
  }
  coverage.print("clusters on ticks", first, last);
  std::printf("requests of one instant dealt out over plans: %d\n", dealt);
  CHECK(split >= enough(80));
  CHECK(dealt >= enough(100));
}

}  // namespace rooflua::reference
