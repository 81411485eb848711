// Aborts at any instant, of requests in any phase: nothing is lost, nothing is told twice, and
// no past changes. Random clusters: prefill and decode split, with links or without, stages,
// ranks that step together, speculation, frontends, closed loops.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("aborts in any phase at any instant: all blocks come free, and each end is told once") {
  std::int64_t aborted = 0, between = 0;
  std::map<Phase, int> phases;
  std::map<Push, int> while_sent;  // aborted while KV was on its way
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    Simulation& simulation = *run->simulation;
    Dice dice(seed + 1);
    const std::int32_t rare = dice.upto(1, 40);
    while (true) {
      const bool more = simulation.advance() > 0;
      check_counts(simulation, run->told);
      if (!more) break;
      if (dice.upto(0, rare) > 0) continue;
      if (dice.upto(0, 2) == 0) {  // between two instants
        const Picoseconds before = simulation.now();
        simulation.run_until(simulation.now_s() + 0.03125 * dice.upto(0, 40));
        between += simulation.now() > before;
      }
      for (const std::int32_t id : live_ids(simulation)) {
        const std::int32_t slot = simulation.slot_of(id);
        ++phases[simulation.requests()[slot].phase];
        while_sent[scenario.cluster().disaggregation.push] +=
            simulation.requests().progress(slot).flows > 0;
      }
      aborted += abort_some(simulation, dice);
      check_counts(simulation, run->told);
    }
    check_end(*run, scenario.specs().size());
  }
  CHECK(aborted > 5000);
  CHECK(between > 500);
  for (const Phase phase :
       {Phase::pending, Phase::waiting, Phase::prefilling, Phase::decoding, Phase::in_flight}) {
    CAPTURE(name(phase));
    CHECK(phases[phase] > 100);
  }
  CHECK(phases[Phase::finishing] > 20);
  for (const Push push : {Push::end, Push::chunks, Push::layers}) CHECK(while_sent[push] > 50);
}

TEST_CASE("an abort changes nothing of what came before it, and tokens of others come later only") {
  for (std::uint64_t seed = 2001; seed <= 2150; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    const std::unique_ptr<Scenario::Run> calm = scenario.open();
    calm->simulation->run();
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    Simulation& simulation = *run->simulation;
    Dice dice(seed);
    simulation.run_until(dice.upto(0, 1000) / 1000.0 *
                         seconds(calm->simulation->totals().last_end));
    const std::vector<std::string> before = run->told.lines;
    REQUIRE(before.size() <= calm->told.lines.size());
    CHECK(std::equal(before.begin(), before.end(), calm->told.lines.begin()));
    const std::vector<std::int32_t> live = live_ids(simulation);
    if (live.empty()) continue;
    const auto place = dice.upto(0, static_cast<std::int32_t>(live.size()) - 1);
    simulation.abort_by_id(live[static_cast<std::size_t>(place)], Outcome::cancelled);
    CHECK(std::equal(before.begin(), before.end(), run->told.lines.begin()));
    CHECK(run->told.lines.size() == before.size() + 1);  // the end, at once
    simulation.run();
    check_end(*run, scenario.specs().size());
  }
}

TEST_CASE("cancelling everything at once leaves an idle, empty cluster") {
  int with_steps = 0, with_kv = 0;
  for (std::uint64_t seed = 3001; seed <= 5400; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    run->workload->sent = 40;  // nothing is answered
    Simulation& simulation = *run->simulation;
    Dice dice(seed);
    for (std::int32_t left = dice.upto(1, 120); left > 0; --left) simulation.advance();
    std::int64_t planned = 0;
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i)
      planned += simulation.replica(i).planned_steps();
    const std::int64_t steps = simulation.totals().steps;
    for (const std::int32_t id : live_ids(simulation))
      simulation.abort_by_id(id, Outcome::cancelled);
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
      CHECK(simulation.replica(i).view().waiting == 0);
      with_kv += simulation.replica(i).kv().used_blocks() > 0 && planned == 0;
    }
    // Those that are under way land. Requests that are sent later are served as ever.
    while (simulation.totals().steps < steps + planned) simulation.advance();
    with_steps += planned > 0;
    simulation.run();
    run->workload->sent = 0;
    check_end(*run, scenario.specs().size());
  }
  CHECK(with_steps > 100);
  CHECK(with_kv > 0);
}

TEST_CASE("a copy that is made between an abort and what it waits for has the same future") {
  for (std::uint64_t seed = 4001; seed <= 4150; ++seed) {
    CAPTURE(seed);
    Scenario scenario(seed);
    const std::unique_ptr<Scenario::Run> run = scenario.open();
    Dice dice(seed);
    for (std::int32_t left = dice.upto(5, 80); left > 0; --left) run->simulation->advance();
    abort_some(*run->simulation, dice);
    const std::unique_ptr<Scenario::Run> copy = scenario.fork(*run);
    run->simulation->run();
    copy->simulation->run();
    CHECK(copy->told.lines == run->told.lines);
    check_end(*copy, scenario.specs().size());
  }
}
