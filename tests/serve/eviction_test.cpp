// Orders of eviction against an obvious model: a list of chunks that is searched from end to end.

#include <algorithm>
#include <vector>

#include "serve/stores/store.h"
#include "tests/catch.h"
#include "tests/serve/eviction_model.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

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
      const ModelChunk* chunk = model_.find(hash);
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
  StoreModel model_;
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
