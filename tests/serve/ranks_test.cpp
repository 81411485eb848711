// Ranks that step together: laws on random workloads.

#include <map>
#include <memory>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// To the rank that a permutation gives for the request's priority, which stands for its rank.
class ByPriority : public Router {
 public:
  std::vector<std::int32_t> place;
  std::int32_t route(const Request& request, const RouteView&) override {
    return place[static_cast<std::size_t>(request.priority)];
  }
};

/// Depends on all that a batch says of its group.
class GroupSteps : public StepModel {
 public:
  double scale = 1;  // of the tokens of the other ranks and its own
  std::int64_t empty = 0;
  void price(const Batch& batch, StepPrice& price) override {
    empty += batch.tokens == 0;
    price.time_s = 0.5 + batch.tokens / 64.0 + batch.decode_context_tokens / 4096 +
                   scale * batch.group_tokens / 128.0 + batch.group_max_tokens / 256.0;
    price.evidence_s[static_cast<int>(Evidence::measured)] = price.time_s;
  }
};

/// What is seen of each rank's steps.
class Watcher : public Observer {
 public:
  struct Seen {
    std::int32_t replica;
    Picoseconds start, end;
    std::int32_t tokens, group_tokens, group_ranks;
    double time_s, own_s, assumed_s, measured_s;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> steps;
  std::vector<RequestDone> done;
  void on_step(const StepDone& step) override {
    steps.push_back({step.replica, step.start, step.end, step.batch->tokens,
                     step.batch->group_tokens, step.batch->group_ranks, step.price->time_s,
                     step.price->own_s, step.price->evidence_s[static_cast<int>(Evidence::assumed)],
                     step.price->evidence_s[static_cast<int>(Evidence::measured)]});
  }
  void on_done(const RequestDone& each) override { done.push_back(each); }
  /// Steps of this rank.
  std::vector<Seen> of(std::int32_t replica) const {
    std::vector<Seen> out;
    for (const Seen& each : steps) {
      if (each.replica != replica) continue;
      out.push_back(each);
      out.back().replica = 0;
    }
    return out;
  }
};

struct Ranks {
  ClusterConfig cluster;
  std::vector<Fcfs> schedulers;
  GroupSteps model;
  ByPriority router;
  Watcher watcher;
  std::vector<RequestSpec> specs;

  Ranks(std::uint64_t seed, std::int32_t count, double sync_s) {
    const Case it = random_case(seed, false);
    Dice dice(seed + 5);
    for (std::int32_t i = 0; i < count; ++i) {
      cluster.replicas.push_back(it.cluster.replicas.front());
      cluster.replicas.back().group = 7;
      cluster.replicas.back().dp_sync_s = sync_s;
      router.place.push_back(i);
    }
    schedulers.assign(static_cast<std::size_t>(count), it.scheduler);
    specs = it.specs;
    for (RequestSpec& each : specs) each.priority = dice.upto(0, count - 1);
  }
  Bindings bindings(Workload& workload) {
    Bindings out;
    for (Fcfs& each : schedulers) {
      out.schedulers.push_back(&each);
      out.steps.push_back(&model);
    }
    out.router = &router;
    out.workload = &workload;
    out.observers = {&watcher};
    return out;
  }
  Totals run() {
    ListedWorkload workload(specs);
    return simulate(cluster, bindings(workload));
  }
};

bool same(const RequestDone& a, const RequestDone& b) {
  return a.id == b.id && a.outcome == b.outcome && a.queued == b.queued &&
         a.scheduled == b.scheduled && a.first_token == b.first_token &&
         a.last_token == b.last_token && a.preemptions == b.preemptions;
}

}  // namespace

TEST_CASE("the steps of a group begin and end together and last as long as the slowest rank") {
  std::int64_t empty = 0, together = 0, waits = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const double sync_s = seed % 3 == 0 ? 0 : 0.25;
    const auto count = static_cast<std::int32_t>(2 + seed % 4);
    Ranks ranks(seed, count, sync_s);
    ranks.run();
    CHECK(ranks.model.empty == 0);  // an empty step is not priced
    const auto& steps = ranks.watcher.steps;
    REQUIRE(steps.size() % static_cast<std::size_t>(count) == 0);
    for (std::size_t first = 0; first < steps.size(); first += static_cast<std::size_t>(count)) {
      std::int32_t tokens = 0;
      double longest_s = 0;
      for (std::int32_t i = 0; i < count; ++i) {
        const Watcher::Seen& each = steps[first + static_cast<std::size_t>(i)];
        CHECK(each.replica == i);
        CHECK(each.start == steps[first].start);
        CHECK(each.end == steps[first].end);
        CHECK(each.group_ranks == count);
        CHECK(each.own_s <= each.time_s - sync_s);
        CHECK((each.own_s == 0) == (each.tokens == 0));
        CHECK(each.assumed_s == sync_s);
        CHECK(each.measured_s == each.time_s - sync_s);
        tokens += each.tokens;
        longest_s = std::max(longest_s, each.own_s);
        empty += each.tokens == 0;
        waits += each.tokens > 0 && each.own_s < each.time_s - sync_s;
      }
      CHECK(steps[first].time_s == longest_s + sync_s);
      CHECK(steps[first].group_tokens == tokens);
      REQUIRE(tokens > 0);  // a group without tokens stands still
      ++together;
    }
  }
  CHECK(together > 5000);
  CHECK(empty > 2000);
  CHECK(waits > 2000);
}

TEST_CASE("a group of one rank is a plain replica, event by event") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Ranks group(seed, 1, 0.25), plain(seed, 1, 0.25);
    plain.cluster.replicas.front().group = -1;
    const Totals a = group.run(), b = plain.run();
    CHECK(a.plans_asked == b.plans_asked);
    CHECK(a.preemptions == b.preemptions);
    CHECK(group.watcher.steps == plain.watcher.steps);
    REQUIRE(group.watcher.done.size() == plain.watcher.done.size());
    for (std::size_t i = 0; i < group.watcher.done.size(); ++i)
      CHECK(same(group.watcher.done[i], plain.watcher.done[i]));
  }
}

TEST_CASE("other numbers for the ranks of a group are other numbers in the results") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Ranks ranks(seed, 3, 0.125), turned(seed, 3, 0.125);
    turned.router.place = {2, 0, 1};
    ranks.run();
    turned.run();
    for (const std::int32_t i : {0, 1, 2}) {
      const std::int32_t there = turned.router.place[static_cast<std::size_t>(i)];
      CHECK(ranks.watcher.of(i) == turned.watcher.of(there));
    }
    std::map<std::int32_t, RequestDone> by_id;
    for (const RequestDone& each : turned.watcher.done) by_id[each.id] = each;
    for (const RequestDone& each : ranks.watcher.done) CHECK(same(each, by_id.at(each.id)));
  }
}

TEST_CASE("two ranks with the same requests are one rank whose group has twice its tokens") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Ranks two(seed, 2, 0), one(seed, 1, 0);
    one.model.scale = 2;
    std::vector<RequestSpec> both;
    for (RequestSpec each : two.specs) {
      for (const std::int32_t rank : {0, 1}) {
        each.priority = rank;
        both.push_back(each);
      }
    }
    two.specs = both;
    for (RequestSpec& each : one.specs) each.priority = 0;
    two.run();
    one.run();
    REQUIRE(two.watcher.of(0).size() == one.watcher.steps.size());
    CHECK(two.watcher.of(0) == two.watcher.of(1));
    for (std::size_t i = 0; i < one.watcher.steps.size(); ++i) {
      CHECK(two.watcher.of(0)[i].end == one.watcher.steps[i].end);
      CHECK(two.watcher.of(0)[i].tokens == one.watcher.steps[i].tokens);
    }
  }
}

TEST_CASE("a fork of a group has the same future") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Ranks ranks(seed, 3, 0.125);
    ListedWorkload workload(ranks.specs);
    Simulation simulation(ranks.cluster, ranks.bindings(workload));
    simulation.run_until(3 + static_cast<double>(seed % 7));
    const std::unique_ptr<Workload> rest = workload.fork();
    std::vector<Fcfs> schedulers = ranks.schedulers;
    Watcher watcher;
    Bindings forked = ranks.bindings(*rest);
    for (std::size_t i = 0; i < schedulers.size(); ++i) forked.schedulers[i] = &schedulers[i];
    forked.observers = {&watcher};
    const std::unique_ptr<Simulation> fork = simulation.fork(forked);
    for (std::int32_t i = 0; i < fork->replica_count(); ++i)
      CHECK(fork->replica(i).view().group != simulation.replica(i).view().group);
    ranks.watcher.steps.clear();
    simulation.run();
    fork->run();
    CHECK(watcher.steps == ranks.watcher.steps);
    CHECK(fork->totals().last_end == simulation.totals().last_end);
  }
}

TEST_CASE("a request that comes to an empty rank of a running group waits for the common step") {
  ClusterConfig cluster;
  ReplicaConfig replica;
  replica.kv_blocks = 100;
  replica.group = 0;
  replica.dp_sync_s = 0;
  cluster.replicas = {replica, replica};
  Fcfs a, b;
  LinearSteps model;  // one second
  Recorder recorder;
  ByPriority router;
  router.place = {0, 1};
  std::vector<RequestSpec> specs{spec(0, 16, 3), spec(0.5, 16, 1)};
  specs[1].priority = 1;
  ListedWorkload workload(specs);
  Bindings bindings;
  bindings.schedulers = {&a, &b};
  bindings.steps = {&model, &model};
  bindings.router = &router;
  bindings.workload = &workload;
  bindings.observers = {&recorder};
  simulate(cluster, bindings);
  CHECK(recorder.steps == std::vector<std::string>{"0..1: p0:16+0* w0 u1", "0..1: w0 u0",
                                                   "1..2: d1 w0 u2", "1..2: p1:16+0* w0 u1",
                                                   "2..3: d1 w0 u2", "2..3: w0 u0"});
  CHECK(recorder.of(1).scheduled == picoseconds(1, "test"));
}

TEST_CASE("ranks that step together have the same depth, role and synchronisation") {
  for (const auto& change : std::vector<std::pair<std::string, void (*)(ReplicaConfig&)>>{
           {"replicas[2].async_depth", [](ReplicaConfig& r) { r.async_depth = 2; }},
           {"replicas[2].dp_sync_s", [](ReplicaConfig& r) { r.dp_sync_s = 1; }},
           {"replicas[2].role", [](ReplicaConfig& r) { r.role = Role::prefill; }}}) {
    ClusterConfig cluster;
    ReplicaConfig replica;
    replica.kv_blocks = 100;
    replica.group = 3;
    cluster.replicas = {replica, replica};
    validate(cluster);
    change.second(cluster.replicas[1]);
    CHECK_THROWS_WITH(validate(cluster), StartsWith(change.first + ": differs"));
    cluster.replicas[1].group = 4;
    if (cluster.replicas[1].role == Role::both) validate(cluster);
  }
}
