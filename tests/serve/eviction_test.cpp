// Orders of eviction against an obvious model: a list of chunks that is searched from end to end.

#include <algorithm>
#include <optional>
#include <vector>

#include "serve/stores/store.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A key with many ties, of all that a policy may read.
class Keys : public EvictionPolicy {
 public:
  double key(const StoredBlock& block) override { return of(block); }
  static double of(const StoredBlock& b) {
    return (b.depth_tokens / 4 * 5 + b.uses * 3 + b.klass + b.session + b.priority +
            static_cast<int>(b.put_s) + static_cast<int>(b.used_s) + static_cast<int>(b.now_s)) %
           4;
  }
};

struct Chunk {
  std::uint64_t hash = 0;
  bool arrives = true;
  int readers = 0;
  int uses = 0;
  long born = 0, touched = 0;  // order of events
  StoredBlock seen;
  double key = 0;
  bool again = false;  // arc: it is in the list of those that were used again
};

/// What store.h and eviction.h say, in loops.
class Model {
 public:
  Model(Eviction rule, std::size_t capacity) : rule_(rule), capacity_(capacity) {}

  std::vector<Chunk> chunks;
  long evictions = 0;

  Chunk* find(std::uint64_t hash) {
    for (Chunk& each : chunks) {
      if (each.hash == hash) return &each;
    }
    return nullptr;
  }

  bool put(const std::vector<std::uint64_t>& run, int first, const Request& request, double now) {
    std::vector<std::uint64_t> missing;
    for (const std::uint64_t hash : run) {
      if (find(hash) == nullptr) missing.push_back(hash);
    }
    if (missing.empty()) return true;
    std::size_t may_leave = 0;
    for (const Chunk& each : chunks) may_leave += leaves(each, run);
    if (chunks.size() + missing.size() > capacity_ + may_leave) return false;
    while (chunks.size() + missing.size() > capacity_) evict(run);
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (find(run[i]) != nullptr) continue;
      Chunk chunk;
      chunk.hash = run[i];
      chunk.born = chunk.touched = ++events_;
      chunk.seen.depth_tokens = (first + static_cast<int>(i) + 1) * 4;
      chunk.seen.put_s = chunk.seen.used_s = now;
      describe(chunk, request);
      give_key(chunk, now);
      std::erase(left_[0], run[i]);
      std::erase(left_[1], run[i]);
      chunks.push_back(chunk);
    }
    return true;
  }

  void end_put(std::uint64_t hash, double now) {
    find(hash)->arrives = false;
    find(hash)->seen.put_s = now;
  }

  void end_read(std::uint64_t hash, double now) {
    Chunk& chunk = *find(hash);
    --chunk.readers;
    if (rule_ != Eviction::keyed) return;
    give_key(chunk, now);
    chunk.touched = ++events_;
  }

  void ask(const std::vector<std::uint64_t>& run, const Request& request, double now) {
    for (auto hash = run.rbegin(); hash != run.rend(); ++hash) {
      Chunk* chunk = find(*hash);
      if (chunk == nullptr) {
        miss(*hash);
        continue;
      }
      ++chunk->uses;
      chunk->seen.used_s = now;
      describe(*chunk, request);
      give_key(*chunk, now);
      chunk->touched = ++events_;
      chunk->again = chunk->again || !chunk->arrives;
    }
  }

 private:
  static bool leaves(const Chunk& chunk, const std::vector<std::uint64_t>& run) {
    return !chunk.arrives && chunk.readers == 0 &&
           std::find(run.begin(), run.end(), chunk.hash) == run.end();
  }
  static void describe(Chunk& chunk, const Request& request) {
    chunk.seen.klass = request.klass;
    chunk.seen.session = request.session;
    chunk.seen.priority = request.priority;
  }
  void give_key(Chunk& chunk, double now) const {
    chunk.seen.uses = chunk.uses;
    chunk.seen.now_s = now;
    if (rule_ == Eviction::keyed) chunk.key = Keys::of(chunk.seen);
  }

  bool before(const Chunk& a, const Chunk& b) const {
    switch (rule_) {
      case Eviction::fifo:
        return a.born < b.born;
      case Eviction::lfu:
        return a.uses != b.uses ? a.uses < b.uses : a.touched < b.touched;
      case Eviction::keyed:
        return a.key != b.key ? a.key < b.key : a.touched < b.touched;
      default:
        return a.touched < b.touched;
    }
  }
  std::optional<std::size_t> first(const std::vector<std::uint64_t>& run, int list) const {
    std::optional<std::size_t> out;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (list >= 0 && chunks[i].again != (list == 1)) continue;
      if (leaves(chunks[i], run) && (!out || before(chunks[i], chunks[*out]))) out = i;
    }
    return out;
  }
  void evict(const std::vector<std::uint64_t>& run) {
    std::optional<std::size_t> victim;
    if (rule_ == Eviction::arc) {
      std::size_t once = 0;
      for (const Chunk& each : chunks) once += !each.again;
      const int from = once >= static_cast<std::size_t>(target_) ? 0 : 1;
      victim = first(run, from);
      if (!victim) victim = first(run, 1 - from);
      std::vector<std::uint64_t>& gone = left_[chunks[*victim].again ? 1 : 0];
      gone.push_back(chunks[*victim].hash);
      if (gone.size() > capacity_) gone.erase(gone.begin());
    } else {
      victim = first(run, -1);
    }
    chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(*victim));
    ++evictions;
  }

  /// Of what left the list of chunks that were used once, more of these should have been kept; and
  /// of the other list the other way round.
  void miss(std::uint64_t hash) {
    if (rule_ != Eviction::arc) return;
    for (int i : {0, 1}) {
      std::vector<std::uint64_t>& own = left_[i];
      if (std::find(own.begin(), own.end(), hash) == own.end()) continue;
      const double step = std::max(
          1.0, static_cast<double>(left_[1 - i].size()) / static_cast<double>(own.size()));
      target_ = i == 0 ? std::min(static_cast<double>(capacity_), target_ + step)
                       : std::max(0.0, target_ - step);
      std::erase(own, hash);
      own.push_back(hash);
      return;
    }
  }

  Eviction rule_;
  std::size_t capacity_;
  long events_ = 0;
  std::vector<std::uint64_t> left_[2];
  double target_ = 0;
};

/// Random calls of a store, each of them made of the model too.
class Pair {
 public:
  Pair(Eviction rule, std::uint64_t seed)
      : dice_(seed),
        capacity_(dice_.upto(1, 12)),
        content_(dice_.upto(2, 30)),
        rule_(rule),
        store_(capacity_, 4, rule),
        model_(rule, static_cast<std::size_t>(capacity_)) {}

  void act() {
    ++now_s_;
    const std::int32_t what = dice_.upto(0, 9);
    if (what < 4) {
      put();
    } else if (what < 6) {
      end_write();
    } else if (what == 6) {
      begin_read();
    } else if (what == 7) {
      end_read();
    } else {
      const Request request = draw_request();
      const std::vector<std::uint64_t> run = draw_run();
      store_.ask(run, owner(&request));
      model_.ask(run, request, now_s_);
    }
    compare();
  }

 private:
  struct Held {
    std::vector<std::int32_t> ids;
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
  std::vector<std::uint64_t> draw_run() {
    const std::int32_t first = dice_.upto(1, content_);
    const std::int32_t end = std::min(content_, first + dice_.upto(0, 5));
    std::vector<std::uint64_t> out;
    for (std::int32_t hash = first; hash <= end; ++hash)
      out.push_back(static_cast<std::uint64_t>(hash));
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
    const std::vector<std::uint64_t> run = draw_run();
    const auto first = static_cast<std::int32_t>(run.front());
    Held held;
    const bool done = store_.put(run, first, owner(&request), held.ids);
    REQUIRE(done == model_.put(run, first, request, now_s_));
    for (const std::int32_t id : held.ids) held.hashes.push_back(store_.hash(id));
    if (!done) REQUIRE(held.ids.empty());
    if (!held.ids.empty()) writes_.push_back(held);
  }
  void end_write() {
    if (writes_.empty()) return;
    const Held held = take_out(writes_);
    store_.end_put(held.ids, owner(nullptr));
    for (const std::uint64_t hash : held.hashes) model_.end_put(hash, now_s_);
  }
  void begin_read() {
    Held held;
    for (const std::uint64_t hash : draw_run()) {
      if (store_.has(hash) != Store::Has::ready) break;
      held.ids.push_back(store_.find(hash));
      held.hashes.push_back(hash);
      ++model_.find(hash)->readers;
    }
    store_.begin_read(held.ids);
    if (!held.ids.empty()) reads_.push_back(held);
  }
  void end_read() {
    if (reads_.empty()) return;
    const Held held = take_out(reads_);
    store_.end_read(held.ids, owner(nullptr));
    for (const std::uint64_t hash : held.hashes) model_.end_read(hash, now_s_);
  }

  void compare() {
    std::int64_t arriving = 0, evictable = 0;
    for (std::int32_t h = 1; h <= content_; ++h) {
      const auto hash = static_cast<std::uint64_t>(h);
      const Chunk* chunk = model_.find(hash);
      const Store::Has has = store_.has(hash);
      REQUIRE((has == Store::Has::nothing) == (chunk == nullptr));
      if (chunk == nullptr) continue;
      REQUIRE((has == Store::Has::arriving) == chunk->arrives);
      arriving += chunk->arrives;
      evictable += !chunk->arrives && chunk->readers == 0;
    }
    REQUIRE(store_.used() == static_cast<std::int64_t>(model_.chunks.size()));
    REQUIRE(store_.used() <= capacity_);
    REQUIRE(store_.arriving() == arriving);
    REQUIRE(store_.evictable() == evictable);
    REQUIRE(store_.evictions() == model_.evictions);
    for (const auto& all : {writes_, reads_}) {
      for (const Held& held : all) {
        for (std::size_t i = 0; i < held.ids.size(); ++i)
          REQUIRE(store_.find(held.hashes[i]) == held.ids[i]);
      }
    }
  }

  Dice dice_;
  std::int32_t capacity_, content_;
  Eviction rule_;
  Keys keys_;
  Store store_;
  Model model_;
  std::int64_t now_s_ = 0;
  std::vector<Held> writes_, reads_;
};

void check_rule(Eviction rule) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Pair pair(rule, seed);
    for (int i = 0; i < 150; ++i) pair.act();
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
