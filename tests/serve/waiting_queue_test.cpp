#include "serve/replica/waiting_queue.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/board.h"

using namespace rooflua;
using namespace rooflua::test;
using Ids = std::vector<std::int32_t>;

namespace {

class Keyless : public SchedulerPolicy {
 public:
  void plan(const VisibleReplica&, Plan&) override {}
};

class ByPriority : public Keyless {
 public:
  bool has_key() const override { return true; }
  double key(const Request& request) override { return request.priority; }
};

Ids waiting(const TestBoard& at) {
  return at.ids(at.board.view.waiting_head, at.board.view.waiting_tail);
}

}  // namespace

TEST_CASE(
    "a queue without keys is first come first served, and preempted requests go to its front") {
  TestBoard at;
  WaitingQueue queue(at.board);
  Keyless policy;
  const std::int32_t a = at.add(10), b = at.add(20), c = at.add(30);
  for (const std::int32_t slot : {a, b, c}) queue.join(slot, policy);
  CHECK(waiting(at) == Ids{0, 1, 2});
  queue.leave(b);
  at.requests[b].emitted_tokens = 5;
  queue.rejoin(b);
  CHECK(waiting(at) == Ids{1, 0, 2});
  CHECK(at.board.view.waiting == 3);
  CHECK(at.board.view.waiting_tokens == 10 + 25 + 30);
  for (const std::int32_t slot : {a, b, c}) CHECK(at.requests[slot].phase == Phase::waiting);
}

TEST_CASE("requests that hold blocks stand before all others, preempted ones included") {
  TestBoard at;
  WaitingQueue queue(at.board);
  Keyless policy;
  const std::int32_t a = at.add(10), b = at.add(10), c = at.add(10), d = at.add(10);
  queue.join(a, policy);
  at.requests.progress(b).held_blocks = 1;
  queue.join(b, policy);
  at.requests.progress(c).held_blocks = 2;
  queue.join(c, policy);
  queue.rejoin(d);
  CHECK(waiting(at) == Ids{1, 2, 3, 0});
  queue.leave(c);  // the last of those that hold blocks
  at.requests.progress(c).held_blocks = 0;
  queue.rejoin(c);
  CHECK(waiting(at) == Ids{1, 2, 3, 0});
}

TEST_CASE("keys order the queue, equal keys by id, also after the scheduler was swapped") {
  TestBoard at;
  WaitingQueue queue(at.board);
  ByPriority by_priority;
  Keyless keyless;
  std::vector<std::int32_t> slots;
  for (const std::int32_t priority : {2, 1, 2, 0, 1}) {
    slots.push_back(at.add(10));
    at.requests[slots.back()].priority = priority;
    queue.join(slots.back(), keyless);
  }
  CHECK(waiting(at) == Ids{0, 1, 2, 3, 4});
  queue.rekey(by_priority);
  CHECK(waiting(at) == Ids{3, 1, 4, 0, 2});
  queue.leave(slots[1]);
  queue.rejoin(slots[1]);  // by its key, not to the front
  CHECK(waiting(at) == Ids{3, 1, 4, 0, 2});
  queue.rekey(keyless);  // keeps the order
  CHECK(waiting(at) == Ids{3, 1, 4, 0, 2});
}

TEST_CASE("a key that is not a number is an error that names the request") {
  class Nan : public Keyless {
   public:
    bool has_key() const override { return true; }
    double key(const Request&) override { return NAN; }
  } policy;
  TestBoard at;
  WaitingQueue queue(at.board);
  const std::int32_t slot = at.add(1);
  CHECK_THROWS_WITH(queue.join(slot, policy), ContainsSubstring("request 0"));
}

TEST_CASE("the queue counts its requests and their tokens whatever happens") {
  std::mt19937_64 random(5);
  for (const bool keyed : {false, true}) {
    TestBoard at;
    WaitingQueue queue(at.board);
    ByPriority by_priority;
    Keyless keyless;
    SchedulerPolicy& policy = keyed ? by_priority : keyless;
    std::vector<std::int32_t> inside, outside;
    for (int i = 0; i < 40; ++i) {
      outside.push_back(at.add(1 + static_cast<std::int32_t>(random() % 100)));
      at.requests[outside.back()].priority = static_cast<std::int32_t>(random() % 5);
      at.requests.progress(outside.back()).held_blocks = random() % 4 == 0 ? 1 : 0;
    }
    for (int i = 0; i < 4000; ++i) {
      std::vector<std::int32_t>& from = random() % 2 == 0 || inside.empty() ? outside : inside;
      if (from.empty()) continue;
      const std::size_t place = random() % from.size();
      const std::int32_t slot = from[place];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(place));
      if (&from == &inside) {
        queue.leave(slot);
        outside.push_back(slot);
      } else {
        inside.push_back(slot);
        queue.join(slot, policy);
      }
      double tokens = 0;
      for (const std::int32_t each : inside) tokens += at.requests[each].prompt_tokens;
      REQUIRE(at.board.view.waiting == static_cast<std::int32_t>(inside.size()));
      REQUIRE(at.board.view.waiting_tokens == tokens);
      REQUIRE(waiting(at).size() == inside.size());
      bool holders_over = false;
      for (std::int32_t s = at.board.view.waiting_head; s >= 0; s = at.requests[s].next) {
        const bool holds = at.requests.progress(s).held_blocks > 0;
        REQUIRE_FALSE((holds && holders_over));
        holders_over = !holds;
      }
    }
  }
}
