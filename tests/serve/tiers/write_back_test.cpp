// KV that is stored when it leaves the GPU, and writes that a step waits for, by hand.

#include <algorithm>
#include <vector>

#include "serve/parts/tiers/trips.h"
#include "tests/catch.h"
#include "tests/serve/tiers/bench.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Steps, and writes with the time at which they begin.
struct Times : Observer {
  struct Span {
    Picoseconds planned = 0, start = 0, end = 0;
  };
  std::vector<Span> steps, writes;
  std::vector<Picoseconds> preempted;
  void on_step(const StepDone& done) override {
    steps.push_back({done.planned, done.start, done.end});
  }
  void on_transfer(const TransferSeen& seen) override {
    if (!seen.is_load) writes.push_back({seen.start, seen.start, seen.end});
  }
  void on_preempt(const Request&, Picoseconds now) override { preempted.push_back(now); }
};

}  // namespace

// The request that fills the GPU pushes out 36 tokens, which takes 0.5 + 36 / 8 s; then it computes
// 63. At 40 the document has 8 blocks in the store. They take 1 that is free and 7 of the 15 with
// content: 28 tokens are written in 4 s, the load takes 4.5, the last 2 blocks 1.5, the step 2.
TEST_CASE("what leaves the GPU is written, and the step that needs its room waits") {
  TiersBench bench;
  bench.write_back();
  bench.ask_twice();
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(bench.ttft_s(0) == 1 + 36 / 8.0);
  CHECK(bench.ttft_s(1) == 5 + 1 + 63 / 8.0);
  CHECK(bench.ttft_s(2) == 4 + 4.5 + 1.5 + 2);
  CHECK(bench.recorder.of(2).tier_tokens == 32);
  CHECK(bench.recorder.of(2).load == 9'000'000'000'000 / 2);
  CHECK(totals[0].stores == 3);
  CHECK(totals[0].stored_bytes == 36 + 28 + 8);
  CHECK(totals[0].hit_tokens == 32);
  REQUIRE(bench.policy.evicted.size() == 3);
  CHECK(bench.policy.evicted[0].first_token == 0);
  CHECK(bench.policy.evicted[0].last_token == 36);
  CHECK(bench.policy.evicted[0].why == 3);
  CHECK(bench.policy.evicted[0].slot == -1);
  CHECK(bench.policy.evicted[1].first_token == 32);
  CHECK(bench.policy.evicted[1].last_token == 60);
  CHECK(bench.left.empty());
}

TEST_CASE("what a store has already is not written again when it leaves the GPU") {
  TiersBench bench;
  bench.write_back();
  bench.ask_twice();
  bench.add(80, {{0, 63}});
  const std::vector<StoreTotals> totals = bench.run_tiers();
  // Of the document nothing; 8 tokens after it, and the 6 blocks that the request before still
  // has.
  CHECK(totals[0].stored_bytes == 36 + 28 + 8 + 8 + 24);
  CHECK(bench.left.empty());
}

TEST_CASE("layer by layer a load begins when what left the GPU is written") {
  TiersBench bench;
  bench.write_back();
  bench.cluster.tiers.overlap = LoadOverlap::layers;
  bench.cluster.tiers.layers = 4;
  bench.ask_twice();
  bench.run_tiers();
  // 9 blocks with content leave: 36 tokens in 5 s. Then the load, 4.5 s, and a layer of the step.
  CHECK(bench.ttft_s(2) == Approx(5 + 4.5 + 2 / 4.0));
  CHECK(bench.recorder.of(2).load == 9'000'000'000'000 / 2);
  CHECK(bench.left.empty());
}

TEST_CASE("a write of what left needs room in the store, and without it is left out") {
  TiersBench bench;
  bench.write_back();
  bench.store().capacity_bytes = 32;  // 36 leave
  bench.ask_twice();
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(totals[0].skipped_stores > 0);
  CHECK(bench.ttft_s(1) == 1 + 63 / 8.0);
  CHECK(bench.left.empty());
}

TEST_CASE("observers change nothing where decodes push content out of the GPU") {
  const auto ends = [](bool watched) {
    TiersBench bench(24);
    bench.write_back();
    for (int i = 0; i < 4; ++i) bench.add(20 * i, {{static_cast<std::uint64_t>(1 + i), 40}}, 50);
    ListedWorkload workload(bench.specs);
    Bindings own = bench.tier_bindings(workload);
    Times times;
    if (!watched) own.observers = {&times};
    Simulation simulation(bench.cluster, own);
    simulation.run();
    std::vector<Picoseconds> out;
    for (const auto& each : times.steps) out.push_back(each.end);
    CHECK(TiersBench::left_over(simulation).empty());
    CHECK(tiers_of(&simulation.parts())->totals()[0].stores > 10);
    out.push_back(simulation.now());
    return out;
  };
  CHECK(ends(true).back() == ends(false).back());
}

// Its blocks may belong to another request in the same plan.
TEST_CASE("a step waits for the writes of the requests that its plan preempted") {
  TiersBench bench(12);
  bench.cluster.links[0].bytes_per_s = 1;
  bench.policy.with_outputs = true;
  bench.policy.stores = [](const Request&, const TierRun& run) { return run.why == 2 ? 1u : 0u; };
  for (int i = 0; i < 4; ++i) bench.add(i, {{document, 8}, {0, 4}}, 24);
  ListedWorkload workload(bench.specs);
  Bindings own = bench.tier_bindings(workload);
  Times times;
  own.observers.push_back(&times);
  Simulation simulation(bench.cluster, own);
  simulation.run();
  CHECK(TiersBench::left_over(simulation).empty());
  REQUIRE_FALSE(times.writes.empty());
  int held = 0;
  for (const auto& write : times.writes) {
    CHECK(std::count(times.preempted.begin(), times.preempted.end(), write.start) > 0);
    for (const auto& step : times.steps) {
      if (step.planned < write.start || step.start > write.end) continue;
      CHECK(step.end > write.end);
      ++held;
    }
  }
  CHECK(held >= static_cast<int>(times.writes.size()));
}

TEST_CASE("a copy of a run that is made while content is written back goes on alike") {
  for (double at = 0.25; at < 60; at += 1.75) {
    CAPTURE(at);
    TiersBench bench(24);
    bench.write_back();
    for (int i = 0; i < 12; ++i)
      bench.add(4 * i, {{static_cast<std::uint64_t>(1 + i % 3), 32}, {0, 4 + i}}, 6);
    ListedWorkload workload(bench.specs);
    const Recorder after_fork = bench.run_with_copy(workload, bench.tier_bindings(workload), at);
    CHECK(after_fork.steps == bench.recorder.steps);
    CHECK(bench.left.empty());
  }
}
