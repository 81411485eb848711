// KV in stores outside the GPUs under pressure: preempted requests, loads that are cut, little
// room, copies of a run.

#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/tiers/bench.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("requests are preempted while their blocks are written, and all blocks come back") {
  TiersBench bench(12);
  bench.cluster.links[0].bytes_per_s = 1;
  bench.policy.with_outputs = true;
  for (int i = 0; i < 4; ++i) bench.add(i, {{document, 8}, {0, 4}}, 24);
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK_FALSE(bench.recorder.preempted.empty());
  CHECK(bench.recorder.done.size() == 4);
  for (const RequestDone& done : bench.recorder.done) CHECK(done.output_tokens == 24);
  CHECK(totals[0].stores > 4);
  CHECK(bench.left.empty());
}

// Every request loads the document twice: at its first admission and when it was preempted.
TEST_CASE("a second load of a request that is cut takes away only what has not come") {
  for (const double patience_s : {0.75, 1.5, 2.5, 100.0}) {
    TiersBench bench(24);
    bench.store().per = LinkScope::cluster;
    bench.policy.loads = [=](const Request& request, const TierFound& found) {
      return TierPolicy::Load{found.tokens, request.preemptions > 0 ? patience_s : 1e30};
    };
    bench.add(0, {{document, 24}, {0, 1}});
    bench.add(10, {{0, 95}}, 1, 1);
    bench.add(40, {{document, 24}, {0, 8}}, 40, 1);
    bench.add(41, {{document, 24}, {9, 24}, {0, 8}}, 40, 1);
    bench.run_tiers();
    CHECK_FALSE(bench.recorder.preempted.empty());
    for (const RequestDone& done : bench.recorder.done) CHECK(done.outcome == Outcome::completed);
    CHECK(bench.left.empty());
  }
}

TEST_CASE("a request that is refused has loaded nothing, whatever was in its place before") {
  TiersBench bench;
  bench.ask_twice();
  bench.flush(60);
  bench.add(80, {{0, 100}});
  bench.run_tiers();
  CHECK(bench.recorder.of(2).tier_tokens == 32);
  CHECK(bench.recorder.of(4).outcome == Outcome::exceeds_kv_cache);
  CHECK(bench.recorder.of(4).tier_tokens == 0);
  CHECK(bench.recorder.of(4).load == 0);
}

// Two prompts of 12 blocks find 8 of them in the store, and the GPU has 16: had both their 8, none
// could go on.
TEST_CASE("requests that wait with what was loaded leave room for each other") {
  for (const bool full_must_fit : {false, true}) {
    TiersBench bench(16);
    bench.scheduler.full_must_fit = full_must_fit;
    bench.add(0, {{document, 32}});
    bench.add(10, {{document + 1, 32}});
    bench.flush(30);
    bench.add(60, {{document, 32}, {0, 16}}, 1, 1);
    bench.add(60, {{document + 1, 32}, {0, 16}}, 1, 1);
    bench.run_tiers();
    CHECK(bench.recorder.of(3).outcome == Outcome::completed);
    CHECK(bench.recorder.of(4).outcome == Outcome::completed);
    CHECK(bench.recorder.of(3).tier_tokens == 32);
    CHECK(bench.recorder.of(4).tier_tokens == 32);
    CHECK(bench.ttft_s(3) == 4.5 + 3);
    CHECK(bench.ttft_s(4) == 4.5 + 3 + 4.5 + 3);
    CHECK(bench.left.empty());
  }
}

TEST_CASE("what was to be brought into the first store and did not come is not there") {
  TiersBench bench(16);
  bench.cluster.links.push_back({"disk", 2, 1, LinkScope::node});
  bench.cluster.tiers.stores.push_back(bench.store());
  bench.store(1).name = "ssd";
  bench.store(1).read = {"disk"};
  bench.policy.with_promotion = true;
  bench.policy.stores = [](const Request& request, const TierRun&) {
    return request.id == 0 ? 2u : 0u;
  };
  bench.policy.loads = [](const Request& request, const TierFound& found) {
    return TierPolicy::Load{found.tokens, request.id == 2 ? 5.5 : 1e30};
  };
  bench.add(0, {{document, 32}, {0, 4}});
  bench.flush(40);
  bench.add(60, {{document, 32}, {0, 8}});  // 9 bytes, so 2 chunks, have come at 65.5
  bench.flush(80);
  bench.add(100, {{document, 32}, {0, 8}});
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(bench.recorder.of(2).tier_tokens == 8);
  CHECK(bench.recorder.of(4).tier_tokens == 32);
  CHECK(totals[0].hit_tokens == 8);
  CHECK(totals[1].hit_tokens == 8 + 24);
  CHECK(bench.left.empty());
}

TEST_CASE("a prefetch for which the first store has no room is not sent") {
  TiersBench bench(64);
  bench.cluster.links.push_back({"disk", 2, 1, LinkScope::node});
  bench.cluster.tiers.stores.push_back(bench.store());
  bench.store().capacity_bytes = 16;
  bench.store(1).name = "ssd";
  bench.store(1).read = {"disk"};
  bench.cluster.tiers.prefetch = true;
  bench.policy.stores = [](const Request& request, const TierRun&) {
    return request.id == 0 ? 2u : 0u;
  };
  bench.add(0, {{document, 32}, {0, 4}});
  bench.flush(20);
  bench.add(60, {{document, 32}, {0, 8}}, 1, 1);
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(totals[1].stores == 1);
  CHECK(totals[1].loads == 0);
  CHECK(bench.ttft_s(2) == 1 + 40 * 0.125);
  CHECK(bench.left.empty());
}

// The document is at rank 0, whose cache loses it; the load takes 4.5 s, and the rest 2 s.
TEST_CASE("ranks that step together wait for loads layer by layer, too") {
  TiersBench bench(32, 2);
  bench.cluster.tiers.overlap = LoadOverlap::layers;
  bench.cluster.tiers.layers = 4;
  for (ReplicaConfig& each : bench.cluster.replicas) {
    each.group = 0;
    each.dp_sync_s = 0;
  }
  bench.add(0, {{document, 32}, {0, 4}});
  bench.flush(20);
  bench.flush(40);
  bench.add(70, {{0, 4}}, 1, 1);
  bench.add(80, {{document, 32}, {0, 8}}, 1, 1);
  bench.run_tiers();
  CHECK(bench.recorder.of(4).replica == 0);
  CHECK(bench.recorder.of(4).tier_tokens == 32);
  CHECK(bench.ttft_s(4) == Approx(4.5 + 2 / 4.0));
  CHECK(bench.left.empty());
}

TEST_CASE("a copy of a run that is made while loads and writes run goes on alike") {
  for (const LoadOverlap overlap : {LoadOverlap::none, LoadOverlap::layers}) {
    for (double at = 0.25; at < 60; at += 1.75) {
      CAPTURE(at);
      TiersBench bench(24);
      bench.cluster.tiers.overlap = overlap;
      bench.cluster.tiers.layers = 4;
      for (int i = 0; i < 12; ++i)
        bench.add(4 * i, {{static_cast<std::uint64_t>(1 + i % 3), 32}, {0, 4 + i}}, 6);
      ListedWorkload workload(bench.specs);
      const Recorder after_fork = bench.run_with_copy(workload, bench.tier_bindings(workload), at);
      CHECK(after_fork.steps == bench.recorder.steps);
      REQUIRE(after_fork.done.size() == bench.recorder.done.size());
      for (std::size_t i = 0; i < after_fork.done.size(); ++i) {
        CHECK(after_fork.done[i].id == bench.recorder.done[i].id);
        CHECK(after_fork.done[i].last_token == bench.recorder.done[i].last_token);
        CHECK(after_fork.done[i].tier_tokens == bench.recorder.done[i].tier_tokens);
      }
      CHECK(bench.left.empty());
    }
  }
}
