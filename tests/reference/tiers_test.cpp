// Stores of KV outside the GPU: the engine against a naive cluster.

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_parts.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"

namespace rooflua::reference {

namespace {

/// Replicas with stores; of several the last store belongs to all of them.
ClusterCase draw_tiers(std::uint64_t seed, int stores, std::size_t replicas) {
  ClusterCase out = draw_cluster(seed);
  for (std::uint64_t i = 1; seed % 4 > 0 && i < 4 && !out.question.shares(); ++i)
    out = draw_cluster(seed + 100003 * i);
  Dice dice(seed * 49979687 + 13);
  out.replicas.resize(replicas, out.replicas.front());
  for (ClusterReplica& each : out.replicas) {
    each.role = Role::both;
    each.group = -1;
    each.sync = 0;
    each.policy = dice.between(0, 2);
    each.config.prefix_caching = true;
    // Blocks of one size, for as many tokens as before: the longest request fits.
    VllmConfig& c = each.config;
    const int size = out.replicas.front().config.block_size;
    c.blocks = c.seat_blocks + ((c.blocks - c.seat_blocks) * c.block_size + size - 1) / size;
    c.block_size = size;
  }
  for (int i = 0; i < stores; ++i)
    out.tiers.stores.push_back(draw_store(dice, out.replicas.front().config.block_size));
  if (stores > 1) {
    out.tiers.promotes = dice.chance(60);
    if (dice.chance(60)) out.tiers.stores[1].chunk_tokens = out.tiers.stores[0].chunk_tokens;
    // So that the second one has what the first one has not.
    if (dice.chance(60)) out.tiers.stores[1].chunks += 2 * out.tiers.stores[0].chunks;
  }
  out.tiers.stores.back().per_node = replicas > 1;
  out.tiers.link_alpha = dice.chance(30) ? 0 : dice.between(1, 2000);
  out.tiers.link_token = dice.between(1, dice.chance(50) ? 10 : 200);
  out.tiers.duplex = dice.chance(60);
  Dice rules(seed * 86028121 + 7);
  out.tiers.last_chunk = rules.chance(40);
  out.tiers.outputs = rules.chance(50) && stores_answers(out);
  out.tiers.shares_loads = rules.chance(40);
  out.tiers.flushes = rules.chance(40);
  return out;
}

std::string words(const StoreCounts& c) {
  return std::to_string(c.loads) + " loads, " + std::to_string(c.stores) + " stores, " +
         std::to_string(c.skipped) + " skipped, " + std::to_string(c.hit_tokens) + " tokens, " +
         std::to_string(c.evictions) + " evictions";
}

std::string store_difference(const History& expected, const History& found) {
  const std::string differs = difference(expected, found);
  if (!differs.empty()) return differs;
  for (std::size_t i = 0; i < expected.stores.size(); ++i) {
    if (expected.stores[i] == found.stores[i]) continue;
    return "store: expected " + words(expected.stores[i]) + ", found " + words(found.stores[i]);
  }
  return "";
}

/// Those that begin after their plan, though no step of their replica is under way.
int steps_that_wait(const History& history) {
  int out = 0;
  std::map<int, Ps> over;
  for (const StepLog& step : history.steps) {
    out += step.start > step.planned && step.planned > over[step.replica];
    over[step.replica] = step.end;
  }
  return out;
}

struct Seen {
  Coverage coverage;
  int with_loads = 0, with_skipped = 0, with_evictions = 0, with_both = 0, with_stores = 0;

  void compare(std::uint64_t seed, int stores, std::size_t replicas) {
    compare(seed, draw_tiers(seed, stores, replicas));
  }
  void compare(std::uint64_t seed, const ClusterCase& cluster) {
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(store_difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    const StoreCounts& last = expected.stores.back();
    with_loads += last.loads > 0;
    with_skipped += last.skipped > 0;
    with_stores += last.stores > 0;
    with_evictions += last.evictions > 0;
    with_both += last.loads > 0 && expected.stores.front().loads > 0;
  }
};

}  // namespace

TEST_CASE("the engine and a naive cluster agree where a store has KV") {
  Seen seen;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) seen.compare(seed, 1, 1);
  seen.coverage.print("stores", first, last);
  std::printf("with loads %d, skipped stores %d, evictions %d\n", seen.with_loads,
              seen.with_skipped, seen.with_evictions);
  CHECK(seen.coverage.with_preemption >= enough(100));
  CHECK(seen.coverage.with_prefix_hits >= enough(100));
  CHECK(seen.with_loads >= enough(100));
  CHECK(seen.with_skipped >= enough(50));
  CHECK(seen.with_evictions >= enough(100));
}

TEST_CASE("the engine and a naive cluster agree where two stores have KV") {
  Seen seen;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) seen.compare(seed, 2, 1);
  seen.coverage.print("two stores", first, last);
  std::printf("with loads from the second %d, from both %d, skipped stores %d, evictions %d\n",
              seen.with_loads, seen.with_both, seen.with_skipped, seen.with_evictions);
  CHECK(seen.coverage.with_preemption >= enough(100));
  CHECK(seen.with_loads >= enough(50));
  CHECK(seen.with_both >= enough(25));
  CHECK(seen.with_skipped >= enough(25));
  CHECK(seen.with_evictions >= enough(50));
}

TEST_CASE("the engine and a naive cluster agree where replicas share a store") {
  Seen seen;
  const auto [first, last] = seeds(1, 400);
  for (std::uint64_t seed = first; seed <= last; ++seed)
    seen.compare(seed, seed % 2 == 0 ? 1 : 2, 2 + seed % 3 / 2);
  seen.coverage.print("shared stores", first, last);
  std::printf(
      "with loads from the shared store %d, from both %d, skipped stores %d, evictions %d\n",
      seen.with_loads, seen.with_both, seen.with_skipped, seen.with_evictions);
  CHECK(seen.coverage.with_preemption >= enough(100));
  CHECK(seen.with_loads >= enough(100));
  CHECK(seen.with_both >= enough(25));
  CHECK(seen.with_skipped >= enough(25));
  CHECK(seen.with_evictions >= enough(50));
}

TEST_CASE("the engine and a naive cluster agree where stores have what left the GPU") {
  Seen seen;
  const auto [first, last] = seeds(1, 600);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_tiers(seed, 1 + static_cast<int>(seed % 2), 1 + seed % 5 / 4);
    cluster.tiers.writes_back = true;
    cluster.tiers.outputs = false;
    seen.compare(seed, cluster);
  }
  seen.coverage.print("written back", first, last);
  std::printf("with stores %d, loads %d, skipped stores %d, evictions %d\n", seen.with_stores,
              seen.with_loads, seen.with_skipped, seen.with_evictions);
  CHECK(seen.coverage.with_preemption >= enough(100));
  CHECK(seen.with_stores >= enough(100));
  CHECK(seen.with_loads >= enough(50));
  CHECK(seen.with_evictions >= enough(50));
}

// A drafter reads what the layers had of the last block, so a hit in the GPU loses it. The store
// may give that block.
TEST_CASE("the engine and a naive cluster agree where hits lose their last block") {
  Seen seen;
  const auto [first, last] = seeds(1, 400);
  int with_drops = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_tiers(seed, 1 + static_cast<int>(seed % 2), 1);
    for (ClusterReplica& each : cluster.replicas) each.config.drops_last_hit = true;
    cluster.tiers.writes_back = seed % 4 == 0;
    if (cluster.tiers.writes_back) cluster.tiers.outputs = false;
    seen.compare(seed, cluster);
    ClusterCase kept = cluster;
    for (ClusterReplica& each : kept.replicas) each.config.drops_last_hit = false;
    with_drops += !difference(run_naive(cluster), run_naive(kept)).empty();
  }
  seen.coverage.print("hits without their last block", first, last);
  std::printf("with loads %d, other results where hits are whole %d\n", seen.with_loads,
              with_drops);
  CHECK(seen.with_loads >= enough(100));
  CHECK(with_drops >= enough(50));
}

TEST_CASE(
    "the engine and a naive cluster agree where the first of several stages waits for writes") {
  Seen seen;
  const auto [first, last] = seeds(1, 400);
  int held = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ClusterCase cluster = draw_tiers(seed, 1 + static_cast<int>(seed % 2), 1 + seed % 5 / 4);
    cluster.tiers.writes_back = seed % 3 > 0;
    if (cluster.tiers.writes_back) cluster.tiers.outputs = false;
    for (std::size_t i = 0; i < cluster.replicas.size(); ++i)
      cluster.replicas[i].config.stages = draw_stages(seed + 17 * i);
    seen.compare(seed, cluster);
    held += steps_that_wait(run_naive(cluster));
  }
  seen.coverage.print("stages and stores", first, last);
  std::printf("with stores %d, loads %d, steps that wait %d\n", seen.with_stores, seen.with_loads,
              held);
  CHECK(seen.with_stores >= enough(100));
  CHECK(seen.with_loads >= enough(50));
  CHECK(held >= enough(100));
}

}  // namespace rooflua::reference
