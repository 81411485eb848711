// What routers know of prefixes, against the caches themselves.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Sends requests in turn, a group of them to each replica, and compares what it knows with what
/// the caches have.
class Comparing : public Router {
 public:
  RouterIndex rules;
  const Simulation* simulation = nullptr;
  bool exact = false;  // told at once
  std::int64_t compared = 0, hits = 0, wrong = 0, too_much = 0;
  std::string seen;
  std::vector<std::int32_t> believed;  // in the order of the questions

  RouterIndex index() const override { return rules; }
  std::int32_t route(const Request& request, const RouteView& view) override {
    for (std::int32_t i = 0; i < view.candidate_count; ++i)
      compare(request, view, view.candidates[i]);
    check_holders(view);
    const std::int32_t chosen = view.candidates[turn_++ / 3 % view.candidate_count];
    seen += static_cast<char>('a' + chosen);
    return chosen;
  }

 private:
  static std::int32_t known(const Request& request, const RouteView& view, std::int32_t replica,
                            const RouterIndex& rules) {
    if (rules.kind == RouterIndex::Kind::told) return cached_tokens(view, replica);
    const auto sent =
        static_cast<std::int32_t>(view.source->fact(view, replica, RouterFact::sent_tokens));
    const std::int32_t size = rules.block_tokens;
    return std::min(sent, (request.prompt_tokens - 1) / size * size);
  }
  void compare(const Request& request, const RouteView& view, std::int32_t replica) {
    believed.push_back(known(request, view, replica, rules));
    const bool computed = view.source->fact(view, replica, RouterFact::prefill_tokens) == 0;
    if (!exact && !computed) return;
    const std::int32_t real = simulation->replica(replica).cached_tokens(view.slot);
    const std::int32_t told = known(request, view, replica, rules);
    ++compared;
    hits += real > 0;
    wrong += told != real;
    too_much += told > real;
  }
  void check_holders(const RouteView& view) const {
    std::vector<std::int32_t> expected;
    const bool sends = rules.kind == RouterIndex::Kind::sent;
    for (std::int32_t i = 0; i < view.candidate_count; ++i) {
      const std::int32_t replica = view.candidates[i];
      const double tokens = sends ? view.source->fact(view, replica, RouterFact::sent_tokens)
                                  : cached_tokens(view, replica);
      if (tokens > 0) expected.push_back(i);
    }
    const auto found = sends ? view.source->sent_holders(view) : view.source->prefix_holders(view);
    REQUIRE(std::vector<std::int32_t>(found.begin(), found.end()) == expected);
  }

  std::int32_t turn_ = 0;
};

/// A cluster of three replicas like the one of a random case, with that router.
struct Cluster {
  Case it;
  ListedWorkload workload;
  std::vector<Fcfs> schedulers;
  LinearSteps steps{0.5, 1.0 / 64, 0};
  Bindings bindings;
  std::unique_ptr<Simulation> simulation;

  Cluster(std::uint64_t seed, std::int32_t blocks, Comparing& router)
      : it(random_case(seed, true)), workload(it.specs) {
    ReplicaConfig& first = it.cluster.replicas.front();
    first.prefix_caching = true;
    if (blocks > 0) first.kv_blocks = blocks;
    first.max_model_len.reset();  // a prompt that is refused was sent all the same
    router.rules.block_tokens = first.block_size;
    it.cluster.replicas.resize(3, first);  // `first` is gone after this
    schedulers.assign(3, it.scheduler);
    for (Fcfs& scheduler : schedulers) bindings.schedulers.push_back(&scheduler);
    bindings.steps.assign(3, &steps);
    bindings.router = &router;
    bindings.workload = &workload;
    simulation = std::make_unique<Simulation>(it.cluster, bindings);
    router.simulation = simulation.get();
  }
};

constexpr std::int32_t plenty = 100000;

}  // namespace

TEST_CASE("with infinite caches what was sent is what is cached, once prompts are computed") {
  std::int64_t compared = 0, hits = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Comparing router;
    router.rules.kind = RouterIndex::Kind::sent;
    router.rules.capacity_blocks = plenty;
    router.rules.in_flight = true;
    Cluster cluster(seed, plenty, router);
    cluster.simulation->run();
    REQUIRE(router.wrong == 0);
    compared += router.compared;
    hits += router.hits;
  }
  CHECK(compared > 3000);
  CHECK(hits > 800);
}

TEST_CASE("where replicas evict, what was sent is wrong") {
  std::int64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Comparing router;
    router.rules.kind = RouterIndex::Kind::sent;
    router.rules.in_flight = true;
    Cluster cluster(seed, 0, router);
    cluster.simulation->run();
    wrong += router.wrong;
  }
  CHECK(wrong > 10);
}

TEST_CASE("events that come at once say what a look into the caches finds, whatever is evicted") {
  std::int64_t hits = 0, late = 0, lossy = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const auto wrong = [seed, &hits](double lag_s, double loss) {
      Comparing router;
      router.rules.kind = RouterIndex::Kind::told;
      router.rules.capacity_blocks = plenty;
      router.rules.lag_s = lag_s;
      router.rules.loss = loss;
      router.exact = true;
      Cluster cluster(seed, 0, router);
      cluster.simulation->run();
      hits += lag_s == 0 && loss == 0 ? router.hits : 0;
      return router.wrong;
    };
    REQUIRE(wrong(0, 0) == 0);
    late += wrong(2, 0);
    lossy += wrong(0, 0.5);
  }
  CHECK(hits > 500);
  CHECK(late > 100);
  CHECK(lossy > 100);
}

TEST_CASE("events of fewer replicas than hold a block say less than a look, and never more") {
  std::int64_t wrong = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const auto run = [seed](std::int32_t most) {
      Comparing router;
      router.rules.kind = RouterIndex::Kind::told;
      router.rules.capacity_blocks = plenty;
      router.rules.most_holders = most;
      router.exact = true;
      Cluster cluster(seed, 0, router);
      cluster.simulation->run();
      REQUIRE(router.too_much == 0);
      return router.wrong;
    };
    wrong += run(1);
    all += run(3);
  }
  CHECK(wrong > 100);
  CHECK(all == 0);
}

TEST_CASE("a router that no event reaches believes what an index of sent prompts remembers") {
  std::int64_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Comparing hears, sends;
    for (Comparing* each : {&hears, &sends}) {
      const bool is_told = each == &hears;
      each->rules.kind = is_told ? RouterIndex::Kind::told : RouterIndex::Kind::sent;
      each->rules.capacity_blocks = plenty;
      each->rules.lag_s = each->rules.speculative_s = 1e5;
      each->exact = true;
      Cluster cluster(seed, 0, *each);
      cluster.simulation->run();
    }
    REQUIRE(hears.seen == sends.seen);
    REQUIRE(hears.believed == sends.believed);
    hits += std::count_if(hears.believed.begin(), hears.believed.end(),
                          [](std::int32_t tokens) { return tokens > 0; });
  }
  CHECK(hits > 500);
}

TEST_CASE("a copy knows what the original knows, and goes its own way") {
  for (const RouterIndex::Kind kind : {RouterIndex::Kind::sent, RouterIndex::Kind::told}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      CAPTURE(seed);
      Comparing router;
      router.rules.kind = kind;
      router.rules.in_flight = true;
      router.rules.loss = 0.2;
      router.rules.lag_s = 1;
      router.rules.capacity_blocks = 20;
      router.rules.most_holders = 2;
      router.rules.speculative_s = 3;
      Cluster cluster(seed, 0, router);
      cluster.simulation->run_until(5);
      ListedWorkload rest(cluster.workload);
      std::vector<Fcfs> schedulers(cluster.schedulers);
      Comparing again(router);
      Bindings bindings = cluster.bindings;
      for (std::size_t i = 0; i < 3; ++i) bindings.schedulers[i] = &schedulers[i];
      bindings.router = &again;
      bindings.workload = &rest;
      const std::unique_ptr<Simulation> copy = cluster.simulation->fork(bindings);
      again.simulation = copy.get();
      cluster.simulation->run();
      copy->run();
      CHECK(router.seen == again.seen);
      CHECK(router.wrong == again.wrong);
      CHECK(router.hits == again.hits);
    }
  }
}
