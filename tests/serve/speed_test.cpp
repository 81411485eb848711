// Hidden: `test_serve "[speed]"` prints what the mechanism alone costs, with a native scheduler.

#include <cmath>
#include <cstdio>
#include <ctime>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Closed loop of `clients`, lognormal lengths, and nothing kept.
class Clients : public Workload {
 public:
  Clients(std::int64_t requests, std::int32_t clients, double mean_prompt, double mean_output,
          std::int32_t limit)
      : left_(requests),
        clients_(clients),
        limit_(limit),
        mean_prompt_(mean_prompt),
        mean_output_(mean_output) {}
  bool next(RequestSpec& spec) override {
    if (clients_ == 0 || left_ == 0) return false;
    --clients_;
    spec = draw(0);
    return true;
  }
  void on_done(const RequestDone& done, FollowUps& follow_ups) override {
    if (left_ > 0) follow_ups.send(draw(seconds(done.now)));
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>((state_ >> 11) + 1) * 0x1p-53;
  }
  std::int32_t length(double mean) {
    const double normal =
        std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
    return 1 + static_cast<std::int32_t>(mean * std::exp(0.7 * normal - 0.245));
  }
  RequestSpec draw(double now_s) {
    --left_;
    RequestSpec drawn = spec(now_s, length(mean_prompt_), length(mean_output_));
    drawn.max_output_tokens = std::max(drawn.output_tokens, limit_);
    return drawn;
  }
  std::int64_t left_;
  std::int32_t clients_, limit_;
  double mean_prompt_, mean_output_;
  std::uint64_t state_ = 12345;
};

class Counter : public Observer {
 public:
  std::int64_t gaps = 0;
  double latency_s = 0;
  void on_step(const StepDone& seen) override {
    gaps += seen.common_gaps + static_cast<std::int64_t>(seen.other_gaps.size());
  }
  void on_done(const RequestDone& done) override {
    latency_s += seconds(done.last_token - done.arrival);
  }
};

void measure(const char* what, std::int64_t requests, std::int32_t seats, std::int32_t blocks,
             double prompt, double output, bool real_blocks = false, int depth = 1,
             std::int32_t limit = 0) {
  Clients workload(requests, 2 * seats, prompt, output, limit);
  Fcfs scheduler;
  LinearSteps model(5e-3, 1e-6, 1e-9);
  Counter counter;
  ReplicaConfig replica;
  replica.kv_blocks = blocks;
  replica.max_num_seqs = seats;
  replica.max_num_batched_tokens = 8192;
  replica.real_blocks = real_blocks;
  replica.async_depth = depth;
  ClusterConfig cluster;
  cluster.replicas = {replica};
  Bindings bindings;
  bindings.schedulers = {&scheduler};
  bindings.steps = {&model};
  bindings.workload = &workload;
  bindings.observers = {&counter};
  const std::clock_t start = std::clock();  // processor time: the machine may be shared
  const Totals totals = simulate(cluster, bindings);
  const double spent_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf(
      "%-26s %8.3f s  %9.0f requests/s  %10.0f steps/s  %7.1f ns/step  asked %4.1f %%  "
      "%lld steps, %lld preemptions\n",
      what, spent_s, static_cast<double>(requests) / spent_s,
      static_cast<double>(totals.steps) / spent_s,
      1e9 * spent_s / static_cast<double>(totals.steps),
      100.0 * static_cast<double>(totals.plans_asked) / static_cast<double>(totals.steps),
      static_cast<long long>(totals.steps), static_cast<long long>(totals.preemptions));
  CHECK(totals.ended[0] == requests);
}

}  // namespace

TEST_CASE("a million requests cost less than half a second", "[.][speed]") {
  measure("saturated 256 seats", 1'000'000, 256, 28000, 200, 200);
}

TEST_CASE("block tables, starvation and small batches cost little", "[.][speed]") {
  measure("saturated, real blocks", 1'000'000, 256, 28000, 200, 200, true);
  measure("starved 256 seats", 300'000, 256, 2500, 200, 200);
  measure("8 seats", 100'000, 8, 28000, 200, 200);
  measure("two steps in flight", 1'000'000, 256, 28000, 200, 200, false, 2);
  measure("... and end tokens", 1'000'000, 256, 28000, 200, 200, false, 2, 1 << 20);
}

TEST_CASE("a decode step costs the same whatever the batch", "[.][speed]") {
  for (const std::int32_t seats : {16, 256, 4096}) {
    Bench bench(100'000'000, 0);
    std::vector<RequestSpec> specs;
    for (std::int32_t i = 0; i < seats; ++i) specs.push_back(spec(0, 100 + i % 64, 400'000 + i));
    ListedWorkload workload(specs);
    Bindings bindings = bench.bindings(workload);
    Counter counter;
    bindings.observers = {&counter};
    Simulation simulation(bench.cluster, bindings);
    for (int i = 0; i < 100; ++i) simulation.step();
    const std::clock_t start = std::clock();
    for (int i = 0; i < 300'000; ++i) simulation.step();
    const double spent_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%4d seats: %6.1f ns per decode step, %zu B per request in flight\n", seats,
                1e9 * spent_s / 300'000, sizeof(Request) + sizeof(Progress));
    CHECK(simulation.replica(0).view().decodes == seats);
  }
}
