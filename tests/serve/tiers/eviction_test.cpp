// Orders of eviction against an obvious model: a list of chunks that is searched from end to end.

#include <algorithm>
#include <optional>
#include <vector>

#include "serve/stores/store.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"
#include "tests/serve/tiers/eviction_model.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Chunks [first, end) of a sequence, which is all that is in front of its end.
struct Drawn {
  std::vector<std::uint64_t> sequence;
  std::int32_t first = 0;
  std::int32_t end() const { return static_cast<std::int32_t>(sequence.size()); }
  std::vector<std::uint64_t> run() const { return {sequence.begin() + first, sequence.end()}; }
  ChunkHashes hashes() const { return {sequence, 1}; }
};

/// Random calls of a store, each of them made of the model too. What can be asked for is a tree.
class Pair {
 public:
  Pair(Eviction rule, std::uint64_t seed)
      : dice_(seed),
        capacity_(dice_.upto(1, 24)),
        rule_(rule),
        store_(capacity_, 4, rule),
        model_(rule, static_cast<std::size_t>(capacity_)) {
    const std::int32_t straight = dice_.upto(0, 9);  // of ten chunks
    parents_.push_back(0);
    for (std::int32_t i = dice_.upto(2, 40); i > 0; --i) {
      const auto last = static_cast<std::int32_t>(parents_.size()) - 1;
      parents_.push_back(dice_.upto(0, 9) <= straight ? last : dice_.upto(0, last));
    }
  }

  void act() {
    ++now_s_;
    const std::int32_t what = dice_.upto(0, 9);
    if (what < 4) {
      put();
    } else if (what < 6) {
      dice_.upto(0, 9) == 0 ? cancel_write() : end_write();
    } else if (what == 6) {
      begin_read();
    } else if (what == 7) {
      end_read();
    } else {
      const Request request = draw_request();
      Drawn drawn = draw();
      drawn.first = 0;
      store_.ask(drawn.hashes(), drawn.end(), owner(&request));
      model_.ask(drawn.run(), request, now_s_);
    }
    compare();
  }

  void end() {
    while (!writes_.empty()) end_write();
    while (!reads_.empty()) end_read();
    REQUIRE(store_.evictable() == store_.used());
    REQUIRE(store_.records() <= 2 * static_cast<std::size_t>(store_.used()) + parents_.size());
  }

 private:
  struct Held {
    Pieces pieces;
    std::vector<std::uint64_t> hashes;
  };

  Store::Owner owner(const Request* request) {
    return {.request = request,
            .now = now_s_ * 1'000'000'000'000,
            .keys = rule_ == Eviction::keyed ? &keys_ : nullptr};
  }
  Request draw_request() {
    Request request;
    request.klass = dice_.upto(0, 2);
    request.session = dice_.upto(0, 2);
    request.priority = dice_.upto(0, 2);
    return request;
  }
  /// All chunks in front of this one and itself.
  std::vector<std::uint64_t> sequence_to(std::int32_t chunk) const {
    std::vector<std::uint64_t> out;
    for (; chunk > 0; chunk = parents_[static_cast<std::size_t>(chunk)])
      out.push_back(static_cast<std::uint64_t>(chunk));
    std::reverse(out.begin(), out.end());
    return out;
  }
  Drawn draw() {
    Drawn out;
    out.sequence = sequence_to(dice_.upto(1, static_cast<std::int32_t>(parents_.size()) - 1));
    const std::int32_t most = dice_.upto(0, 2) == 0 ? 40 : 5;
    out.first = std::max(0, out.end() - 1 - dice_.upto(0, most));
    return out;
  }
  Held take_out(std::vector<Held>& from) {
    const auto at = dice_.upto(0, static_cast<std::int32_t>(from.size()) - 1);
    Held out = from[static_cast<std::size_t>(at)];
    from.erase(from.begin() + at);
    return out;
  }

  void put() {
    const Request request = draw_request();
    const Drawn drawn = draw();
    Held held;
    for (const std::uint64_t hash : drawn.run()) {
      if (model_.find(hash) == nullptr) held.hashes.push_back(hash);
    }
    const bool done =
        store_.put(drawn.hashes(), drawn.first, drawn.end(), owner(&request), held.pieces);
    REQUIRE(done == model_.put(drawn.run(), drawn.first, request, now_s_));
    std::size_t placed = 0;
    for (const Piece& each : held.pieces) placed += static_cast<std::size_t>(each.chunks());
    REQUIRE(placed == (done ? held.hashes.size() : 0));
    if (placed > 0) writes_.push_back(held);
  }
  void end_write() {
    if (writes_.empty()) return;
    const Held held = take_out(writes_);
    store_.end_put(held.pieces, owner(nullptr));
    for (const std::uint64_t hash : held.hashes) model_.end_put(hash, now_s_);
  }
  void cancel_write() {
    if (writes_.empty()) return;
    const Held held = take_out(writes_);
    store_.cancel_put(held.pieces);
    for (const std::uint64_t hash : held.hashes) model_.cancel_put(hash);
  }
  void begin_read() {
    const Drawn drawn = draw();
    const Store::Run run = store_.run_at(drawn.hashes(), drawn.first, drawn.end());
    if (run.has != Store::Has::ready) return;
    Held held;
    held.pieces = store_.pieces(drawn.hashes(), drawn.first, run.end);
    for (std::int32_t i = drawn.first; i < run.end; ++i) {
      held.hashes.push_back(drawn.sequence[static_cast<std::size_t>(i)]);
      ++model_.find(held.hashes.back())->readers;
    }
    store_.begin_read(held.pieces);
    reads_.push_back(held);
  }
  void end_read() {
    if (reads_.empty()) return;
    const Held held = take_out(reads_);
    store_.end_read(held.pieces, owner(nullptr));
    for (const std::uint64_t hash : held.hashes) model_.end_read(hash, now_s_);
  }

  Store::Has has(std::uint64_t hash) {
    const ModelChunk* chunk = model_.find(hash);
    if (chunk == nullptr) return Store::Has::nothing;
    return chunk->arrives ? Store::Has::arriving : Store::Has::ready;
  }
  /// Runs tile every sequence, and each is as long as it can be.
  void compare_runs(std::int32_t chunk) {
    const std::vector<std::uint64_t> sequence = sequence_to(chunk);
    const auto end = static_cast<std::int32_t>(sequence.size());
    std::optional<Store::Has> before;
    for (std::int32_t at = 0; at < end;) {
      const Store::Run run = store_.run_at({sequence, 1}, at, end);
      REQUIRE(run.end > at);
      REQUIRE(before != run.has);
      before = run.has;
      for (; at < run.end; ++at) REQUIRE(has(sequence[static_cast<std::size_t>(at)]) == run.has);
    }
  }

  void compare() {
    std::int64_t arriving = 0, evictable = 0;
    for (std::int32_t i = 1; i < static_cast<std::int32_t>(parents_.size()); ++i) compare_runs(i);
    for (const ModelChunk& chunk : model_.chunks) {
      arriving += chunk.arrives;
      evictable += !chunk.arrives && chunk.readers == 0;
    }
    REQUIRE(store_.used() == static_cast<std::int64_t>(model_.chunks.size()));
    REQUIRE(store_.used() <= capacity_);
    REQUIRE(store_.arriving() == arriving);
    REQUIRE(store_.evictable() == evictable);
    REQUIRE(store_.evictions() == model_.evictions);
  }

  Dice dice_;
  std::int32_t capacity_;
  std::vector<std::int32_t> parents_;  // of each chunk; 0: it begins sequences
  Eviction rule_;
  Keys keys_;
  Store store_;
  StoreModel model_;
  std::int64_t now_s_ = 0;
  std::vector<Held> writes_, reads_;
};

void check_rule(Eviction rule) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Pair pair(rule, seed);
    for (int i = 0; i < 150; ++i) pair.act();
    pair.end();
  }
}

}  // namespace

TEST_CASE("lru: what was used longest ago leaves first") {
  check_rule(Eviction::lru);
}
TEST_CASE("fifo: what was put in longest ago leaves first") {
  check_rule(Eviction::fifo);
}
TEST_CASE("lfu: what was used least often leaves first") {
  check_rule(Eviction::lfu);
}
TEST_CASE("arc: the shares of what was used once and used again follow the misses") {
  check_rule(Eviction::arc);
}
TEST_CASE("keyed: what has the lowest key of its policy leaves first") {
  check_rule(Eviction::keyed);
}
