// What holds of stores of KV on any input: nothing is lost, and what changes nothing changes
// nothing.

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "serve/parts/tiers/trips.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"
#include "tests/serve/tiers/bench.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Answers that depend on the request and on what is found, and on nothing else.
class Whims : public TierPolicy {
 public:
  Whims(std::uint64_t seed, std::int32_t stores) : seed_(seed), stores_(stores) {
    Dice dice(seed);
    outputs_ = dice.upto(0, 1) == 0;
    counts_ = dice.upto(0, 1) == 0;
    promotes_ = dice.upto(0, 2) == 0;
    cuts_ = dice.upto(0, 2) == 0;
    writes_back_ = dice.upto(0, 2) == 0;
    never_ = false;
  }
  bool never_;  // loads nothing, and stores all
  bool cuts_;   // loads are given a limited time

  Load load(const Request& request, const TierFound& found) override {
    if (never_) return {0};
    Dice dice(seed_ + static_cast<std::uint64_t>(request.id * 1000 + found.tokens));
    Load out{found.tokens, 1e30};
    const std::int32_t what = dice.upto(0, 9);
    if (what == 0) out.tokens = 0;
    if (what == 1) out.tokens = dice.upto(0, found.tokens + 5);
    if (what == 2) out.tokens = ask_later;
    if (cuts_ && dice.upto(0, 1) == 0) out.patience_s = 0.25 * dice.upto(0, 20);
    return out;
  }
  std::uint32_t store(const Request& request, const TierRun& run,
                      std::span<const StoreView> stores) override {
    claimed = claimed && static_cast<std::int32_t>(stores.size()) == stores_ &&
              run.first_token < run.last_token;
    for (const StoreView& each : stores)
      claimed = claimed && each.used_bytes <= each.capacity_bytes &&
                each.evictable_bytes <= each.used_bytes && each.queued_bytes >= 0;
    if (never_) return ~0u;
    Dice dice(seed_ + static_cast<std::uint64_t>(request.id * 77 + run.first_token));
    return static_cast<std::uint32_t>(dice.upto(0, 15));
  }
  std::uint32_t store_evicted(const TierRun& run, std::span<const StoreView> stores) override {
    claimed = claimed && static_cast<std::int32_t>(stores.size()) == stores_ &&
              run.first_token < run.last_token && run.slot == -1;
    if (never_) return ~0u;
    Dice dice(seed_ + static_cast<std::uint64_t>(run.first_token));
    return static_cast<std::uint32_t>(dice.upto(0, 15));
  }
  bool writes_back() const override { return writes_back_ && !never_; }
  bool outputs() const override { return outputs_; }
  bool counts() const override { return counts_; }
  bool promotes() const override { return promotes_ && !never_; }

  bool claimed = true;  // what stores are said to be can be

 private:
  std::uint64_t seed_;
  std::int32_t stores_;
  bool outputs_, counts_, promotes_, writes_back_;
};

struct Traffic : Observer {
  double loaded = 0, stored = 0;
  bool in_time = true;
  void on_transfer(const TransferSeen& seen) override {
    (seen.is_load ? loaded : stored) += seen.bytes;
    in_time = in_time && seen.start <= seen.end && seen.alone_end <= seen.end + 1;
  }
};

/// What a run says of itself, in words.
struct Told {
  std::vector<std::string> steps, done;
};

struct RandomTiers : TiersBench {
  Whims whims;

  explicit RandomTiers(std::uint64_t seed, bool roomy = false)
      : TiersBench(0, Dice(seed).upto(1, 3)), whims(seed, Dice(seed + 1).upto(1, 3)) {
    Dice dice(seed + 2);
    for (ReplicaConfig& each : cluster.replicas) {
      each.kv_blocks = roomy ? 4096 : dice.upto(28, 80);
      each.max_num_batched_tokens = dice.upto(0, 1) == 0 ? 4096 : dice.upto(16, 100);
      each.max_num_seqs = dice.upto(0, 2) == 0 ? dice.upto(1, 8) : 0;
      each.async_depth = dice.upto(1, 2);
      each.node = dice.upto(1, 2);
    }
    scheduler.full_must_fit = dice.upto(0, 1) == 0;
    draw_stores(dice, Dice(seed + 1).upto(1, 3));
    draw_requests(dice);
  }

  void draw_stores(Dice& dice, std::int32_t count) {
    cluster.links.clear();
    for (const char* name : {"pcie", "nic", "disk"})
      cluster.links.push_back({name, 0.5 * dice.upto(1, 64), 0.25 * dice.upto(0, 4),
                               static_cast<LinkScope>(dice.upto(0, 2)), dice.upto(0, 1) == 0,
                               dice.upto(0, 2) == 0 ? dice.upto(1, 3) : 0});
    const auto path = [&] {
      std::vector<std::string> out;
      for (const LinkConfig& each : cluster.links) {
        if (dice.upto(0, 1) == 0) out.push_back(each.name);
      }
      if (out.empty()) out.push_back(cluster.links.front().name);
      return out;
    };
    cluster.tiers.stores.clear();
    for (std::int32_t i = 0; i < count; ++i) {
      StoreConfig each;
      each.name = std::to_string(i);
      each.per = static_cast<LinkScope>(dice.upto(0, 2));
      each.chunk_tokens = 4 * (dice.upto(0, 1) == 0 ? 2 : dice.upto(1, 4));
      each.capacity_bytes = each.chunk_tokens * dice.upto(1, 40) + dice.upto(0, 3);
      each.eviction = static_cast<Eviction>(dice.upto(0, 4));
      each.alpha_s = 0.25 * dice.upto(0, 2);
      each.read = path();
      each.write = path();
      if (each.per != LinkScope::cluster && dice.upto(0, 1) == 0) each.peers = path();
      cluster.tiers.stores.push_back(each);
    }
    cluster.tiers.prefetch = dice.upto(0, 2) == 0;
    if (dice.upto(0, 2) == 0) cluster.tiers.overlap = LoadOverlap::layers;
    cluster.tiers.layers = dice.upto(1, 8);
  }

  void draw_requests(Dice& dice) {
    double now = 0;
    for (std::int32_t i = dice.upto(1, 40); i > 0; --i) {
      now += 0.5 * dice.upto(0, 16);
      std::vector<Segment> prompt;
      if (dice.upto(0, 4) > 0)
        prompt.push_back({static_cast<std::uint64_t>(dice.upto(1, 4)), dice.upto(4, 40)});
      if (dice.upto(0, 2) > 0)
        prompt.push_back({static_cast<std::uint64_t>(dice.upto(10, 13)), dice.upto(1, 40)});
      prompt.push_back({0, dice.upto(1, 12)});
      RequestSpec& made = add(now, std::move(prompt), dice.upto(1, 16), dice.upto(0, 2));
      if (dice.upto(0, 2) == 0) made.output_content = static_cast<std::uint64_t>(dice.upto(20, 22));
    }
  }

  Bindings random_bindings(Workload& workload) {
    Bindings out = tier_bindings(workload);
    out.tiers.assign(cluster.replicas.size(), &whims);
    return out;
  }

  Told tell(bool with_steps = true) const {
    Told out;
    if (with_steps) out.steps = recorder.steps;
    for (const RequestDone& each : recorder.done)
      out.done.push_back(std::to_string(each.id) + " " + std::to_string(each.scheduled) + " " +
                         std::to_string(each.first_token) + " " + std::to_string(each.last_token) +
                         " " + std::to_string(each.cached_tokens) + " " +
                         std::to_string(each.tier_tokens));
    return out;
  }

  Told run_random(bool with_steps = true) {
    recorder = {};
    ListedWorkload workload(specs);
    simulate(cluster, random_bindings(workload));
    return tell(with_steps);
  }
};

void check_same(const Told& a, const Told& b) {
  REQUIRE(a.steps == b.steps);
  REQUIRE(a.done == b.done);
}

}  // namespace

TEST_CASE("requests, blocks, chunks and bytes are conserved") {
  std::int64_t hits = 0, preempted = 0, skipped = 0;
  std::vector<std::uint64_t> seeds(1500);
  std::iota(seeds.begin(), seeds.end(), 1);
  seeds.push_back(479280);  // a request ends before its loads, and others take their places
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    RandomTiers bench(seed);
    Traffic traffic;
    ListedWorkload workload(bench.specs);
    Bindings bindings = bench.random_bindings(workload);
    bindings.observers.push_back(&traffic);
    Simulation simulation(bench.cluster, bindings);
    simulation.run();
    REQUIRE(TiersBench::left_over(simulation).empty());
    REQUIRE(bench.whims.claimed);
    REQUIRE(traffic.in_time);
    REQUIRE(bench.recorder.done.size() == bench.specs.size());
    std::int64_t given = 0, taken = 0;
    for (const RequestDone& done : bench.recorder.done) {
      REQUIRE(done.outcome == Outcome::completed);
      REQUIRE(done.output_tokens == bench.specs[static_cast<std::size_t>(done.id)].output_tokens);
      REQUIRE(done.cached_tokens < done.prompt_tokens);
      taken += done.tier_tokens;
    }
    double loaded = 0, stored = 0;
    const Tiers& tiers = *tiers_of(&simulation.parts());
    for (std::size_t i = 0; i < tiers.totals().size(); ++i) {
      const StoreTotals& each = tiers.totals()[i];
      given += each.hit_tokens + each.peer_hit_tokens;
      loaded += each.loaded_bytes;
      stored += each.stored_bytes;
      skipped += each.skipped_stores;
      REQUIRE(tiers.most_used_bytes(static_cast<std::int32_t>(i)) <=
              bench.cluster.tiers.stores[i].capacity_bytes);
    }
    REQUIRE(loaded == static_cast<double>(given));
    REQUIRE(traffic.stored == stored);
    if (!bench.whims.cuts_) REQUIRE(traffic.loaded == loaded);
    if (!bench.whims.cuts_ && !bench.cluster.tiers.prefetch) REQUIRE(given == taken);
    hits += given;
    preempted += static_cast<std::int64_t>(bench.recorder.preempted.size());
  }
  CHECK(hits > 10'000);
  CHECK(preempted > 100);
  CHECK(skipped > 1'000);
}

TEST_CASE("stores that are never read change nothing where the GPU has room") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomTiers bench(seed, true);
    bench.whims.never_ = true;
    bench.cluster.tiers.prefetch = false;
    const Told with = bench.run_random(false);
    bench.cluster.tiers.stores.clear();
    check_same(with, bench.run_random(false));
  }
}

TEST_CASE("bytes and bandwidths that grow alike change no time") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomTiers bench(seed);
    const Told before = bench.run_random();
    bench.cluster.tiers.bytes_per_token *= 1024;
    for (LinkConfig& each : bench.cluster.links) each.bytes_per_s *= 1024;
    for (StoreConfig& each : bench.cluster.tiers.stores) each.capacity_bytes *= 1024;
    check_same(before, bench.run_random());
  }
}

TEST_CASE("the order in which links are declared changes nothing") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomTiers bench(seed);
    const Told before = bench.run_random();
    std::reverse(bench.cluster.links.begin(), bench.cluster.links.end());
    check_same(before, bench.run_random());
  }
}

TEST_CASE("a copy of a run with stores goes on alike, whenever it is made") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomTiers bench(seed);
    ListedWorkload workload(bench.specs);
    const Recorder after_fork =
        bench.run_with_copy(workload, bench.random_bindings(workload), Dice(seed).upto(0, 200));
    REQUIRE(bench.left.empty());
    const Told before = bench.tell();
    bench.recorder = after_fork;
    check_same(before, bench.tell());
  }
}
