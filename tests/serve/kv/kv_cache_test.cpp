// The cache alone: 4-token blocks, requests built by hand.

#include "serve/kv/kv_cache.h"

#include <map>
#include <random>
#include <vector>

#include "serve/kv/block_hashes.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

struct Sequence {
  Request request;
  Progress progress;
  Sequence(std::int32_t id, std::vector<Segment> segments, std::int32_t tokens) {
    request.id = id;
    request.prompt_tokens = tokens;
    progress.segments = std::move(segments);
  }
};

/// A cache, and the sequences that use it by slot.
struct Shelf {
  KvCache cache;
  std::vector<Sequence> sequences;
  explicit Shelf(std::int32_t blocks, PrefixIndex index, bool parts = false)
      : cache(blocks, 4, index, false, parts) {}

  KvCache::Hit hit(std::int32_t slot) {
    return cache.lookup(slot, at(slot).request, at(slot).progress);
  }
  void seat(std::int32_t slot) {
    const std::int32_t tokens = at(slot).request.prompt_tokens;
    const KvCache::Hit found = hit(slot);
    cache.seat(slot, at(slot).request, at(slot).progress, found,
               blocks_for(tokens, 4) - found.blocks);
    cache.remember(slot, at(slot).request, at(slot).progress, tokens / 4);
  }
  void release(std::int32_t slot, bool returns = false) {
    Sequence& s = at(slot);
    if (returns) ++s.request.preemptions;
    const std::int32_t tokens = s.request.prompt_tokens;
    cache.release(slot, s.request, s.progress, blocks_for(tokens, 4), tokens / 4, returns,
                  tokens % 4);
  }
  Sequence& at(std::int32_t slot) { return sequences[static_cast<std::size_t>(slot)]; }
};

}  // namespace

TEST_CASE("without prefix caching nothing ever hits") {
  Shelf shelf(8, PrefixIndex::none);
  shelf.sequences = {{0, {{1, 8}}, 8}, {1, {{1, 8}}, 8}};
  shelf.seat(0);
  CHECK(shelf.hit(1).blocks == 0);
  CHECK(shelf.cache.free_blocks() == 6);
  shelf.release(0, true);
  CHECK(shelf.hit(0).blocks == 0);
  CHECK(shelf.cache.free_blocks() == 8);
}

TEST_CASE("a prefix hits block by block until the first difference, and shared blocks count once") {
  Shelf shelf(20, PrefixIndex::shared);
  shelf.sequences = {{0, {{1, 12}}, 12}, {1, {{1, 9}, {2, 7}}, 16}, {2, {{2, 12}}, 12}};
  shelf.seat(0);
  CHECK(shelf.hit(1).blocks == 2);  // tokens 8.. differ from the third block on
  CHECK(shelf.hit(1).free == 0);
  CHECK(shelf.hit(2).blocks == 0);
  shelf.seat(1);
  CHECK(shelf.cache.used_blocks() == 3 + 2);
  shelf.release(0);
  CHECK(shelf.cache.used_blocks() == 4);  // two blocks are still request 1's
  CHECK(shelf.hit(0).blocks == 2);        // 12 tokens: at most 11 may hit
  shelf.release(1);
  CHECK(shelf.cache.used_blocks() == 0);
  CHECK(shelf.hit(1).free == 3);
}

TEST_CASE("the queue forgets the oldest release first and of one request the deepest block first") {
  Shelf shelf(6, PrefixIndex::shared);
  shelf.sequences = {
      {0, {{1, 9}}, 9}, {1, {{2, 9}}, 9}, {2, {{3, 4}}, 4}, {3, {{1, 9}}, 9}, {4, {{2, 9}}, 9}};
  shelf.seat(0);
  shelf.seat(1);
  shelf.release(0);     // queue: blank of 0, its 2nd block, its 1st
  shelf.release(1);     // blank of 1 in front, then as before, then 1's 2nd and 1st
  shelf.cache.take(2);  // both blanks
  CHECK(shelf.hit(3).blocks == 2);
  shelf.cache.take(1);
  CHECK(shelf.hit(3).blocks == 1);
  CHECK(shelf.hit(4).blocks == 2);
  shelf.cache.take(1);
  CHECK(shelf.hit(3).blocks == 0);
  CHECK(shelf.hit(4).blocks == 2);
  shelf.cache.take(1);
  CHECK(shelf.hit(4).blocks == 1);
}

TEST_CASE("a hit makes a block young again") {
  Shelf shelf(6, PrefixIndex::shared);
  shelf.sequences = {{0, {{1, 5}}, 5}, {1, {{2, 5}}, 5}, {2, {{1, 5}}, 5}, {3, {{2, 5}}, 5}};
  shelf.seat(0);
  shelf.seat(1);
  shelf.release(0);
  shelf.release(1);
  shelf.seat(2);  // touches request 0's block
  shelf.release(2);
  shelf.cache.take(5);  // everything without content, then request 1's block
  CHECK(shelf.hit(3).blocks == 0);
  CHECK(shelf.hit(2).blocks == 1);
}

TEST_CASE("of two blocks with the same content the older one is hit, and either may go") {
  Shelf shelf(8, PrefixIndex::shared);
  shelf.sequences = {{0, {{1, 4}}, 4}, {1, {{1, 4}}, 4}, {2, {{1, 8}}, 8}};
  shelf.seat(0);
  shelf.seat(1);  // 4 tokens: at most 3 may hit, so it computes the block again
  CHECK(shelf.cache.used_blocks() == 2);
  shelf.release(1);
  CHECK(shelf.hit(2).blocks == 1);
  CHECK(shelf.hit(2).free == 0);  // request 0's copy
  shelf.release(0);
  CHECK(shelf.hit(2).free == 1);
  shelf.cache.take(7);  // six blanks and request 1's copy, which was released first
  CHECK(shelf.hit(2).blocks == 1);
  shelf.cache.take(1);
  CHECK(shelf.hit(2).blocks == 0);
}

TEST_CASE("what a preempted request left behind hits on its return, in both indices alike") {
  for (const PrefixIndex index : {PrefixIndex::own, PrefixIndex::shared}) {
    CAPTURE(static_cast<int>(index));
    Shelf shelf(5, index);
    shelf.sequences = {{0, {}, 16}, {1, {}, 4}};
    shelf.seat(0);
    shelf.release(0, true);
    CHECK(shelf.hit(0).blocks == 3);  // 16 tokens: the last block is computed again
    CHECK(shelf.hit(0).free == 3);
    shelf.cache.take(3);  // the blank one and the two deepest
    CHECK(shelf.hit(0).blocks == 2);
    CHECK(shelf.hit(1).blocks == 0);
    shelf.cache.forget(0);
    if (index == PrefixIndex::own) CHECK(shelf.hit(0).blocks == 0);
    CHECK(shelf.cache.free_blocks() == 2);
  }
}

TEST_CASE("with parts a hit ends inside of a block, and the last token is left to compute") {
  Shelf shelf(20, PrefixIndex::shared, true);
  shelf.sequences = {{0, {{1, 10}}, 10}, {1, {{1, 10}, {2, 4}}, 14}, {2, {{1, 7}, {3, 5}}, 12},
                     {3, {{1, 8}}, 8},   {4, {{3, 5}, {1, 7}}, 12},  {5, {{1, 6}, {4, 9}}, 15},
                     {6, {{1, 6}, {4, 1}, {5, 4}}, 11}};
  shelf.seat(0);
  CHECK(shelf.hit(1).part == 0);  // 0's last block is not full
  shelf.release(0);
  CHECK(shelf.hit(1).tokens(4) == 10);
  CHECK(shelf.hit(2).tokens(4) == 7);
  CHECK(shelf.hit(3).tokens(4) == 7);
  CHECK(shelf.hit(4).tokens(4) == 0);
  shelf.seat(5);
  CHECK(shelf.hit(6).tokens(4) == 7);  // 0's block has 6 tokens in common with it, that of 5 has 7
  CHECK(shelf.hit(2).tokens(4) == 7);
  shelf.release(5);
  CHECK(shelf.cache.free_blocks() == 20);
  shelf.cache.take(20);
  CHECK(shelf.hit(1).tokens(4) == 0);
}

TEST_CASE("a part of a block is forgotten with it, and is no full block") {
  for (const PrefixIndex index : {PrefixIndex::own, PrefixIndex::shared}) {
    CAPTURE(static_cast<int>(index));
    Shelf shelf(6, index, true);
    shelf.sequences = {{0, {}, 18}};
    shelf.seat(0);
    shelf.release(0, true);
    CHECK(shelf.hit(0).blocks == 4);
    CHECK(shelf.hit(0).part == 1);  // 2, and at most 17 tokens
    CHECK(shelf.hit(0).free == 4);
    shelf.cache.take(2);  // the blank one, and the last of the request
    CHECK(shelf.hit(0).tokens(4) == 16);
    shelf.cache.take(1);
    CHECK(shelf.hit(0).tokens(4) == 12);
  }
}

TEST_CASE("a long prompt hits as far as it agrees with what is cached") {
  const std::int32_t most = 9000;
  Shelf shelf(4 * most, PrefixIndex::shared);
  shelf.sequences = {{0, {{1, 4 * most}}, 4 * most}};
  shelf.seat(0);
  for (const std::int32_t blocks : {1, 511, 512, 513, 2047, 2048, 2049, 8191, 8192, 8999}) {
    for (const std::int32_t behind : {1, 4, 5000, 40000}) {
      shelf.sequences.push_back({1, {{1, 4 * blocks}, {2, behind}}, 4 * blocks + behind});
      const Sequence& last = shelf.sequences.back();
      CAPTURE(blocks, behind);
      CHECK(shelf.cache.peek(last.request, last.progress).blocks == blocks);
      shelf.sequences.pop_back();
    }
  }
}

TEST_CASE("hashes that a request of a session leaves to the next one are those of the next one") {
  std::mt19937 draws(5);
  const auto below = [&](std::size_t n) { return static_cast<std::int32_t>(draws() % n); };
  Requests requests;
  std::map<std::int32_t, std::vector<Segment>> contexts;  // by session
  std::vector<std::int32_t> open;
  std::int32_t known = 0, id = 0;
  for (int i = 0; i < 4000; ++i) {
    if (open.size() > 5) {
      std::swap(open[static_cast<std::size_t>(below(open.size()))], open.back());
      requests.close(open.back());
      open.pop_back();
    }
    const std::int32_t session = below(8) < 7 ? 250 + below(12) : -1;
    std::vector<Segment>& context = contexts[session];
    if (below(12) == 0) context.resize(static_cast<std::size_t>(below(context.size() + 1)));
    if (context.empty() || below(2) == 0)
      context.push_back({static_cast<std::uint64_t>(1 + below(3)), 100 + below(900)});
    else
      context.back().tokens += below(300);
    if (below(20) == 0) context.back().content = 0;
    RequestSpec spec;
    for (const Segment& each : context) spec.prompt_tokens += each.tokens;
    spec.segments = context;
    spec.output_tokens = 1;
    spec.session = session;
    spec.adapter = below(30) == 0 ? 1 : 0;
    spec.output_content = static_cast<std::uint64_t>(below(3));
    const std::int32_t slot = requests.open(spec, i);
    open.push_back(slot);
    requests[slot].id = id++;
    const Progress& inherits = requests.progress(slot);
    for (const BlockHashes& each : inherits.block_hashes)
      known += static_cast<std::int32_t>(each.hashes.size());
    Progress fresh = inherits;
    fresh.block_hashes.clear();
    for (const std::int32_t size : {4, 16}) {
      const std::int32_t blocks = spec.prompt_tokens / size + below(9);
      std::vector<std::uint64_t> found = block_hashes(requests[slot], inherits, size, blocks);
      found.resize(static_cast<std::size_t>(blocks));
      REQUIRE(found == block_hashes(requests[slot], fresh, size, blocks));
    }
  }
  CHECK(known > 100000);
}

TEST_CASE("a map of hashes finds what was put in, whatever was taken out") {
  HashMap map;
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 64; ++i) hashes.push_back((i * 0x9E3779B97F4A7C15ull) ^ (i << 3));
  for (std::int32_t i = 0; i < 64; ++i) map.set(hashes[static_cast<std::size_t>(i)], i);
  for (std::int32_t i = 0; i < 64; i += 3) map.erase(hashes[static_cast<std::size_t>(i)]);
  for (std::int32_t i = 0; i < 64; ++i)
    CHECK(map.find(hashes[static_cast<std::size_t>(i)]) == (i % 3 == 0 ? -1 : i));
}
