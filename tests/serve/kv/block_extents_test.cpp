// The cache of extents against one that keeps every block by itself: the same hits and the same
// content that leaves, block by block, whatever is seated, given more content, preempted, cut short
// and released in whatever order.

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "serve/kv/block_hashes.h"
#include "serve/kv/kv_cache.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr std::int32_t block_size = 4;

/// Every block with its content, and the free queue as a list.
struct BlockByBlock {
  struct Block {
    std::uint64_t hash = 0;  // 0: none
    std::int64_t since = 0;  // when it got its content
    std::int32_t holders = 0;
  };
  std::vector<Block> blocks;
  std::deque<std::int32_t> queue;
  std::vector<std::vector<std::int32_t>> held;  // by slot
  std::int64_t now = 0;
  std::vector<std::uint64_t> lost;  // content of which the last block was popped

  BlockByBlock(std::int32_t total, std::size_t slots)
      : blocks(static_cast<std::size_t>(total)), held(slots) {
    for (std::int32_t i = 0; i < total; ++i) queue.push_back(i);
  }
  Block& at(std::int32_t block) { return blocks[static_cast<std::size_t>(block)]; }

  /// The block that got this content first; -1: none.
  std::int32_t find(std::uint64_t hash) {
    std::int32_t first = -1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(blocks.size()); ++i) {
      if (at(i).hash == hash && (first < 0 || at(i).since < at(first).since)) first = i;
    }
    return first;
  }
  KvCache::Hit hit(std::span<const std::uint64_t> hashes, bool drops_last) {
    std::vector<std::int32_t> found;
    for (const std::uint64_t hash : hashes) {
      if (find(hash) < 0) break;
      found.push_back(find(hash));
    }
    if (drops_last && !found.empty()) found.pop_back();
    KvCache::Hit out{static_cast<std::int32_t>(found.size()), 0};
    for (const std::int32_t block : found) out.free += at(block).holders == 0;
    return out;
  }
  void pop(std::size_t slot, std::int32_t count) {
    for (; count > 0; --count) {
      held[slot].push_back(queue.front());
      const std::uint64_t hash = at(queue.front()).hash;
      at(queue.front()) = {0, 0, 1};
      if (hash != 0 && find(hash) < 0) lost.push_back(hash);
      queue.pop_front();
    }
  }
  void seat(std::size_t slot, std::span<const std::uint64_t> hashes, std::int32_t fresh) {
    for (const std::uint64_t hash : hashes) {
      const std::int32_t block = find(hash);
      if (at(block).holders++ == 0) std::erase(queue, block);
      held[slot].push_back(block);
    }
    pop(slot, fresh);
  }
  void remember(std::size_t slot, std::span<const std::uint64_t> hashes) {
    for (std::size_t j = 0; j < hashes.size(); ++j) {
      Block& block = at(held[slot][j]);
      if (block.hash == 0) block.hash = hashes[j], block.since = ++now;
    }
  }
  void release(std::size_t slot, std::size_t full) {
    for (std::size_t j = held[slot].size(); j-- > 0;) {
      const std::int32_t block = held[slot][j];
      if (--at(block).holders > 0) continue;
      if (j >= full) at(block).hash = 0;
      j < full ? queue.push_back(block) : queue.push_front(block);
    }
    held[slot].clear();
  }
};

struct User {
  Request request;
  Progress progress;
  bool seated = false;
  std::int32_t remembered = 0;
  std::int32_t before = 0;  // full blocks before the last chunk
  int chunk_at = -1;        // the step of that chunk
};

/// One of a few trees of content, which branch at several places, within blocks too.
void draw(User& user, std::int32_t id, std::mt19937& luck) {
  const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(luck() % n); };
  user = User{};
  user.request.id = id;
  std::uint64_t content = 1;
  for (std::int32_t depth = 0, parts = 1 + below(4); depth < parts; ++depth) {
    content = content * 3 + static_cast<std::uint64_t>(below(2));
    const bool is_private = depth > 0 && below(6) == 0;
    user.progress.segments.push_back({is_private ? 0 : content, 3 + below(3) * 7});
    user.request.prompt_tokens += user.progress.segments.back().tokens;
  }
}

void compare(bool drops_last, unsigned seed) {
  constexpr std::int32_t total = 60;
  constexpr std::size_t users = 8;
  std::mt19937 luck(seed);
  const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(luck() % n); };
  KvCache cache(total, block_size, PrefixIndex::shared, drops_last);
  cache.tell_lost(true);
  BlockByBlock naive(total, users);
  std::map<std::uint64_t, std::uint64_t> before;  // what is in front of a block; 0: nothing
  std::vector<User> all(users);
  std::int32_t ids = 0;
  int released_at = -1;
  for (User& user : all) draw(user, ids++, luck);
  for (int step = 0; step < 3000; ++step) {
    const auto slot = static_cast<std::int32_t>(luck() % users);
    const auto place = static_cast<std::size_t>(slot);
    User& user = all[place];
    const auto hashes = [&](std::int32_t blocks) {
      return std::span<const std::uint64_t>(
                 block_hashes(user.request, user.progress, block_size, blocks))
          .first(static_cast<std::size_t>(blocks));
    };
    const std::int32_t tokens = user.request.prompt_tokens;
    const std::int32_t open = public_blocks(user.progress, block_size);
    const auto held = static_cast<std::int32_t>(naive.held[place].size());
    if (!user.seated) {
      const std::int32_t whole = (tokens - 1) / block_size;
      const std::int32_t askable = user.request.preemptions > 0 ? whole : std::min(whole, open);
      const KvCache::Hit hit = cache.lookup(slot, user.request, user.progress);
      const KvCache::Hit expected = naive.hit(hashes(askable), drops_last);
      REQUIRE(hit.blocks == expected.blocks);
      REQUIRE(hit.free == expected.free);
      const std::int32_t first = hit.blocks + 1 + below(3);
      const std::int32_t fresh = std::min(first, blocks_for(tokens, block_size)) - hit.blocks;
      if (hit.free + fresh > cache.free_blocks()) continue;
      cache.seat(slot, user.request, user.progress, hit, fresh);
      naive.seat(place, hashes(hit.blocks), fresh);
      user.remembered = hit.blocks;
      user.chunk_at = -1;
      user.seated = true;
    } else if (const std::int32_t more = std::min(1 + below(4), blocks_for(tokens, 4) - held);
               below(3) > 0 && more <= cache.free_blocks()) {
      cache.grow(slot, more);
      naive.pop(place, more);
      const std::int32_t full = std::min(held + more, tokens / block_size);
      cache.remember(slot, user.request, user.progress, full);
      user.before = std::min(held, tokens / block_size);
      user.chunk_at = step;
      user.remembered = std::max(user.remembered, std::min(full, open));
      naive.remember(place, hashes(user.remembered));
    } else {
      const bool returns = below(2) == 0;
      // A plan that gives back its last chunk does so before another request gave back blocks.
      const bool gives_back = user.chunk_at > released_at && below(2) == 0;
      const std::int32_t full = gives_back ? user.before : std::min(held, tokens / block_size);
      released_at = step;
      if (returns) ++user.request.preemptions;
      cache.release(slot, user.request, user.progress, held, full, returns);
      naive.remember(place,
                     hashes(std::max(user.remembered, returns ? full : std::min(full, open))));
      naive.release(place, static_cast<std::size_t>(full));
      user.seated = false;
      if (!returns) {
        cache.forget(slot);
        draw(user, ids++, luck);
      }
    }
    REQUIRE(cache.free_blocks() == static_cast<std::int32_t>(naive.queue.size()));
    if (user.seated) {
      std::uint64_t front = 0;
      for (const std::uint64_t hash : hashes(tokens / block_size))
        before[hash] = std::exchange(front, hash);
    }
    std::vector<std::uint64_t> lost;
    for (const LostRun& run : cache.take_lost()) {
      lost.insert(lost.end(), run.hashes.rbegin(), run.hashes.rend() - run.first);
      std::uint64_t front = 0;
      for (const std::uint64_t hash : run.hashes)
        REQUIRE(before.at(hash) == std::exchange(front, hash));
    }
    REQUIRE(lost == std::exchange(naive.lost, {}));
  }
}

}  // namespace

TEST_CASE("extents of blocks hit and leave as blocks do that are kept one by one") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    compare(false, seed);
    compare(true, seed);
  }
}
