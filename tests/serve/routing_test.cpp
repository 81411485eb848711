// The indices that spare routers a loop over the replicas, and what routers know of prompts.

#include <algorithm>
#include <vector>

#include "serve/routing/in_flight.h"
#include "serve/routing/kv_events.h"
#include "serve/routing/least_index.h"
#include "serve/routing/prefix_holders.h"
#include "serve/routing/routed_index.h"
#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("the least of many counts is the first of the smallest, whatever changed") {
  for (const std::size_t count : {1u, 2u, 3u, 7u, 8u, 100u}) {
    LeastIndex index(count);
    std::vector<std::int32_t> plain(count, 0);
    CHECK(index.least() == 0);
    std::uint64_t state = count;
    for (int change = 0; change < 2000; ++change) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const std::size_t place = (state >> 33) % count;
      const std::int32_t more = (state >> 20) % 3 == 0 && plain[place] > 0 ? -1 : 1;
      plain[place] += more;
      index.add(static_cast<std::int32_t>(place), more);
      const auto least = std::min_element(plain.begin(), plain.end()) - plain.begin();
      REQUIRE(index.least() == least);
      REQUIRE(index.value(static_cast<std::int32_t>(place)) == plain[place]);
    }
  }
}

TEST_CASE(
    "replicas with a first block are known in the order of their indices, until they lose it") {
  PrefixHolders holders;
  CHECK(holders.of(7).empty());
  for (const std::int32_t replica : {5, 0, 9}) holders.add(7, replica);
  holders.add(8, 1);
  const auto found = holders.of(7);
  CHECK(std::vector<std::int32_t>(found.begin(), found.end()) ==
        std::vector<std::int32_t>{0, 5, 9});
  holders.remove(7, 5);
  CHECK(holders.of(7).size() == 2);
  holders.remove(7, 0);
  holders.remove(7, 9);
  CHECK(holders.of(7).empty());
  CHECK(holders.of(8).size() == 1);
}

// --- the index of a router, against lists that are searched

namespace {

/// One replica: hashes in the order of their last use, the one used the longest ago first.
struct PlainList {
  std::vector<std::pair<std::uint64_t, Picoseconds>> blocks;  // hash 0: of no other prompt
  void use(std::uint64_t hash, Picoseconds now) {
    if (hash != 0) std::erase_if(blocks, [&](const auto& each) { return each.first == hash; });
    blocks.emplace_back(hash, now);
  }
  bool has(std::uint64_t hash, Picoseconds now, Picoseconds ttl) const {
    return std::any_of(blocks.begin(), blocks.end(), [&](const auto& each) {
      return each.first == hash && (ttl == 0 || now - each.second < ttl);
    });
  }
};

struct Dice {
  std::uint64_t state;
  int below(int limit) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(limit));
  }
};

}  // namespace

TEST_CASE("the index of a router knows what lists of the last blocks know, whatever is added") {
  int hits = 0, forgotten = 0, expired = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice dice{seed * 977};
    RouterIndex rules;
    rules.capacity_blocks = 1 + dice.below(30);
    rules.deepest_first = dice.below(2) == 0;
    rules.ttl_s = dice.below(2) == 0 ? 0 : 5e-11;  // 50 ps
    const Picoseconds ttl = picoseconds(rules.ttl_s, "ttl");
    const int replicas = 1 + dice.below(5);
    RoutedIndex index(rules, static_cast<std::size_t>(replicas));
    std::vector<PlainList> plain(static_cast<std::size_t>(replicas));
    Picoseconds now = 0;
    for (int turn = 0; turn < 400; ++turn) {
      now += dice.below(4);
      // Prompts of a few trees: block d of tree t, and of a branch from some depth on.
      std::vector<std::uint64_t> hashes;
      const int tree = dice.below(4), depth = dice.below(9), fork = dice.below(9);
      for (int d = 1; d <= depth; ++d)
        hashes.push_back(static_cast<std::uint64_t>(d + 100 * tree + (d > fork ? 1000 * fork : 0)));
      const auto replica = static_cast<std::size_t>(dice.below(replicas));
      PlainList& own = plain[replica];
      if (dice.below(8) == 0) {
        index.remove(static_cast<std::int32_t>(replica), hashes);
        for (const std::uint64_t hash : hashes)
          std::erase_if(own.blocks, [&](const auto& each) { return each.first == hash; });
      } else {
        const int others = dice.below(3) == 0 ? dice.below(12) : 0;
        index.add(static_cast<std::int32_t>(replica), hashes, others, now);
        std::vector<std::uint64_t> all = hashes;
        all.insert(all.end(), static_cast<std::size_t>(others), 0);
        if (rules.deepest_first) std::reverse(all.begin(), all.end());
        for (const std::uint64_t hash : all) own.use(hash, now);
        const auto most = static_cast<std::size_t>(rules.capacity_blocks);
        if (own.blocks.size() > most) {
          forgotten += 1;
          own.blocks.erase(own.blocks.begin(),
                           own.blocks.end() - static_cast<std::ptrdiff_t>(most));
        }
      }
      const auto found = index.match(hashes, now);
      std::vector<std::int32_t> holders;
      for (std::size_t r = 0; r < plain.size(); ++r) {
        std::int32_t count = 0;
        while (count < static_cast<std::int32_t>(hashes.size()) &&
               plain[r].has(hashes[static_cast<std::size_t>(count)], now, ttl))
          ++count;
        std::int32_t ever = 0;
        while (ever < static_cast<std::int32_t>(hashes.size()) &&
               plain[r].has(hashes[static_cast<std::size_t>(ever)], now, 0))
          ++ever;
        expired += ever > count;
        hits += count > 0;
        if (count > 0) holders.push_back(static_cast<std::int32_t>(r));
        REQUIRE(index.matched(static_cast<std::int32_t>(r)) == count);
        REQUIRE(index.blocks(static_cast<std::int32_t>(r)) ==
                static_cast<std::int64_t>(plain[r].blocks.size()));
      }
      REQUIRE(std::vector<std::int32_t>(found.begin(), found.end()) == holders);
    }
  }
  CHECK(hits > 5000);
  CHECK(forgotten > 500);
  CHECK(expired > 50);
}

TEST_CASE("the memory of an index does not grow with what was forgotten") {
  RouterIndex rules;
  rules.capacity_blocks = 8;
  RoutedIndex index(rules, 2);
  for (std::uint64_t i = 1; i < 20000; ++i) {
    const std::uint64_t hashes[] = {i, i + 1000000};
    index.add(static_cast<std::int32_t>(i % 2), hashes, 1, 0);
    REQUIRE(index.blocks(static_cast<std::int32_t>(i % 2)) <= 8);
  }
  CHECK(index.remembered() <= 16);
}

TEST_CASE("prompts in flight count their tokens until they are computed, and shared blocks once") {
  PromptsInFlight counts(2);
  const std::uint64_t first[] = {1, 2, 3}, second[] = {1, 2, 9};
  counts.send(0, 1, {first, 2}, 100);
  counts.send(1, 1, {second, 0}, 30);
  CHECK(counts.prefill_tokens(1) == 130);
  CHECK(counts.prefill_tokens(0) == 0);
  CHECK(counts.blocks(1) == 6);  // 1, 2, 3, 9 and two of the first prompt alone
  CHECK(counts.shared_blocks(1, first) == 3);
  CHECK(counts.shared_blocks(0, first) == 0);
  counts.compute(0, 1);
  counts.compute(0, 1);
  CHECK(counts.prefill_tokens(1) == 30);
  counts.end(0, 1, {first, 2});
  CHECK(counts.blocks(1) == 3);
  CHECK(counts.shared_blocks(1, first) == 2);
  counts.end(0, 1, {first, 2});  // it is not there any more
  counts.end(1, 1, {second, 0});
  CHECK(counts.blocks(1) == 0);
  CHECK(counts.prefill_tokens(1) == 0);
}

TEST_CASE("events keep their time and order, and the share that is lost is that of the seed") {
  Picoseconds now = 0;
  const std::uint64_t hash[] = {7};
  KvEvents all(0, 1), some(0.25, 1), again(0.25, 1), other(0.25, 2);
  for (KvEvents* each : {&all, &some, &again, &other}) {
    each->read(&now);
    for (now = 0; now < 4000; ++now) each->tell(1, now % 2 == 0, hash);
  }
  const auto times = [](KvEvents& events) {
    std::vector<Picoseconds> out;
    for (const KvEvents::Event& each : events.pending()) out.push_back(each.time);
    return out;
  };
  CHECK(all.pending().size() == 4000);
  CHECK(some.pending().size() > 2850);
  CHECK(some.pending().size() < 3150);
  CHECK(times(some) == times(again));
  CHECK(times(some) != times(other));
  const std::vector<Picoseconds> kept = times(some);
  CHECK(std::is_sorted(kept.begin(), kept.end()));
}
