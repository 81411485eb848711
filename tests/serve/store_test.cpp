// A store by hand: what a run of chunks does that is put in, and what policies of eviction read.

#include <vector>

#include "serve/stores/store.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;
using Hashes = std::vector<std::uint64_t>;
using Chunks = std::vector<std::int32_t>;

/// A run that has arrived.
Chunks fill(Store& store, const Hashes& run) {
  Chunks placed;
  REQUIRE(store.put(run, 0, {}, placed));
  store.end_put(placed, {});
  return placed;
}

}  // namespace

TEST_CASE("a run is put in as a whole or not at all") {
  Store store(4, 16, Eviction::lru);
  fill(store, {1, 2});
  Chunks placed;
  CHECK_FALSE(store.put(Hashes{3, 4, 5, 6, 7}, 0, {}, placed));
  CHECK(placed.empty());
  CHECK(store.used() == 2);
  CHECK(store.evictions() == 0);
  CHECK(store.has(3) == Store::Has::nothing);
  CHECK(store.put(Hashes{3, 4, 5}, 0, {}, placed));
  CHECK(placed.size() == 3);
  CHECK(store.has(1) == Store::Has::nothing);
  CHECK(store.has(2) == Store::Has::ready);
  CHECK(store.has(3) == Store::Has::arriving);
  CHECK(store.most_used() == 4);
}

TEST_CASE("what is there already takes no room and is not written again") {
  Store store(4, 16, Eviction::lru);
  fill(store, {1, 2});
  const std::int64_t version = store.version();
  Chunks placed;
  CHECK(store.put(Hashes{1, 2}, 0, {}, placed));
  CHECK(placed.empty());
  CHECK(store.version() == version);
  CHECK(store.put(Hashes{1, 2, 3, 4}, 0, {}, placed));
  CHECK(placed.size() == 2);
  CHECK(store.evictions() == 0);
}

TEST_CASE("what arrives stays, what is read stays, and a run does not push out itself") {
  Store store(3, 16, Eviction::lru);
  Chunks arriving, placed;
  REQUIRE(store.put(Hashes{1}, 0, {}, arriving));
  const Chunks two = fill(store, {2});
  store.begin_read(two);
  store.begin_read(two);
  fill(store, {3});
  CHECK(store.evictable() == 1);
  CHECK_FALSE(store.put(Hashes{3, 4}, 0, {}, placed));
  CHECK(store.put(Hashes{4}, 0, {}, placed));
  CHECK(store.has(3) == Store::Has::nothing);
  store.end_put(placed, {});
  store.end_read(two, {});
  CHECK(store.evictable() == 1);
  placed.clear();
  CHECK_FALSE(store.put(Hashes{5, 6}, 0, {}, placed));
  store.end_read(two, {});
  store.end_put(arriving, {});
  CHECK(store.evictable() == 3);
  CHECK(store.put(Hashes{5, 6, 7}, 0, {}, placed));
  CHECK(store.evictable() == 0);
  CHECK(store.arriving() == 3);
}

TEST_CASE("of a prompt that was asked for, the end leaves before the beginning") {
  Store store(3, 16, Eviction::lru);
  fill(store, {1, 2, 3});
  store.ask(Hashes{1, 2, 3}, {});
  fill(store, {4});
  CHECK(store.has(3) == Store::Has::nothing);
  fill(store, {5});
  CHECK(store.has(2) == Store::Has::nothing);
  CHECK(store.has(1) == Store::Has::ready);
}

TEST_CASE("a policy of eviction reads the chunk, and whose it was last") {
  struct Keys : EvictionPolicy {
    std::vector<StoredBlock> seen;
    double key(const StoredBlock& block) override {
      seen.push_back(block);
      return 0;
    }
  } keys;
  Store store(3, 16, Eviction::keyed);
  Request first, second;
  first.klass = 1, first.session = 7, first.priority = 2;
  second.klass = 3, second.session = -1, second.priority = 4;
  const auto owner = [&](const Request* request, Picoseconds now) {
    return Store::Owner{.request = request, .now = now, .keys = &keys, .chunk_bytes = 320};
  };
  Chunks placed;
  REQUIRE(store.put(Hashes{9}, 2, owner(&first, s), placed));
  store.end_put(placed, owner(nullptr, 2 * s));
  store.ask(Hashes{9}, owner(&second, 3 * s));
  store.begin_read(placed);
  store.end_read(placed, owner(nullptr, 5 * s));
  REQUIRE(keys.seen.size() == 3);
  for (const StoredBlock& each : keys.seen) {
    CHECK(each.depth_tokens == 48);
    CHECK(each.bytes == 320);
  }
  CHECK(keys.seen[0].put_s == 1);
  CHECK(keys.seen[0].uses == 0);
  CHECK(keys.seen[0].klass == 1);
  CHECK(keys.seen[0].session == 7);
  CHECK(keys.seen[0].priority == 2);
  CHECK(keys.seen[1].put_s == 2);
  CHECK(keys.seen[1].used_s == 3);
  CHECK(keys.seen[1].uses == 1);
  CHECK(keys.seen[1].klass == 3);
  CHECK(keys.seen[1].session == -1);
  CHECK(keys.seen[1].priority == 4);
  CHECK(keys.seen[2].now_s == 5);
  CHECK(keys.seen[2].klass == 3);
}
