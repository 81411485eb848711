// One request at a time: what stores give each of them follows from the rules alone.

#include <algorithm>
#include <map>
#include <vector>

#include "serve/parts/tiers/trips.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"
#include "tests/serve/tiers/bench.h"
#include "tests/serve/tiers/eviction_model.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr std::int32_t block = 4;

/// Of what does not change with time.
struct PlainKeys : EvictionPolicy {
  double key(const StoredBlock& b) override { return of(b); }
  static double of(const StoredBlock& b) {
    return (b.depth_tokens / block * 3 + b.uses * 2 + b.klass) % 5;
  }
};

/// Requests that come one by one, with beginnings in common.
struct Singly : TiersBench {
  PlainKeys keys;
  Dice dice;

  Singly(std::uint64_t seed, std::int32_t stores) : TiersBench(0, 1), dice(seed) {
    replica().kv_blocks = dice.upto(26, 60);
    replica().max_num_batched_tokens = dice.upto(0, 1) == 0 ? 4096 : dice.upto(8, 40);
    replica().async_depth = dice.upto(1, 2);
    cluster.links = {{"pcie", 1e6, 0, LinkScope::replica}, {"disk", 2e6, 0.01, LinkScope::node}};
    cluster.tiers.overlap = dice.upto(0, 2) == 0 ? LoadOverlap::layers : LoadOverlap::none;
    for (std::int32_t i = 1; i < stores; ++i) {
      cluster.tiers.stores.push_back(store());
      store(1).name = "disk";
      store(1).read = store(1).write = {"disk"};
    }
    for (StoreConfig& each : cluster.tiers.stores) {
      each.chunk_tokens = block * (dice.upto(0, 1) == 0 ? 1 : dice.upto(1, 4));
      each.capacity_bytes = each.chunk_tokens * dice.upto(1, 60);
      each.eviction = static_cast<Eviction>(dice.upto(0, stores == 1 ? 4 : 3));
    }
    policy.stores = [](const Request&, const TierRun&) { return ~0u; };
    for (std::int32_t i = dice.upto(2, 40); i > 0; --i) {
      std::vector<Segment> prompt = {
          {static_cast<std::uint64_t>(dice.upto(1, 3)), dice.upto(1, 40)}};
      if (dice.upto(0, 2) > 0)
        prompt.push_back({static_cast<std::uint64_t>(dice.upto(10, 13)), dice.upto(1, 40)});
      if (dice.upto(0, 2) > 0) prompt.push_back({0, dice.upto(1, 20)});
      const auto at = static_cast<double>(specs.size()) * 1000;
      add(at, std::move(prompt), dice.upto(1, 3), dice.upto(0, 2));
    }
  }

  /// Tokens that stores gave each request; and what is counted of the stores at the end.
  struct Seen {
    std::vector<std::int32_t> cached, loaded;
    std::vector<std::int64_t> evictions, skipped;
  };
  Seen run_singly() {
    recorder = {};
    ListedWorkload workload(specs);
    Bindings bindings = tier_bindings(workload);
    for (const StoreConfig& each : cluster.tiers.stores)
      bindings.evictions.push_back(each.eviction == Eviction::keyed ? &keys : nullptr);
    Simulation simulation(cluster, bindings);
    simulation.run();
    Seen seen;
    for (const RequestDone& done : recorder.done) {
      seen.cached.push_back(done.cached_tokens);
      seen.loaded.push_back(done.tier_tokens);
    }
    if (tiers_of(&simulation.parts()) == nullptr) return seen;
    CHECK(left_over(simulation).empty());
    for (std::size_t i = 0; i < cluster.tiers.stores.size(); ++i) {
      seen.evictions.push_back(
          tiers_of(&simulation.parts())->evictions(static_cast<std::int32_t>(i)));
      seen.skipped.push_back(tiers_of(&simulation.parts())->totals()[i].skipped_stores);
    }
    return seen;
  }
};

/// The same from the rules: what the GPU had of each request is given.
class Replay {
 public:
  explicit Replay(const Singly& bench) : bench_(bench) {
    for (const StoreConfig& each : bench.cluster.tiers.stores) {
      const auto capacity = static_cast<std::size_t>(each.capacity_bytes) /
                            static_cast<std::size_t>(each.chunk_tokens);
      stores_.push_back({StoreModel(each.eviction, capacity, each.chunk_tokens, PlainKeys::of),
                         each.chunk_tokens});
    }
    skipped.resize(stores_.size());
  }
  std::vector<std::int64_t> skipped;
  std::vector<std::int64_t> evictions() const {
    std::vector<std::int64_t> out;
    for (const Tier& each : stores_) out.push_back(each.model.evictions);
    return out;
  }

  /// @returns tokens that stores give request `id`
  std::int32_t serve(std::size_t id, std::int32_t gpu_tokens) {
    const RequestSpec& spec = bench_.specs[id];
    Request request;
    request.klass = spec.klass;
    const std::int32_t loaded = load(id, gpu_tokens);
    for (Tier& each : stores_)
      each.model.ask(chunks(id, each.size, 0, spec.prompt_tokens / each.size), request, 0);
    for (const auto& [tier, hash] : read_) stores_[tier].model.end_read(hash, 0);
    compute(id, gpu_tokens + loaded, request);
    return loaded;
  }

 private:
  struct Tier {
    StoreModel model;
    std::int32_t size;
  };

  std::int32_t load(std::size_t id, std::int32_t gpu_tokens) {
    const std::int32_t limit = bench_.specs[id].prompt_tokens - 1;
    read_.clear();
    std::int32_t at = gpu_tokens;
    for (bool found = true; found;) {
      found = false;
      for (std::size_t t = 0; t < stores_.size() && !found; ++t) {
        const std::int32_t chunk = at / stores_[t].size, end = (chunk + 1) * stores_[t].size;
        if (end > limit) continue;
        const std::uint64_t hash = chunks(id, stores_[t].size, chunk, chunk + 1).front();
        if (stores_[t].model.find(hash) == nullptr) continue;
        ++stores_[t].model.find(hash)->readers;
        read_.push_back({t, hash});
        at = end;
        found = true;
      }
    }
    return at - gpu_tokens;
  }

  void compute(std::size_t id, std::int32_t from, const Request& request) {
    const std::int32_t prompt = bench_.specs[id].prompt_tokens;
    const std::int32_t budget = bench_.cluster.replicas[0].max_num_batched_tokens;
    std::int32_t told = 0;
    for (std::int32_t at = from; at < prompt;) {
      at += std::min(budget, prompt - at);
      for (std::size_t t = 0; t < stores_.size(); ++t) {
        const std::int32_t first = told / stores_[t].size, end = at / stores_[t].size;
        if (first >= end) continue;
        const std::vector<std::uint64_t> run = chunks(id, stores_[t].size, first, end);
        skipped[t] += !stores_[t].model.put(run, first, request, 0);
        for (const std::uint64_t hash : run) {
          ModelChunk* chunk = stores_[t].model.find(hash);
          if (chunk != nullptr && chunk->arrives) stores_[t].model.end_put(hash, 0);
        }
      }
      told = at;
    }
  }

  /// Names of chunks: equal where all tokens up to their end are.
  std::vector<std::uint64_t> chunks(std::size_t id, std::int32_t size, std::int32_t first,
                                    std::int32_t end) {
    std::vector<std::uint64_t> tokens, out;
    for (const Segment& each : bench_.specs[id].segments) {
      for (std::int32_t i = 0; i < each.tokens; ++i)
        tokens.push_back(each.content == 0 ? (id + 1) << 40 | tokens.size()
                                           : each.content << 20 | static_cast<std::uint64_t>(i));
    }
    for (std::int32_t chunk = first; chunk < end; ++chunk) {
      const std::vector<std::uint64_t> prefix(tokens.begin(), tokens.begin() + (chunk + 1) * size);
      out.push_back(names_.emplace(prefix, names_.size() + 1).first->second);
    }
    return out;
  }

  const Singly& bench_;
  std::vector<Tier> stores_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> names_;
  std::vector<std::pair<std::size_t, std::uint64_t>> read_;
};

}  // namespace

TEST_CASE("what stores give follows from their rules, in every order of eviction") {
  std::int64_t hits = 0, evictions = 0, skipped = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    CAPTURE(seed);
    Singly bench(seed, static_cast<std::int32_t>(1 + seed % 2));
    const Singly::Seen seen = bench.run_singly();
    REQUIRE(seen.cached.size() == bench.specs.size());
    Replay replay(bench);
    for (std::size_t i = 0; i < seen.cached.size(); ++i) {
      CAPTURE(i);
      REQUIRE(replay.serve(i, seen.cached[i] - seen.loaded[i]) == seen.loaded[i]);
      hits += seen.loaded[i];
    }
    REQUIRE(replay.evictions() == seen.evictions);
    REQUIRE(replay.skipped == seen.skipped);
    for (const std::int64_t each : seen.evictions) evictions += each;
    for (const std::int64_t each : seen.skipped) skipped += each;
  }
  CHECK(hits > 10'000);
  CHECK(evictions > 10'000);
  CHECK(skipped > 1'000);
}

// A run that a smaller store leaves out pushes nothing out of it, so all have room for every run.
TEST_CASE("a larger store of the least recently used never loses hits") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Singly bench(seed, 1);
    bench.store().eviction = Eviction::lru;
    bench.store().chunk_tokens = block;
    std::vector<std::int32_t> before(bench.specs.size(), 0);
    for (const std::int32_t chunks : {25, 26, 30, 40, 70, 1000}) {
      bench.store().capacity_bytes = block * chunks;
      const Singly::Seen seen = bench.run_singly();
      for (std::size_t i = 0; i < before.size(); ++i) {
        CAPTURE(i, chunks);
        CHECK(seen.cached[i] >= before[i]);
      }
      before = seen.cached;
    }
  }
}

TEST_CASE("a store without an end hits as a GPU without an end does") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Singly bench(seed, 1);
    bench.store().capacity_bytes = 1e9;
    bench.store().chunk_tokens = block;
    const Singly::Seen small = bench.run_singly();
    bench.cluster.tiers.stores.clear();
    bench.replica().kv_blocks = 1'000'000;
    const Singly::Seen endless = bench.run_singly();
    CHECK(small.cached == endless.cached);
  }
}
