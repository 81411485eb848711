// Stores of KV beside the GPU: the engine against a naive cluster.

#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cluster_case.h"
#include "tests/reference/random_questions.h"
#include "tests/reference/shrink.h"

namespace rooflua::reference {

namespace {

/// One replica with a store.
ClusterCase draw_tiers(std::uint64_t seed) {
  ClusterCase out = draw_cluster(seed);
  for (std::uint64_t i = 1; seed % 4 > 0 && i < 4 && !out.question.shares(); ++i)
    out = draw_cluster(seed + 100003 * i);
  Dice dice(seed * 49979687 + 13);
  out.replicas.resize(1);
  ClusterReplica& replica = out.replicas.front();
  replica.role = Role::both;
  replica.group = -1;
  replica.sync = 0;
  replica.policy = dice.between(0, 2);
  replica.config.prefix_caching = true;
  StoreCase store;
  store.chunk_tokens = replica.config.block_size * dice.between(1, 3);
  store.chunks = dice.between(1, dice.chance(50) ? 40 : 400);
  store.alpha = dice.chance(30) ? 0 : dice.between(1, 2000);
  const Eviction orders[] = {Eviction::lru, Eviction::lru, Eviction::fifo, Eviction::lfu};
  store.eviction = orders[dice.between(0, 3)];
  out.tiers.stores = {store};
  out.tiers.link_alpha = dice.chance(30) ? 0 : dice.between(1, 2000);
  out.tiers.link_token = dice.between(1, dice.chance(50) ? 10 : 200);
  out.tiers.duplex = dice.chance(60);
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

}  // namespace

TEST_CASE("the engine and a naive cluster agree where a store has KV") {
  Coverage coverage;
  int with_loads = 0, with_skipped = 0, with_evictions = 0;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ClusterCase cluster = draw_tiers(seed);
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(store_difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    const StoreCounts& store = expected.stores.front();
    with_loads += store.loads > 0;
    with_skipped += store.skipped > 0;
    with_evictions += store.evictions > 0;
  }
  coverage.print("stores", first, last);
  std::printf("with loads %d, skipped stores %d, evictions %d\n", with_loads, with_skipped,
              with_evictions);
  CHECK(coverage.with_preemption >= 100);
  CHECK(coverage.with_prefix_hits >= 100);
  CHECK(with_loads >= 100);
  CHECK(with_skipped >= 50);
  CHECK(with_evictions >= 100);
}

}  // namespace rooflua::reference
