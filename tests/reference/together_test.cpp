// All parts of a run at once on random clusters: a gate, clients that give up and send again,
// engines that come, go and fail, stores, prefill and decode split, stages, experts that drift,
// adapters, speculation, priorities. The engine against a naive cluster, to the last picosecond.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/draw_parts.h"
#include "tests/reference/cases/draw_speculation.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/retries.h"

namespace rooflua::reference {

namespace {

bool is_with(Dice& dice, const char* part) {
  const char* only = std::getenv("ONLY");
  const bool drawn = dice.chance(50);
  return only == nullptr ? drawn : drawn && std::string(only).find(part) != std::string::npos;
}

void draw_stages_of(ClusterCase& cluster, Dice& dice) {
  for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
    ClusterReplica& each = cluster.replicas[i];
    if (each.group >= 0 || each.config.speculates() || !dice.chance(50)) continue;
    each.config.stages = draw_stages(cluster.question.seed + 17 * i);
  }
}

/// Blocks of one size, for as many tokens as before.
void draw_tiers(ClusterCase& cluster, Dice& dice) {
  const int size = cluster.replicas.front().config.block_size;
  for (ClusterReplica& each : cluster.replicas) {
    VllmConfig& c = each.config;
    c.prefix_caching = true;
    c.blocks = c.seat_blocks + ((c.blocks - c.seat_blocks) * c.block_size + size - 1) / size;
    c.block_size = size;
  }
  TierCase& tiers = cluster.tiers;
  for (int left = dice.between(1, 2); left > 0; --left)
    tiers.stores.push_back(draw_store(dice, size));
  tiers.promotes = tiers.stores.size() > 1 && dice.chance(60);
  if (tiers.stores.size() > 1 && dice.chance(60))
    tiers.stores[1].chunk_tokens = tiers.stores[0].chunk_tokens;
  tiers.stores.back().per_node = cluster.replicas.size() > 1;
  tiers.link_alpha = dice.chance(30) ? 0 : dice.between(1, 2000);
  tiers.link_token = dice.between(1, dice.chance(50) ? 10 : 200);
  tiers.duplex = dice.chance(60);
  tiers.writes_back = dice.chance(30);
  tiers.last_chunk = dice.chance(40);
  tiers.outputs = !tiers.writes_back && dice.chance(50) && stores_answers(cluster);
  tiers.shares_loads = dice.chance(40);
  tiers.flushes = dice.chance(40);
}

void draw_adapters_of(ClusterCase& cluster) {
  cluster.adapters = draw_adapters(cluster.question);
  cluster.question = with_adapters(cluster.question, cluster.adapters);
  for (ClusterReplica& each : cluster.replicas)
    each.config.max_loras = cluster.adapters.slots;
}

/// All but what needs to know how long requests take.
ClusterCase draw_together(std::uint64_t seed, Dice& dice) {
  const bool priorities = is_with(dice, "priorities");
  ClusterCase cluster = draw_cluster(seed, priorities);
  if (is_with(dice, "speculation")) cluster = speculative(std::move(cluster));
  if (cluster.split() && is_with(dice, "pushed")) cluster = pushed(std::move(cluster));
  if (is_with(dice, "stages")) draw_stages_of(cluster, dice);
  if (is_with(dice, "tiers")) draw_tiers(cluster, dice);
  if (is_with(dice, "adapters")) draw_adapters_of(cluster);
  if (is_with(dice, "experts")) draw_experts(cluster);
  if (is_with(dice, "gate")) cluster.gate = draw_gate(seed, cluster.split());
  cluster.question.spell_tokens();
  return cluster;
}

}  // namespace

TEST_CASE("the engine and a naive cluster agree on all parts at once") {
  std::map<std::string, int> seen;
  const auto [first, last] = seeds(1, 1000);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Dice dice(seed * 32452867 + 29);
    ClusterCase cluster = draw_together(seed, dice);
    INFO("seed " << seed << "\n" << text(cluster));
    const History calm = run_naive(cluster);
    if (!calm.finished || calm.steps.empty() || calm.requests.size() > 40) continue;
    if (is_with(dice, "faults")) draw_faults(cluster, calm);
    if (is_with(dice, "pools")) draw_pools(cluster, calm);
    if (is_with(dice, "clients")) {
      cluster.aborts.clear();
      draw_client(cluster, calm);
    }
    const History expected = run_naive_with_retries(cluster);
    seen["stands still"] += expected.stands_still;
    if (expected.stands_still) continue;
    INFO("seed " << seed << "\n" << text(cluster));
    History found_;
    std::string differs;
    try {
      found_ = run_engine(cluster);
      differs = difference(expected, found_);
    } catch (const std::exception& error) {
      differs = error.what();
    }
    if (std::getenv("LOUD")) std::printf("at %d\n", static_cast<int>(seed)), std::fflush(stdout);
    if (std::getenv("DUMP") != nullptr && !differs.empty()) {
      for (const auto& [name, h] : {std::pair<const char*, const History&>{"naive", expected}, {"engine", found_}}) {
        std::printf("---- %s\n", name);
        for (std::size_t k = 0; k < h.steps.size(); ++k) std::printf("%s %zu %s\n", name, k, text(h.steps[k]).c_str());
        for (std::size_t k = 0; k < h.requests.size(); ++k) std::printf("%s R%zu %s held %lld\n", name, k, text(h.requests[k]).c_str(), static_cast<long long>(h.requests[k].held));
      }
    }
    if (std::getenv("GOON") != nullptr) {
      if (differs != "") std::printf("seed %d %s\n", static_cast<int>(seed), differs.c_str());
    } else {
      REQUIRE(differs == "");
    }
    ++seen["cases"];
    for (const auto& [what, times] : expected.aborted) seen[what] += times;
  }
  for (const auto& [what, times] : seen) std::printf(" | %s %d", what.c_str(), times);
  std::printf("\n");
}

}  // namespace rooflua::reference
