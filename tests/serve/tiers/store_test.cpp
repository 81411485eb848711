// A store by hand: what a run of chunks does that is put in, and what policies of eviction read.

#include "serve/stores/store.h"

#include <vector>

#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;
using Hashes = std::vector<std::uint64_t>;

/// Chunks of a sequence, all but the first `first`.
bool put(Store& store, const Hashes& sequence, Pieces& placed, std::int32_t first = 0,
         const Store::Owner& owner = {}) {
  return store.put({sequence, 1}, first, static_cast<std::int32_t>(sequence.size()), owner, placed);
}

/// A run that has arrived.
Pieces fill(Store& store, const Hashes& sequence) {
  Pieces placed;
  REQUIRE(put(store, sequence, placed));
  store.end_put(placed, {});
  return placed;
}

/// The last chunk of a sequence.
Store::Has has(const Store& store, const Hashes& sequence) {
  const auto end = static_cast<std::int32_t>(sequence.size());
  return store.run_at({sequence, 1}, end - 1, end).has;
}

void ask(Store& store, const Hashes& sequence) {
  store.ask({sequence, 1}, static_cast<std::int32_t>(sequence.size()), {});
}

std::int32_t chunks(const Pieces& pieces) {
  std::int32_t sum = 0;
  for (const Piece& each : pieces) sum += each.chunks();
  return sum;
}

}  // namespace

TEST_CASE("a run is put in as a whole or not at all") {
  Store store(4, 16, Eviction::lru);
  fill(store, {1, 2});
  Pieces placed;
  CHECK_FALSE(put(store, {3, 4, 5, 6, 7}, placed));
  CHECK(placed.empty());
  CHECK(store.used() == 2);
  CHECK(store.evictions() == 0);
  CHECK(has(store, {3}) == Store::Has::nothing);
  CHECK(put(store, {3, 4, 5}, placed));
  CHECK(chunks(placed) == 3);
  CHECK(has(store, {1}) == Store::Has::nothing);
  CHECK(has(store, {1, 2}) == Store::Has::ready);
  CHECK(has(store, {3}) == Store::Has::arriving);
  CHECK(store.most_used() == 4);
}

TEST_CASE("what is there already takes no room and is not written again") {
  Store store(4, 16, Eviction::lru);
  fill(store, {1, 2});
  const std::int64_t version = store.version();
  Pieces placed;
  CHECK(put(store, {1, 2}, placed));
  CHECK(placed.empty());
  CHECK(store.version() == version);
  CHECK(put(store, {1, 2, 3, 4}, placed));
  CHECK(chunks(placed) == 2);
  CHECK(store.evictions() == 0);
}

TEST_CASE("what arrives stays, what is read stays, and a run does not push out itself") {
  Store store(3, 16, Eviction::lru);
  Pieces arriving, placed;
  REQUIRE(put(store, {1}, arriving));
  const Pieces two = fill(store, {2});
  store.begin_read(two);
  store.begin_read(two);
  fill(store, {3});
  CHECK(store.evictable() == 1);
  CHECK_FALSE(put(store, {3, 4}, placed));
  CHECK(put(store, {4}, placed));
  CHECK(has(store, {3}) == Store::Has::nothing);
  store.end_put(placed, {});
  store.end_read(two, {});
  CHECK(store.evictable() == 1);
  placed.clear();
  CHECK_FALSE(put(store, {5, 6}, placed));
  store.end_read(two, {});
  store.end_put(arriving, {});
  CHECK(store.evictable() == 3);
  CHECK(put(store, {5, 6, 7}, placed));
  CHECK(store.evictable() == 0);
  CHECK(store.arriving() == 3);
}

TEST_CASE("of a prompt that was asked for, the end leaves before the beginning") {
  Store store(3, 16, Eviction::lru);
  fill(store, {1, 2, 3});
  ask(store, {1, 2, 3});
  fill(store, {4});
  CHECK(has(store, {1, 2, 3}) == Store::Has::nothing);
  fill(store, {5});
  CHECK(has(store, {1, 2}) == Store::Has::nothing);
  CHECK(has(store, {1}) == Store::Has::ready);
}

TEST_CASE("of a prompt that was put in and not asked for, the beginning leaves first") {
  Store store(3, 16, Eviction::lru);
  fill(store, {1, 2, 3});
  fill(store, {4});
  CHECK(has(store, {1}) == Store::Has::nothing);
  CHECK(has(store, {1, 2}) == Store::Has::ready);
  CHECK(has(store, {1, 2, 3}) == Store::Has::ready);
}

TEST_CASE("a run tells how far it goes") {
  Store store(9, 16, Eviction::lru);
  const Hashes long_one = {1, 2, 3, 4, 5, 6}, other = {1, 2, 9, 10};
  Pieces arriving;
  fill(store, {1, 2, 3});
  REQUIRE(put(store, {1, 2, 3, 4, 5}, arriving));
  const Store::Run ready = store.run_at({long_one, 1}, 1, 6);
  CHECK(ready.has == Store::Has::ready);
  CHECK(ready.end == 3);
  const Store::Run comes = store.run_at({long_one, 1}, 3, 6);
  CHECK(comes.has == Store::Has::arriving);
  CHECK(comes.end == 5);
  const Store::Run none = store.run_at({other, 1}, 2, 4);
  CHECK(none.has == Store::Has::nothing);
  CHECK(none.end == 4);
  fill(store, other);
  CHECK(store.run_at({other, 1}, 0, 4).end == 4);  // over two paths
}

TEST_CASE("a prompt costs no record for each chunk, and what has left costs none") {
  Store store(1000, 16, Eviction::lru);
  Hashes prompt(800);
  for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = i + 1;
  for (const std::size_t end : {200u, 500u, 800u}) {
    Pieces placed;
    REQUIRE(put(store, Hashes(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(end)),
                placed, static_cast<std::int32_t>(end) - 100));
    store.end_put(placed, {});
  }
  CHECK(store.used() == 300);
  Pieces placed;
  REQUIRE(put(store, prompt, placed));
  CHECK(chunks(placed) == 500);
  store.end_put(placed, {});
  ask(store, prompt);
  CHECK(store.records() == 2);  // an extent and a path
  Hashes others(1000);
  for (std::size_t i = 0; i < others.size(); ++i) others[i] = 5000 + i;
  placed.clear();
  REQUIRE(put(store, others, placed));
  CHECK(store.records() == 2);
  store.cancel_put(placed);
  CHECK(store.records() == 0);
  CHECK(store.used() == 0);
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
  Pieces placed;
  const Hashes sequence = {7, 8, 9};
  REQUIRE(put(store, sequence, placed, 2, owner(&first, s)));
  store.end_put(placed, owner(nullptr, 2 * s));
  store.ask({sequence, 1}, 3, owner(&second, 3 * s));
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
