// The shipped routers on clusters: every request goes to the same replica at the same time on the
// engine and on the naive cluster, which writes down old signals and finds prefixes by comparing
// tokens.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/lua_policies.h"

namespace rooflua::reference {

namespace {

std::string number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

/// Parameters of this router for this cluster: signals as old as the case says.
std::string draw_parameters(const std::string& name, const ClusterCase& cluster) {
  Dice dice(cluster.question.seed * 31 + 7);
  const std::string staleness = "staleness_s = " + number(seconds(cluster.staleness));
  if (name == "least_kv") return staleness;
  const auto index = [&dice] {  // few blocks, so that some are forgotten
    const std::string kind = dice.chance(50) ? "approximate" : "precise";
    return "index = '" + kind + "', block_tokens = " + std::to_string(dice.between(1, 6)) +
           ", lru_blocks = " + std::to_string(dice.between(1, 40));
  };
  if (name == "prefix_affinity") {
    const int slacks[] = {0, 1, 3, 32};
    return "slack = " + std::to_string(slacks[dice.between(0, 3)]) +
           ", ttl_s = " + number(dice.chance(50) ? 0 : 1e-9 * dice.between(1, 100)) + ", " +
           index();
  }
  if (name == "dynamo_kv")
    return index() + ", ttl_s = 0, temperature = " + number(dice.chance(50) ? 0 : 0.5);
  if (name == "llm_d")
    return staleness + ", load_signals = " + (dice.chance(50) ? "'reported'" : "'live'") +
           ", picker = " + (dice.chance(30) ? "'weighted_random'" : "'max_score'") +
           ", most_holders = 0, token_load = 1, no_hit_lru = 1, affinity_threshold = 0.5, " +
           "max_penalty_tokens = " + std::to_string(dice.between(1, 60)) + ", " + index();
  if (name == "sglang_cache_aware" || name == "aibrix_prefix_cache") {
    const bool sglang = name == "sglang_cache_aware";
    const std::string blocks = std::to_string(dice.between(1, 40));
    const std::string size = std::to_string(dice.between(1, 6));
    const std::string unmatched = dice.chance(50) ? "least_load" : "smallest_tree";
    return "block_tokens = " + size + ", " + (sglang ? "max_tree_blocks = " : "lru_blocks = ") +
           blocks + (sglang ? ", balance_abs_threshold = 2, unmatched = '" + unmatched + "'" : "");
  }
  if (name == "kv_aware") return "threshold = " + std::to_string(dice.between(0, 20));
  if (name == "vllm_dp_load") return staleness;
  if (name == "vllm_dp") return staleness + ", rotate = " + (dice.chance(50) ? "true" : "false");
  if (name == "sglang_dp") {
    const char* methods[] = {"round_robin", "total_requests", "total_tokens"};
    return staleness + ", method = '" + methods[dice.between(0, 2)] + "'";
  }
  if (name != "weighted") return "";
  std::string out = staleness;
  for (const char* scorer : {"queue", "kv", "running", "outstanding", "prefix"}) {
    if (dice.chance(50))
      out += std::string(", ") + scorer + " = " + number(0.5 * dice.between(0, 6));
  }
  return out;
}

/// Where each request ended, and where its prompt was computed.
std::vector<std::pair<int, int>> places(const History& history) {
  std::vector<std::pair<int, int>> out;
  for (const Served& each : history.requests) out.emplace_back(each.prefill_replica, each.replica);
  return out;
}

bool mixed(const ClusterCase& cluster) {
  const ClusterReplica& first = cluster.replicas.front();
  return std::any_of(cluster.replicas.begin(), cluster.replicas.end(), [&](const auto& each) {
    return each.tariff.step != first.tariff.step || each.config.blocks != first.config.blocks;
  });
}

/// The same question to so many replicas, which step alone.
ClusterCase widened(ClusterCase cluster, std::size_t count) {
  for (ClusterReplica& each : cluster.replicas) {
    each.group = -1;
    if (each.policy == 3) each.policy = 1;  // it looks at the ranks of its group
  }
  for (std::size_t i = 0; cluster.replicas.size() < count; ++i)
    cluster.replicas.push_back(ClusterReplica(cluster.replicas[i]));
  return cluster;
}

/// What one router was asked.
struct Asked {
  int clusters = 0, stale = 0, mixed = 0, sharing = 0, split = 0, unlike_round_robin = 0,
      unlike_fresh = 0;
};

std::set<std::string> shipped_routers() {
  std::set<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(test::source_dir() / "scripts/routers"))
    if (file.path().extension() == ".lua") names.insert(file.path().stem().string());
  return names;
}

}  // namespace

TEST_CASE("every shipped router sends every request where the naive cluster does") {
  LuaPolicies lua;
  const auto [first, last] = seeds(1, 60);
  const std::set<std::string> names = shipped_routers();
  CHECK(names.size() >= 9);
  for (const std::string& name : names) {
    Asked asked;
    Coverage coverage;
    const bool reads_old_signals = name == "least_kv" || name == "weighted";
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      ClusterCase cluster = draw_cluster(seed);
      const auto make = [&](const std::string& router) {
        return lua.make_router(router, draw_parameters(router, cluster), seed);
      };
      INFO(name << " { " << draw_parameters(name, cluster) << " }\n" << text(cluster));
      const History expected = run_naive(cluster, *make(name));
      REQUIRE(difference(expected, run_engine(cluster, *make(name))) == "");
      coverage.add(expected);
      ++asked.clusters;
      asked.mixed += mixed(cluster);
      asked.sharing += cluster.question.shares() && cluster.question.config.prefix_caching;
      asked.split += cluster.split();
      asked.unlike_round_robin +=
          places(expected) != places(run_naive(cluster, *make("round_robin")));
      if (!reads_old_signals || cluster.staleness == 0) continue;
      ++asked.stale;
      cluster.staleness = 0;
      asked.unlike_fresh += places(expected) != places(run_naive(cluster, *make(name)));
    }
    coverage.print(("router " + name).c_str(), first, last);
    std::printf(
        "  %d clusters: %d mixed, %d share prefixes, %d prefill split, %d unlike round robin",
        asked.clusters, asked.mixed, asked.sharing, asked.split, asked.unlike_round_robin);
    std::printf(reads_old_signals ? "; %d of %d with old signals unlike fresh ones\n" : "\n",
                asked.unlike_fresh, asked.stale);
    CAPTURE(name);
    CHECK(asked.clusters >= enough(30));
    CHECK(asked.mixed >= enough(20));
    CHECK(asked.sharing >= enough(10));
    CHECK(asked.split >= enough(10));
    CHECK(coverage.with_prefix_hits >= enough(5));
    if (name != "round_robin") CHECK(asked.unlike_round_robin >= enough(15));
    if (reads_old_signals) CHECK(asked.unlike_fresh >= enough(5));
  }
}

TEST_CASE("every shipped router sends every request of 64 replicas where the naive cluster does") {
  LuaPolicies lua;
  const auto [first, last] = seeds(1, 6);
  std::set<int> used;
  for (const std::string& name : shipped_routers()) {
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      const ClusterCase cluster = widened(draw_cluster(seed), 64);
      const auto make = [&] { return lua.make_router(name, draw_parameters(name, cluster), seed); };
      INFO(name << " { " << draw_parameters(name, cluster) << " }\n" << text(cluster));
      const History expected = run_naive(cluster, *make());
      REQUIRE(difference(expected, run_engine(cluster, *make())) == "");
      for (const auto& [prefill, decode] : places(expected)) used.insert(decode);
    }
  }
  CHECK(used.size() > 50);
}

}  // namespace rooflua::reference
