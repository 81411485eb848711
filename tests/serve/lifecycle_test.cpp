// Replicas that start, drain, fail, are repaired and are slow, at any instant of random clusters:
// every request ends once, all blocks come free, no step is planned on a replica that is not there.

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "serve/parts/fleet/fleet.h"
#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();

/// Fails, slows or scales something, or nothing.
void disturb(Simulation& simulation, Dice& dice, bool fails) {
  const std::int32_t index = dice.upto(0, simulation.replica_count() - 1);
  const std::int32_t what = dice.upto(0, 9);
  if (fails && what < 3) {
    fleet_of(simulation)
        .fail_replica(index, dice.upto(0, 3) == 0 ? forever : 0.25 * dice.upto(0, 40));
  } else if (what < 5) {
    fleet_of(simulation)
        .slow_replica(
            index, 0.5 * dice.upto(1, 6),
            dice.upto(0, 2) == 0 ? never : simulation.now() + picoseconds(dice.upto(1, 9), "t"));
  } else if (!simulation.config().pools.empty()) {
    const auto pools = static_cast<std::int32_t>(simulation.config().pools.size());
    fleet_of(simulation)
        .want_engines(dice.upto(0, pools - 1), dice.upto(0, simulation.replica_count()));
  }
}

void check_states(const Simulation& simulation, const Told& told) {
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    const auto found = told.states.find(i);
    if (found != told.states.end()) CHECK(found->second == simulation.lifecycle(i));
    const Lifecycle state = simulation.lifecycle(i);
    if (state == Lifecycle::ready || state == Lifecycle::draining) continue;
    const Replica& replica = simulation.replica(i);
    CHECK(replica.kv().used_blocks() == 0);
    CHECK(replica.planned_steps() == 0);
    CHECK(replica.view().waiting + replica.view().seats == 0);
    CHECK(simulation.outstanding(i) == 0);
  }
}

}  // namespace

TEST_CASE(
    "whatever fails, drains, starts or is slow: each request ends once and blocks come free") {
  std::map<Lifecycle, int> seen;
  std::map<Outcome, int> ends;
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 900; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    Dice dice(seed + 1);
    if (seed % 3 > 0) scenario.make_pools(dice);
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    Simulation& simulation = *run->simulation;
    const std::int32_t rare = dice.upto(1, 30);
    while (true) {
      const bool more = simulation.advance() > 0;
      check_counts(simulation, run->told);
      check_states(simulation, run->told);
      if (!more) break;
      if (dice.upto(0, rare) > 0) continue;
      if (dice.upto(0, 3) == 0)
        simulation.run_until(simulation.now_s() + 0.03125 * dice.upto(0, 40));
      if (dice.upto(0, 3) == 0) abort_some(simulation, dice);
      disturb(simulation, dice, true);
      check_counts(simulation, run->told);
      check_states(simulation, run->told);
    }
    check_end(*run, scenario.specs().size());
    for (const auto& [state, times] : run->told.seen) seen[state] += times;
    for (std::size_t i = 0; i < simulation.totals().ended.size(); ++i)
      ends[static_cast<Outcome>(i)] += static_cast<int>(simulation.totals().ended[i]);
    held += run->told.held;
  }
  for (const auto& word : lifecycle_words) {
    CAPTURE(word.name);
    CHECK(seen[word.value] > 100);
  }
  CHECK(ends[Outcome::replica_lost] > 500);
  CHECK(ends[Outcome::refused] > 50);
  CHECK(ends[Outcome::completed] > 3000);
  CHECK(held > 100);
}

TEST_CASE("a drain by finish or requeue without a grace loses no request") {
  int drained = 0;
  for (std::uint64_t seed = 2001; seed <= 2300; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    Dice dice(seed + 1);
    scenario.make_pools(dice);
    for (PoolConfig& pool : scenario.cluster().pools) {
      pool.drain = pool.drain == Drain::abort ? Drain::finish : pool.drain;
      pool.grace_s = 0;
      pool.min = 1;
      pool.count = std::max(pool.count, 1);
    }
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    Simulation& simulation = *run->simulation;
    const std::int32_t rare = dice.upto(1, 20);
    while (simulation.advance() > 0)
      if (dice.upto(0, rare) == 0) disturb(simulation, dice, false);
    check_end(*run, scenario.specs().size());
    const auto ended = [&](Outcome outcome) {
      return simulation.totals().ended[static_cast<std::size_t>(outcome)];
    };
    CHECK(ended(Outcome::replica_lost) == 0);
    CHECK(ended(Outcome::refused) == 0);
    drained += run->told.seen[Lifecycle::absent];
  }
  CHECK(drained > 100);
}

TEST_CASE("a pool of constant size is as many replicas as ever") {
  for (std::uint64_t seed = 3001; seed <= 3150; ++seed) {
    CAPTURE(seed);
    Scenario plain(seed), pooled(seed);
    Dice dice(seed);
    pooled.make_pools(dice);
    for (PoolConfig& pool : pooled.cluster().pools) pool.count = pool.max;
    pooled.cluster().links = plain.cluster().links;  // nothing starts
    for (PoolConfig& pool : pooled.cluster().pools) pool.start = {};
    const auto one = plain.open(), other = pooled.open();
    one->simulation->run();
    other->simulation->run();
    CHECK(one->told.lines == other->told.lines);
  }
}

TEST_CASE("a copy that is made while replicas start, drain, fail or are slow has the same future") {
  for (std::uint64_t seed = 4001; seed <= 4250; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    Dice dice(seed);
    if (seed % 3 > 0) scenario.make_pools(dice);
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    for (std::int32_t left = dice.upto(5, 80); left > 0; --left) {
      run->simulation->advance();
      if (dice.upto(0, 9) == 0) disturb(*run->simulation, dice, true);
    }
    const std::unique_ptr<Scenario::Run> copy = scenario.fork(*run);
    for (const auto* each : {&run, &copy}) {
      Dice later(seed);
      disturb(*(*each)->simulation, later, true);
      (*each)->simulation->run();
    }
    CHECK(copy->told.lines == run->told.lines);
    check_end(*copy, scenario.specs().size());
  }
}

namespace {

/// Wants numbers that follow from the time alone, and looks at everything.
class Restless : public AutoscalerPolicy {
 public:
  std::int32_t scale(const PoolView& pool) override {
    ++asked;
    Dice dice(static_cast<std::uint64_t>(pool.now_s * 16) + 5);
    for (const auto& word : pool_series_words) {
      const double mean = pool.history->mean(word.value, window_s());
      const double half = pool.history->quantile(word.value, 0.5, window_s());
      CHECK((std::isnan(mean) || mean >= 0));
      CHECK((std::isnan(half) || half >= 0));
      CHECK(pool.history->rate(word.value, window_s()) >= 0);
    }
    CHECK(static_cast<std::int32_t>(pool.members.size()) == pool.ready);
    return dice.upto(0, pool.max + 1);
  }
  double interval_s() const override { return 1.5; }
  double window_s() const override { return 10; }
  int asked = 0;
};

}  // namespace

TEST_CASE("an autoscaler that wants another number every time loses nothing, and is copied") {
  int asked = 0;
  for (std::uint64_t seed = 5001; seed <= 5150; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    Dice dice(seed);
    scenario.make_pools(dice);
    const std::size_t pools = scenario.cluster().pools.size();
    for (PoolConfig& pool : scenario.cluster().pools) {
      pool.drain = Drain::finish;
      pool.grace_s = 0;
    }
    Restless restless;
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    if (pools > 0)
      fleet_of(*run->simulation).set_autoscalers(std::vector<AutoscalerPolicy*>(pools, &restless));
    for (std::int32_t left = dice.upto(5, 60); left > 0; --left) run->simulation->advance();
    const std::unique_ptr<Scenario::Run> copy = scenario.fork(*run);
    if (pools > 0)
      fleet_of(*copy->simulation).set_autoscalers(std::vector<AutoscalerPolicy*>(pools, &restless));
    run->simulation->run();
    copy->simulation->run();
    CHECK(copy->told.lines == run->told.lines);
    check_end(*run, scenario.specs().size());
    check_end(*copy, scenario.specs().size());
    if (scenario.cluster().replicas.front().role == Role::both)
      CHECK(run->simulation->totals().ended[static_cast<std::size_t>(Outcome::replica_lost)] == 0);
    asked += restless.asked;
  }
  CHECK(asked > 1000);
}

TEST_CASE("a replica that is three times as slow takes three times as long") {
  Bench bench(100, 100);
  ListedWorkload workload({spec(0, 16, 10)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  fleet_of(simulation).slow_replica(0, 3, never);
  simulation.run();
  CHECK(simulation.now_s() == 30);

  Bench other(100, 100);
  ListedWorkload same({spec(0, 16, 10)});
  Simulation for_a_while(other.cluster, other.bindings(same));
  fleet_of(for_a_while).slow_replica(0, 3, picoseconds(6, "t"));  // two steps, then eight
  for_a_while.run();
  CHECK(for_a_while.now_s() == 14);
}

TEST_CASE(
    "a start takes its parts one after the other, and those that start together share a link") {
  Bench bench(100, 100);
  bench.cluster.replicas.assign(3, bench.replica());
  bench.cluster.links = {{"store", 100, 0, LinkScope::cluster, true, 0}};
  PoolConfig pool;
  pool.replicas = pool.max = 3;
  pool.count = pool.min = 1;
  pool.start = {
      .provision_s = 5, .image_bytes = 100, .weight_bytes = 200, .init_s = 7, .link = {"store"}};
  bench.cluster.pools = {pool};
  InTurn router;
  Told told;
  ListedWorkload workload({spec(0, 16, 60)});
  Bindings bindings = bench.bindings(workload);
  bindings.router = &router;
  bindings.observers = {&told};
  Simulation simulation(bench.cluster, bindings);
  fleet_of(simulation).want_engines(0, 3);
  simulation.run_until(17.5);  // 5 + 2 x 1 + 2 x 2 + 7 = 18
  CHECK(simulation.lifecycle(1) == Lifecycle::starting);
  simulation.run_until(18);
  CHECK(simulation.lifecycle(1) == Lifecycle::ready);
  CHECK(simulation.lifecycle(2) == Lifecycle::ready);
}

TEST_CASE("a pool's mistakes are named") {
  Bench bench(100, 100);
  PoolConfig pool;
  pool.replicas = 1;
  pool.max = 2;
  bench.cluster.pools = {pool};
  ListedWorkload workload({spec(0, 16, 60)});
  const Bindings bindings = bench.bindings(workload);
  CHECK_THROWS_WITH(Simulation(bench.cluster, bindings), ContainsSubstring("pools[1].max"));
  bench.cluster.pools[0].max = 1;
  bench.cluster.pools[0].start.weight_bytes = 5;
  CHECK_THROWS_WITH(Simulation(bench.cluster, bindings), ContainsSubstring("pools[1].start.link"));
}
