// KV in stores outside the GPUs, by hand: when a load is over, what it holds up, and which blocks
// and chunks stay for how long.

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/tiers/bench.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;
}  // namespace

// 32 bytes take 0.5 + 32 / 8 s, and a step of the other 8 tokens 1 + 8 / 8.
TEST_CASE("a hit in a store takes its load and the prefill of the rest") {
  TiersBench bench;
  bench.ask_twice();
  const std::vector<StoreTotals> totals = bench.run_tiers();
  const RequestDone& hit = bench.recorder.of(2);
  CHECK(hit.first_token - hit.arrival == 13 * s / 2);
  CHECK(hit.cached_tokens == 32);
  CHECK(hit.tier_tokens == 32);
  CHECK(hit.load == 9 * s / 2);
  CHECK(totals[0].loads == 1);
  CHECK(totals[0].hit_tokens == 32);
  CHECK(totals[0].loaded_bytes == 32);
  CHECK(totals[0].stores == 1);
  CHECK(totals[0].stored_bytes == 36);
  CHECK(bench.left.empty());
}

TEST_CASE("what the GPU has is not loaded, and the last token of a prompt is computed") {
  TiersBench bench(32);
  bench.add(0, {{document, 32}});
  bench.add(20, {{document, 16}, {8, 112}}, 1, 1);  // pushes the end of the document out
  bench.add(60, {{document, 32}}, 1, 1);
  bench.run_tiers();
  const RequestDone& hit = bench.recorder.of(2);
  CHECK(hit.cached_tokens == 28);
  CHECK(hit.tier_tokens == 12);
  CHECK(bench.ttft_s(2) == 0.5 + 12 / 8.0 + 1 + 4 / 8.0);
  CHECK(bench.left.empty());
}

TEST_CASE("a load does not hold up those after it") {
  TiersBench bench(32);
  bench.add(0, {{document, 32}, {0, 4}});
  bench.flush(20);
  bench.add(60, {{document, 32}, {0, 8}}, 1, 1);
  bench.add(60, {{0, 8}}, 1, 1);
  bench.run_tiers();
  CHECK(bench.ttft_s(2) == 6.5);
  CHECK(bench.ttft_s(3) == 2);
  CHECK(bench.left.empty());
}

// The step is over at 5.5, its write 0.5 + 36 / 8 s later.
TEST_CASE("blocks stay taken until they are written, though their request has ended") {
  TiersBench bench;
  bench.add(0, {{document, 32}, {0, 4}});
  bench.add(5.75, {{0, 63}}, 1, 1);
  std::vector<std::int32_t> used;
  bench.run_tiers({5.5, 10.25, 10.5}, [&](const Simulation& simulation, double) {
    used.push_back(simulation.replica(0).kv().used_blocks());
  });
  CHECK(used == std::vector<std::int32_t>{9, 9, 16});
  CHECK(bench.recorder.of(0).last_token == 11 * s / 2);
  CHECK(bench.recorder.of(1).scheduled == 21 * s / 2);
  CHECK(bench.left.empty());
}

TEST_CASE("prompts that are not shared stay until they are written, too") {
  TiersBench bench;
  bench.specs = {spec(0, 36, 1)};
  std::vector<std::int32_t> used;
  bench.run_tiers({5.5, 10.25, 10.5}, [&](const Simulation& simulation, double) {
    used.push_back(simulation.replica(0).kv().used_blocks());
  });
  CHECK(used == std::vector<std::int32_t>{9, 9, 0});
  CHECK(bench.left.empty());
}

TEST_CASE("a write for which there is no room is left out") {
  TiersBench bench;
  bench.store().capacity_bytes = 32;  // 36 are to be written
  bench.ask_twice();
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(totals[0].skipped_stores == 1);
  CHECK(totals[0].stores == 0);
  CHECK(totals[0].loads == 0);
  CHECK(bench.ttft_s(2) == 1 + 40 / 8.0);
  CHECK(bench.left.empty());
}

TEST_CASE("another replica's store is read over the links between both") {
  TiersBench bench(16, 2);
  bench.cluster.links.push_back({"nic", 4, 0.25, LinkScope::node});
  bench.store().peers = {"nic"};
  bench.add(0, {{document, 32}, {0, 4}});
  bench.add(20, {{document, 32}, {0, 8}}, 1, 1);
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(bench.ttft_s(1) == 0.75 + 32 / 4.0 + 2);
  CHECK(totals[0].peer_hit_tokens == 32);
  CHECK(totals[0].hit_tokens == 0);
  CHECK(bench.left.empty());
  TiersBench apart(16, 2);
  apart.add(0, {{document, 32}, {0, 4}});
  apart.add(20, {{document, 32}, {0, 8}}, 1, 1);
  apart.run_tiers();
  CHECK(apart.ttft_s(1) == 6);
}

TEST_CASE("a store of the node or of the cluster is there for all its replicas") {
  for (const LinkScope per : {LinkScope::node, LinkScope::cluster}) {
    for (const bool together : {true, false}) {
      TiersBench bench(16, 2);
      bench.store().per = per;
      bench.cluster.replicas[0].node = 1;
      bench.cluster.replicas[1].node = together ? 1 : 2;
      bench.add(0, {{document, 32}, {0, 4}});
      bench.add(20, {{document, 32}, {0, 8}}, 1, 1);
      bench.run_tiers();
      CHECK(bench.ttft_s(1) == (together || per == LinkScope::cluster ? 6.5 : 6));
      CHECK(bench.left.empty());
    }
  }
}

// Loads of both stores run at once: 0.5 + 16 / 8 s, and 1 + 16 / 2.
TEST_CASE("the first store that has a chunk gives it, and another one what is after") {
  TiersBench bench;
  bench.cluster.links.push_back({"disk", 2, 1, LinkScope::node});
  bench.cluster.tiers.stores.push_back(bench.store());
  bench.store(1).name = "ssd";
  bench.store(1).chunk_tokens = 8;
  bench.store(1).read = {"disk"};
  bench.policy.stores = [](const Request& request, const TierRun&) {
    return request.id == 0 ? 1u : request.id == 1 ? 2u : 0u;
  };
  bench.add(0, {{document, 16}});
  bench.add(20, {{document, 32}});
  bench.flush(40);
  bench.add(60, {{document, 32}, {0, 8}});
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(bench.ttft_s(3) == 9 + 2);
  CHECK(totals[0].hit_tokens == 16);
  CHECK(totals[1].hit_tokens == 16);
  CHECK(totals[1].stored_bytes == 32);
  CHECK(bench.left.empty());
}

// The first 18 bytes, and so four chunks, have come 2.75 s after the load began.
TEST_CASE("a load that takes too long is cut, and what has come stays") {
  TiersBench bench;
  bench.ask_twice();
  bench.policy.loads = [](const Request&, const TierFound& found) {
    return TierPolicy::Load{found.tokens, 2.75};
  };
  const std::vector<StoreTotals> totals = bench.run_tiers();
  CHECK(bench.ttft_s(2) == 2.75 + 1 + 24 / 8.0);
  CHECK(bench.recorder.of(2).cached_tokens == 16);
  CHECK(bench.recorder.of(2).tier_tokens == 16);
  CHECK(totals[0].hit_tokens == 16);
  CHECK(bench.left.empty());
}

TEST_CASE("patience that ends with the load, or at once, cuts nothing that has come") {
  const auto ttft_s = [](double patience_s, double bytes_per_s) {
    TiersBench bench;
    bench.cluster.links[0].bytes_per_s = bytes_per_s;
    bench.cluster.links[0].alpha_s = bytes_per_s > 1e9 ? 0 : 0.5;
    bench.policy.loads = [=](const Request&, const TierFound& found) {
      return TierPolicy::Load{found.tokens, patience_s};
    };
    bench.ask_twice();
    bench.run_tiers();
    CHECK(bench.left.empty());
    return bench.ttft_s(2);
  };
  CHECK(ttft_s(4.5, 8) == 6.5);
  CHECK(ttft_s(5, 8) == 6.5);
  CHECK(ttft_s(0, 8) == Approx(6));
  CHECK(ttft_s(0, 1e30) == Approx(2));
}

TEST_CASE("a load is of whole chunks, whatever its policy says") {
  const auto cached = [](std::int32_t tokens) {
    TiersBench bench;
    bench.store().chunk_tokens = 8;
    bench.ask_twice();
    bench.policy.loads = [=](const Request&, const TierFound&) {
      return TierPolicy::Load{tokens, 1e30};
    };
    bench.run_tiers();
    CHECK(bench.left.empty());
    return bench.recorder.of(2).tier_tokens;
  };
  CHECK(cached(0) == 0);
  CHECK(cached(7) == 0);
  CHECK(cached(8) == 8);
  CHECK(cached(31) == 24);
  CHECK(cached(1000) == 32);
}

// The ssd gives 32 bytes in 1 + 32 / 2 s to the first store, and that takes 0.5 + 32 / 8.
TEST_CASE("with prefetch the first store gets what others have while the request is queued") {
  const auto prefetched = [](double blocker_s, double patience_s, double alpha_s = 1) {
    TiersBench bench(64);
    bench.cluster.links.push_back({"disk", 2, alpha_s, LinkScope::node});
    bench.cluster.tiers.stores.push_back(bench.store());
    bench.store(1).name = "ssd";
    bench.store(1).read = {"disk"};
    bench.cluster.tiers.prefetch = true;
    bench.policy.stores = [](const Request& request, const TierRun&) {
      return request.id == 0 ? 2u : 0u;
    };
    bench.policy.loads = [=](const Request&, const TierFound& found) {
      return TierPolicy::Load{found.tokens, patience_s};
    };
    bench.add(0, {{document, 32}, {0, 4}});
    bench.flush(20);
    if (blocker_s > 0) bench.add(60, {{0, static_cast<std::int32_t>((blocker_s - 1) * 8)}}, 1, 1);
    bench.add(60.5, {{document, 32}, {0, 8}}, 1, 1);
    bench.run_tiers();
    CHECK(bench.left.empty());
    return bench.ttft_s(blocker_s > 0 ? 3 : 2);
  };
  CHECK(prefetched(0, 1e30) == 17 + 4.5 + 2);
  CHECK(prefetched(21.5, 1e30) == 21 + 4.5 + 2);
  CHECK(prefetched(0, 10) == 10 + 6);
  CHECK(prefetched(0, 1e30, 0) == 16 + 4.5 + 2);
  CHECK(prefetched(21.5, 1e30, 0) == 21 + 4.5 + 2);
}

// Of n equal layers the first one waits for 1/n of the load, and the last one's KV comes at its
// end.
TEST_CASE("layer by layer a load and its step take the longer one, and a layer of the other") {
  const auto ttft_s = [](std::int32_t rest, std::int32_t layers) {
    TiersBench bench(32);
    bench.cluster.tiers.overlap = LoadOverlap::layers;
    bench.cluster.tiers.layers = layers;
    bench.add(0, {{document, 32}, {0, 4}});
    bench.flush(20);
    bench.add(60, {{document, 32}, {0, rest}}, 1, 1);
    bench.run_tiers();
    CHECK(bench.left.empty());
    CHECK(bench.recorder.of(2).tier_tokens == 32);
    return bench.ttft_s(2);
  };
  CHECK(ttft_s(8, 4) == Approx(4.5 + 2 / 4.0));
  CHECK(ttft_s(8, 1) == Approx(4.5 + 2));
  CHECK(ttft_s(64, 4) == Approx(9 + 4.5 / 4));
  CHECK(ttft_s(64, 1) == Approx(9 + 4.5));
  CHECK(ttft_s(28, 2) == Approx(4.5 + 4.5 / 2));
}

TEST_CASE("stores that are wrong are refused by name") {
  const auto problem = [](auto change) -> std::string {
    TiersBench bench;
    change(bench);
    try {
      bench.run_tiers();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem([](TiersBench&) {}).empty());
  CHECK(problem([](TiersBench& b) { b.store().capacity_bytes = 3; }) ==
        "tiers.stores[1].capacity_bytes: has no room for one chunk");
  CHECK(problem([](TiersBench& b) { b.store().chunk_tokens = 6; }) ==
        "tiers.stores[1].chunk_tokens: found 6; a multiple of block_size, 4, is right");
  CHECK(problem([](TiersBench& b) {
          b.store().read = {"pci"};
        }).starts_with("tiers.stores[1].read[1]: unknown link 'pci'"));
  CHECK(problem([](TiersBench& b) { b.store().read = {}; }) ==
        "tiers.stores[1].read: names no link");
  CHECK(problem([](TiersBench& b) {
          b.replica().prefix_caching = false;
        }).starts_with("replicas[1].prefix_caching: "));
}
