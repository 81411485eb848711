// Laws of gates and of their queue, on random inputs.

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <vector>

#include "serve/parts/gate/fair_queue.h"
#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/random_questions.h"

namespace rooflua {

namespace {

using reference::Dice;

QueueRules rules_of(FairRule fair, FlowOrder order = FlowOrder::fcfs) {
  QueueRules out;
  out.fair = fair;
  out.order = order;
  return out;
}

/// The flow of the request that goes first; it goes, and gets so many tokens.
std::int32_t let_one_go(FairQueue& queue, double output) {
  const std::int32_t slot = queue.first();
  const FairQueue::Held held = queue.held(slot);
  queue.remove(slot);
  const FairQueue::Account account = queue.account(held.priority, held.key);
  queue.grant(account);
  queue.serve(account, held.prompt_tokens, output, 0);
  return held.key;
}

}  // namespace

TEST_CASE("a gate that lets every request pass changes nothing") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    reference::ClusterCase cluster = reference::draw_cluster(seed);
    const reference::History without = reference::run_engine(cluster);
    cluster.gate.kind = 4;
    INFO("seed " << seed);
    REQUIRE(reference::difference(without, reference::run_engine(cluster)) == "");
  }
}

TEST_CASE("in turn, no flow with held requests gets less than its part of those that go") {
  Dice dice(1);
  for (int trial = 0; trial < 50; ++trial) {
    FairQueue queue(rules_of(FairRule::round_robin));
    const int flows = dice.between(2, 8), each = dice.between(1, 30);
    std::int32_t slot = 0;
    for (int i = 0; i < each; ++i)
      for (int f = 0; f < flows; ++f) queue.hold({slot++, 0, f, dice.between(1, 1000)});
    std::map<std::int32_t, int> grants;
    for (int i = 1; i <= flows * each; ++i) {
      ++grants[let_one_go(queue, 10)];
      for (int f = 0; f < flows; ++f) REQUIRE(grants[f] >= i / flows);
    }
    CHECK(queue.size() == 0);
  }
}

TEST_CASE("no held request of a band is passed over for one with a later deadline") {
  Dice dice(2);
  for (int trial = 0; trial < 50; ++trial) {
    FairQueue queue(rules_of(FairRule::global, FlowOrder::edf));
    std::map<std::int32_t, std::multiset<Picoseconds>> waiting;  // deadlines by priority
    std::int32_t slot = 0;
    for (int i = 0; i < 300; ++i) {
      if (queue.size() == 0 || dice.chance(60)) {
        const std::int32_t priority = dice.between(-1, 1);
        const Picoseconds deadline = dice.chance(20) ? never : dice.between(1, 1000);
        queue.hold({slot++, priority, dice.between(0, 3), 10, i, deadline});
        waiting[priority].insert(deadline);
        continue;
      }
      const FairQueue::Held next = queue.held(queue.first());
      const auto band = std::find_if(waiting.begin(), waiting.end(),
                                     [](const auto& each) { return !each.second.empty(); });
      REQUIRE(next.priority == band->first);
      REQUIRE(next.deadline == *band->second.begin());
      band->second.erase(band->second.begin());
      let_one_go(queue, 1);
    }
  }
}

TEST_CASE("counters of flows that always have something to send differ by one request at most") {
  Dice dice(3);
  for (int trial = 0; trial < 50; ++trial) {
    FairQueue queue(rules_of(FairRule::vtc));
    constexpr int most_prompt = 900, most_output = 300, flows = 5;
    const double most_cost = most_prompt + 2.0 * most_output;
    std::int32_t slot = 0;
    for (int f = 0; f < flows; ++f)
      for (int i = 0; i < 3; ++i) queue.hold({slot++, 0, f, dice.between(1, most_prompt)});
    std::vector<GateFlow> list;
    for (int i = 0; i < 400; ++i) {
      const std::int32_t flow = let_one_go(queue, dice.between(0, most_output));
      queue.hold({slot++, 0, flow, dice.between(1, most_prompt)});
      queue.list_flows(list, 0);
      REQUIRE(list.size() == flows);
      const auto [least, most] = std::minmax_element(
          list.begin(), list.end(),
          [](const GateFlow& a, const GateFlow& b) { return a.service < b.service; });
      REQUIRE(most->service - least->service <= most_cost);
    }
  }
}

TEST_CASE("a flow that had nothing to send has no claim to what it did not use, but with las") {
  for (const FairRule fair : {FairRule::vtc, FairRule::las}) {
    FairQueue queue(rules_of(fair));
    std::int32_t slot = 0;
    for (int i = 0; i < 40; ++i) queue.hold({slot++, 0, 0, 100});
    for (int i = 0; i < 20; ++i) let_one_go(queue, 0);
    for (int i = 0; i < 20; ++i) queue.hold({slot++, 0, 1, 100});
    std::map<std::int32_t, int> grants;
    for (int i = 0; i < 10; ++i) ++grants[let_one_go(queue, 0)];
    CHECK(grants[1] == (fair == FairRule::vtc ? 5 : 10));
  }
}

TEST_CASE("halving all service changes no order, and what comes later counts more") {
  QueueRules rules = rules_of(FairRule::las);
  rules.half_life_s = 1;
  FairQueue queue(rules);
  queue.hold({0, 0, 0, 10});
  queue.hold({1, 0, 1, 10});
  queue.serve(queue.account(0, 0), 1000, 0, 0);
  queue.serve(queue.account(0, 1), 300, 0, picoseconds(2.5, "now"));
  CHECK(queue.first() == 0);  // 1000 / 4 < 300
  std::vector<GateFlow> list;
  queue.list_flows(list, picoseconds(2.5, "now"));
  CHECK(list[0].service == 250);
  CHECK(list[1].service == 300);
  queue.serve(queue.account(0, 1), 1, 0, picoseconds(5000, "now"));  // the numbers begin anew
  queue.list_flows(list, picoseconds(5000, "now"));
  CHECK(list[0].service < 1e-300);
  CHECK(list[1].service == 1);
  CHECK(queue.first() == 0);
}

TEST_CASE("a full band takes no request, and its neighbour does") {
  QueueRules rules = rules_of(FairRule::global);
  rules.max_held = 2;
  rules.max_held_tokens = 100;
  FairQueue queue(rules);
  CHECK(queue.has_room(0, 100));
  CHECK(!queue.has_room(0, 101));
  queue.hold({0, 0, 0, 30});
  CHECK(!queue.has_room(0, 71));
  CHECK(queue.has_room(1, 71));
  queue.hold({1, 0, 1, 30});
  CHECK(!queue.has_room(0, 1));
  queue.remove(0);
  CHECK(queue.has_room(0, 70));
}

TEST_CASE("a hundred thousand held requests go in a second") {
  for (const FairRule fair :
       {FairRule::global, FairRule::round_robin, FairRule::vtc, FairRule::las}) {
    Dice dice(4);
    FairQueue queue(rules_of(fair, FlowOrder::edf));
    const std::clock_t start = std::clock();
    for (std::int32_t slot = 0; slot < 100000; ++slot)
      queue.hold({slot, 0, dice.between(0, 20000), 100, 0, dice.between(1, 1000000)});
    while (queue.size() > 0) let_one_go(queue, 10);
    const double took_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK(took_s < 5);  // of the processor; O(n) for each would be minutes
  }
}

}  // namespace rooflua
