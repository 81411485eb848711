// Laws of prefill and decode split, on random clusters: when KV is pushed, which replica is chosen
// first, and which prompts the decode replica computes itself.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"
#include "tests/serve/speculation/case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

class Constant : public Decider {
 public:
  explicit Constant(bool splits) : splits_(splits) {}
  bool split(const Request&, const PairView&) override { return splits_; }

 private:
  bool splits_;
};

/// Prefill and decode replicas by turns, over wires of their own or over shared links.
struct Pools {
  explicit Pools(std::uint64_t seed, std::int32_t pairs = 2)
      : made(random_case(seed, seed % 2 == 0)) {
    Dice dice(seed + 5);
    ReplicaConfig replica = made.cluster.replicas.front();
    replica.kv_blocks += 40;
    made.cluster.replicas.clear();
    for (std::int32_t i = 0; i < 2 * pairs; ++i) {
      replica.role = i % 2 == 0 ? Role::prefill : Role::decode;
      made.cluster.replicas.push_back(replica);
    }
    made.cluster.transfer = {0.125 * dice.upto(0, 4), 16.0 * dice.upto(1, 8), 1,
                             1.0 * dice.upto(0, 9)};
    if (seed % 3 == 0) {
      made.cluster.links = {{"nic", 48, 0.125, LinkScope::node}};
      made.cluster.transfer.path.between = {"nic"};
    }
  }

  Recorder run(Decider* decider = nullptr) {
    std::vector<RequestSpec> specs = made.specs;
    ListedWorkload workload(std::move(specs));
    Recorder recorder;
    InTurn router;
    LinearSteps model{0.5, 1.0 / 64, 1.0 / 4096};
    Bindings bindings;
    bindings.schedulers.assign(made.cluster.replicas.size(), &made.scheduler);
    bindings.steps.assign(made.cluster.replicas.size(), &model);
    bindings.router = &router;
    bindings.workload = &workload;
    bindings.observers = {&recorder};
    bindings.decider = decider;
    simulate(made.cluster, bindings);
    return recorder;
  }

  /// Decode replicas have no prefix cache: what they have cached is sent by chunks, not at the end.
  void keep_nothing_decoded() {
    for (ReplicaConfig& each : made.cluster.replicas)
      if (each.role == Role::decode) each.prefix_caching = false;
  }

  /// One request after the other, far apart.
  void space_out() {
    for (std::size_t i = 0; i < made.specs.size(); ++i)
      made.specs[i].arrival_s = 10000.0 * static_cast<double>(i);
  }

  Case made;
};

std::vector<std::string> ends(const Recorder& recorder) {
  std::vector<std::string> out;
  for (const RequestDone& each : recorder.done)
    out.push_back(std::to_string(each.id) + " " + std::string(name(each.outcome)) + " " +
                  std::to_string(each.first_token) + " " + std::to_string(each.last_token));
  return out;
}

}  // namespace

TEST_CASE("KV that is pushed by chunks is KV at the end where no prompt is cut") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Pools pools(seed);
    pools.made.scheduler.chunk = 0;
    for (ReplicaConfig& each : pools.made.cluster.replicas) each.max_num_batched_tokens = 0;
    const Recorder at_end = pools.run();
    pools.made.cluster.disaggregation.push = Push::chunks;
    const Recorder by_chunks = pools.run();
    CHECK(at_end.steps == by_chunks.steps);
    CHECK(ends(at_end) == ends(by_chunks));
    compared += static_cast<int>(at_end.done.size());
  }
  CHECK(compared > 2000);
}

TEST_CASE("alone, layers are never later than chunks, and chunks never later than the end") {
  int sooner = 0, cut = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Pools pools(seed, 1);
    pools.space_out();
    pools.keep_nothing_decoded();
    pools.made.scheduler.chunk = 8;
    std::vector<Recorder> seen;
    for (const Push push : {Push::end, Push::chunks, Push::layers}) {
      pools.made.cluster.disaggregation.push = push;
      seen.push_back(pools.run());
    }
    for (const RequestDone& each : seen[0].done) {
      const RequestDone& chunks = seen[1].of(each.id);
      const RequestDone& layers = seen[2].of(each.id);
      REQUIRE(chunks.outcome == each.outcome);
      REQUIRE(layers.outcome == each.outcome);
      if (each.outcome != Outcome::completed) continue;
      CHECK(layers.computed == each.computed);
      // Each transfer is rounded to picoseconds on its own.
      CHECK(chunks.arrived <= each.arrived + 2);
      CHECK(layers.arrived <= chunks.arrived + 2);
      CHECK(layers.arrived >= layers.computed);
      CHECK(chunks.sent_bytes == each.sent_bytes);
      CHECK(layers.sent_bytes == each.sent_bytes);
      cut += each.prompt_tokens > 8;
      sooner += layers.first_token < each.first_token;
    }
  }
  CHECK(cut > 500);
  CHECK(sooner > 500);
}

TEST_CASE("chosen first or last, one decode replica is the same") {
  Constant always(true);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Pools pools(seed, 1);
    const Recorder prefill_first = pools.run();
    pools.made.cluster.disaggregation.order = SplitOrder::decode_first;
    const Recorder decode_first = pools.run(&always);
    CHECK(prefill_first.steps == decode_first.steps);
    CHECK(ends(prefill_first) == ends(decode_first));
    const Recorder no_decider = pools.run();
    CHECK(no_decider.steps == decode_first.steps);
  }
}

TEST_CASE("where no prompt is split, decode replicas are a pool without prefill replicas") {
  Constant never(false);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Pools pools(seed);
    pools.made.cluster.disaggregation.order = SplitOrder::decode_first;
    pools.made.cluster.disaggregation.push = static_cast<Push>(seed % 3);
    const Recorder split = pools.run(&never);
    for (const RequestDone& each : split.done) CHECK(each.prefill_replica == -1);
    std::vector<ReplicaConfig>& replicas = pools.made.cluster.replicas;
    std::erase_if(replicas, [](const ReplicaConfig& each) { return each.role == Role::prefill; });
    for (ReplicaConfig& each : replicas) each.role = Role::both;
    pools.made.cluster.disaggregation = {};
    pools.made.cluster.links.clear();
    pools.made.cluster.transfer.path = {};
    const Recorder together = pools.run();
    CHECK(split.steps == together.steps);
    CHECK(ends(split) == ends(together));
  }
}

TEST_CASE("a lease that never ends in time is none") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Pools pools(seed);
    const Recorder without = pools.run();
    pools.made.cluster.disaggregation.lease_s = 1e6;
    const Recorder with = pools.run();
    CHECK(without.steps == with.steps);
    CHECK(ends(without) == ends(with));
  }
}

TEST_CASE("a copy goes on alike while KV is pushed and leases run") {
  SplitsSome decider;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Pools pools(seed);
    pools.made.scheduler.chunk = 8;
    Disaggregation& settings = pools.made.cluster.disaggregation;
    settings.push = static_cast<Push>(seed % 3);
    if (seed % 2 == 0) settings.order = SplitOrder::decode_first;
    if (seed % 5 == 0) settings.lease_s = 3;
    std::vector<RequestSpec> specs = pools.made.specs;
    ListedWorkload workload(std::move(specs));
    Recorder recorder, copied;
    InTurn router;
    LinearSteps model{0.5, 1.0 / 64, 1.0 / 4096};
    Bindings bindings;
    bindings.schedulers.assign(pools.made.cluster.replicas.size(), &pools.made.scheduler);
    bindings.steps.assign(pools.made.cluster.replicas.size(), &model);
    bindings.router = &router;
    bindings.workload = &workload;
    bindings.observers = {&recorder};
    bindings.decider = &decider;
    Simulation simulation(pools.made.cluster, bindings);
    simulation.run_until(0.5 * static_cast<double>(seed));
    const std::unique_ptr<Workload> rest = workload.fork();
    InTurn router_copy = router;
    Bindings forked = bindings;
    copied = recorder;
    forked.workload = rest.get();
    forked.router = &router_copy;
    forked.observers = {&copied};
    const std::unique_ptr<Simulation> copy = simulation.fork(forked);
    simulation.run();
    copy->run();
    CHECK(recorder.steps == copied.steps);
    CHECK(ends(recorder) == ends(copied));
  }
}
