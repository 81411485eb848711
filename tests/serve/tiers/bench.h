#pragma once
// A cluster with stores of KV, for tests: policies of tiers in C++, and requests by their segments.

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "serve/parts/tiers/trips.h"
#include "tests/serve/native_policies.h"

namespace rooflua::test {

constexpr std::uint64_t document = 7;

/// Loads what is found and stores all of class 0 into every store, unless told otherwise.
class PlainTiers : public TierPolicy {
 public:
  std::function<Load(const Request&, const TierFound&)> loads = [](const Request&,
                                                                   const TierFound& found) {
    return Load{found.tokens, 1e30};
  };
  std::function<std::uint32_t(const Request&, const TierRun&)> stores =
      [](const Request& request, const TierRun&) { return request.klass == 0 ? ~0u : 0u; };
  bool with_outputs = false, with_promotion = false, with_write_back = false;

  Load load(const Request& request, const TierFound& found) override {
    return loads(request, found);
  }
  std::uint32_t store(const Request& request, const TierRun& run,
                      std::span<const StoreView>) override {
    return stores(request, run);
  }
  std::uint32_t store_evicted(const TierRun& run, std::span<const StoreView>) override {
    evicted.push_back(run);
    return ~0u;
  }
  bool writes_back() const override { return with_write_back; }
  std::vector<TierRun> evicted;  // what it was told of that left the GPU
  bool outputs() const override { return with_outputs; }
  bool promotes() const override { return with_promotion; }
};

/// A request goes to the candidate of its id.
class ById : public Router {
 public:
  std::int32_t route(const Request& request, const RouteView& view) override {
    return view.candidates[request.id % view.candidate_count];
  }
};

/// Steps of 1 s and 0.125 s per token; a token of KV is a byte. A store "cpu" of each replica is
/// read and written over "pcie", of 8 bytes/s, with 0.5 s in front of each transfer.
struct TiersBench : Bench {
  PlainTiers policy;
  ById router;
  std::deque<std::vector<Segment>> segments;
  std::vector<RequestSpec> specs;

  explicit TiersBench(std::int32_t blocks = 16, std::int32_t replicas = 1)
      : Bench(blocks, 4096, 4) {
    model = LinearSteps(1, 0.125);
    for (std::int32_t i = 1; i < replicas; ++i) cluster.replicas.push_back(replica());
    cluster.links = {{"pcie", 8, 0.5, LinkScope::replica}};
    cluster.tiers.bytes_per_token = 1;
    StoreConfig cpu;
    cpu.name = "cpu";
    cpu.capacity_bytes = 1000;
    cpu.chunk_tokens = 4;
    cpu.read = cpu.write = {"pcie"};
    cluster.tiers.stores = {cpu};
  }
  StoreConfig& store(std::size_t i = 0) { return cluster.tiers.stores[i]; }

  /// A request that arrives then, with a prompt of these segments. Class 1 is not stored.
  RequestSpec& add(double arrival_s, std::vector<Segment> prompt, std::int32_t output = 1,
                   std::int32_t klass = 0) {
    std::int32_t tokens = 0;
    for (const Segment& each : prompt) tokens += each.tokens;
    RequestSpec out = spec(arrival_s, tokens, output);
    out.klass = klass;
    out.segments = segments.emplace_back(std::move(prompt));
    return specs.emplace_back(out);
  }
  /// Nothing is stored before it leaves the GPU.
  void write_back() {
    policy.with_write_back = true;
    policy.stores = [](const Request&, const TierRun&) { return 0u; };
  }
  /// A request that fills the cache of the GPU, so that what was there before is gone.
  void flush(double arrival_s) { add(arrival_s, {{0, replica().kv_blocks * 4 - 1}}, 1, 1); }

  /// A document of 32 tokens is computed and stored, and leaves the GPU; at 40 it comes again with
  /// 8 tokens after it.
  void ask_twice() {
    add(0, {{document, 32}, {0, 4}});
    flush(20);
    add(40, {{document, 32}, {0, 8}}, 1, 1);
  }

  Bindings tier_bindings(Workload& workload) {
    Bindings out = bindings(workload);
    out.router = &router;
    out.tiers.assign(cluster.replicas.size(), &policy);
    return out;
  }

  /// Runs all to their end, calling `at` at some times. Nothing is left over.
  template <typename At>
  std::vector<StoreTotals> run_tiers(const std::vector<double>& times, At at) {
    ListedWorkload workload(specs);
    Simulation simulation(cluster, tier_bindings(workload));
    for (const double time : times) {
      simulation.run_until(time);
      at(simulation, time);
    }
    simulation.run();
    settle(simulation);
    const auto totals = tiers_of(&simulation.parts())->totals();
    return {totals.begin(), totals.end()};
  }
  std::vector<StoreTotals> run_tiers() {
    return run_tiers({}, [](const Simulation&, double) {});
  }

  /// Runs `workload` to its end, and so a copy of the run that is made at this time. @returns what
  /// the copy's observers were told; `left` is what either did not give back
  Recorder run_with_copy(ListedWorkload& workload, const Bindings& own, double at_s) {
    Simulation simulation(cluster, own);
    simulation.run_until(at_s);
    const std::unique_ptr<Workload> rest = workload.fork();
    Recorder after_fork = recorder;
    Bindings forked = own;
    forked.workload = rest.get();
    forked.observers = {&after_fork};
    const std::unique_ptr<Simulation> copy = simulation.fork(forked);
    simulation.run();
    copy->run();
    left = left_over(simulation) + left_over(*copy);
    return after_fork;
  }

  static std::string left_over(const Simulation& simulation) {
    std::string out;
    if (simulation.requests().alive() > 0) out += "requests ";
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
      if (simulation.replica(i).kv().used_blocks() > 0) out += "blocks ";
    }
    const Tiers& tiers = *tiers_of(&simulation.parts());
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(tiers.config().stores.size()); ++s) {
      if (tiers.busy_chunks(s) > 0) out += "chunks ";
    }
    return out;
  }
  std::string left;  // what was not given back
  void settle(const Simulation& simulation) { left = left_over(simulation); }

  double ttft_s(std::int32_t id) const {
    const RequestDone& done = recorder.of(id);
    return seconds(done.first_token - done.arrival);
  }
};

}  // namespace rooflua::test
