// Clients with random patience on random clusters: requests and questions are conserved, a client
// without end changes nothing, and a copy has the same future.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "serve/contract/client.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"
#include "tests/serve/speculation/case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

class Moody : public ClientPolicy {
 public:
  double longest_s = 0;  // 0: endless
  std::int32_t retries = 0;
  bool keeps = false;
  Patience patience(const Request&, RandomStream& draws) override {
    Patience out;
    if (longest_s == 0) return out;
    const auto which = uniform_integer(draws, 0, 3);
    if (which == 0) out.first_token_s = uniform(draws, 0, longest_s);
    if (which == 1) out.total_s = uniform(draws, 0, longest_s);
    if (which == 2) out.cancel_s = uniform(draws, 0, longest_s);
    return out;
  }
  std::optional<Again> again(const Request&, const Ending& ending, RandomStream& draws) override {
    if (ending.attempt >= retries) return {};
    return Again{uniform_integer(draws, 0, 1) * uniform(draws, 0, longest_s), keeps};
  }
};

/// All that is told, in words; and what became of each question.
class Told : public Observer {
 public:
  std::vector<std::string> lines;
  std::int64_t arrived = 0, ended = 0, questions = 0, completed = 0, given_up = 0, retried = 0;
  std::map<std::int32_t, std::int32_t> outputs;  // by origin: tokens that the client kept
  bool reads_prices() const override { return false; }
  void on_arrival(const Request& request, Picoseconds now) override {
    ++arrived;
    questions += request.attempt == 0;
    add("arrives", request.id, now);
  }
  void on_step(const StepDone& step) override { add("steps", step.replica, step.end); }
  void on_done(const RequestDone& done) override {
    ++ended;
    retried += done.is_retried;
    if (!done.is_retried) ++(done.outcome == Outcome::completed ? completed : given_up);
    const std::int32_t origin = done.origin >= 0 ? done.origin : done.id;
    if (done.keeps_output || done.outcome == Outcome::completed)
      outputs[origin] += done.output_tokens;
    add("ends", done.id, done.now);
    lines.back() += " " + std::string(name(done.outcome)) + " " +
                    std::to_string(done.output_tokens) + " " + std::to_string(done.attempt);
  }

 private:
  void add(const char* what, std::int32_t who, Picoseconds now) {
    lines.push_back(std::to_string(who) + " " + what + " at " + std::to_string(now));
  }
};

struct World {
  explicit World(std::uint64_t seed) : it(random_case(seed, seed % 2 == 0)) {
    Dice dice(seed + 5);
    for (std::int32_t more = dice.upto(0, 2); more > 0; --more)
      it.cluster.replicas.push_back(
          random_case(seed * 11 + static_cast<std::uint64_t>(more), false).cluster.replicas[0]);
    if (it.cluster.replicas.size() > 1 && dice.upto(0, 1) == 1) {
      for (std::size_t i = 0; i < it.cluster.replicas.size(); ++i)
        it.cluster.replicas[i].role = i % 2 == 0 ? Role::prefill : Role::decode;
      it.cluster.transfer = {0.25, 64, 1};
    }
    if (dice.upto(0, 2) == 0) it.cluster.frontend = {0.125, 1.0 / 256, 0.25};
    client.longest_s = dice.upto(1, 40);
    client.retries = dice.upto(0, 4);
    client.keeps = dice.upto(0, 1) == 1;
  }

  struct Run {
    std::unique_ptr<ListedWorkload> workload;
    std::vector<Fcfs> schedulers;
    InTurn router;
    LinearSteps model{0.5, 1.0 / 64, 1.0 / 4096};
    Moody client;
    Told told;
    std::unique_ptr<Simulation> simulation;
  };

  Bindings bindings(Run& run, bool with_client) {
    Bindings out;
    for (Fcfs& each : run.schedulers) out.schedulers.push_back(&each);
    out.steps.assign(it.cluster.replicas.size(), &run.model);
    out.router = &run.router;
    out.workload = run.workload.get();
    out.observers = {&run.told};
    if (with_client) out.client = &run.client;
    return out;
  }

  std::unique_ptr<Run> open(bool with_client = true) {
    auto run = std::make_unique<Run>();
    run->workload = std::make_unique<ListedWorkload>(it.specs);
    run->schedulers.assign(it.cluster.replicas.size(), it.scheduler);
    run->client = client;
    run->simulation = std::make_unique<Simulation>(it.cluster, bindings(*run, with_client));
    return run;
  }

  std::unique_ptr<Run> fork(const Run& other) {
    auto run = std::make_unique<Run>();
    run->workload = std::make_unique<ListedWorkload>(*other.workload);
    run->schedulers = other.schedulers;
    run->router = other.router;
    run->client = other.client;
    run->told = other.told;
    run->simulation = other.simulation->fork(bindings(*run, true));
    return run;
  }

  Case it;
  Moody client;
};

void check_conserved(const World::Run& run) {
  const Told& told = run.told;
  const Totals& totals = run.simulation->totals();
  const auto alive = static_cast<std::int64_t>(run.simulation->unfinished().size());
  CHECK(totals.arrived == told.arrived);
  CHECK(totals.arrived ==
        std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0}) + alive);
  const std::int64_t waits = told.retried - (told.arrived - told.questions);  // to be sent again
  CHECK(waits >= 0);
  CHECK(told.questions == told.completed + told.given_up + alive + waits);
}

void check_empty(const World::Run& run) {
  const Simulation& simulation = *run.simulation;
  CHECK(simulation.requests().alive() == 0);
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    CHECK(simulation.replica(i).kv().free_blocks() == simulation.replica(i).kv().total_blocks());
    CHECK(simulation.replica(i).view().seats + simulation.replica(i).view().waiting == 0);
    CHECK(simulation.outstanding(i) == 0);
  }
}

}  // namespace

TEST_CASE("requests and questions are conserved at every instant, whatever clients do") {
  std::int64_t retried = 0, given_up = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const auto run = world.open();
    do {
      check_conserved(*run);
    } while (run->simulation->advance() > 0);
    check_conserved(*run);
    check_empty(*run);
    CHECK(run->told.questions == static_cast<std::int64_t>(world.it.specs.size()));
    retried += run->told.retried;
    given_up += run->told.given_up;
    kept += world.client.keeps ? run->told.retried : 0;
  }
  CHECK(retried > 1000);
  CHECK(given_up > 1000);
  CHECK(kept > 300);
}

TEST_CASE("a client that waits for ever and asks once is none") {
  for (std::uint64_t seed = 1001; seed <= 2000; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.client.longest_s = 0;
    world.client.retries = 0;  // of what the server refuses
    const auto with = world.open(true), without = world.open(false);
    with->simulation->run();
    without->simulation->run();
    CHECK(with->told.lines == without->told.lines);
  }
}

TEST_CASE("clients that cancel everything at once leave an idle, empty cluster") {
  for (std::uint64_t seed = 2001; seed <= 2100; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const auto run = world.open();
    struct Gone : ClientPolicy {
      Patience patience(const Request&, RandomStream&) override {
        return {Patience::endless, Patience::endless, 0};
      }
      std::optional<Again> again(const Request&, const Ending&, RandomStream&) override {
        return {};
      }
    } gone;
    Bindings changed = run->simulation->core().bindings;
    changed.client = &gone;
    run->simulation->set_parts(changed);
    run->simulation->run();
    check_empty(*run);
    CHECK(run->told.completed == 0);
  }
}

TEST_CASE("patience changes nothing of what came before the first of it ended") {
  int compared = 0;
  for (std::uint64_t seed = 3001; seed <= 3100; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const auto moody = world.open(true), calm = world.open(false);
    moody->simulation->run();
    calm->simulation->run();
    const auto is_end_of_patience = [](const std::string& line) {
      return line.find("timed_out") != std::string::npos ||
             line.find("cancelled") != std::string::npos;
    };
    const auto first =
        std::find_if(moody->told.lines.begin(), moody->told.lines.end(), is_end_of_patience);
    const auto count = first - moody->told.lines.begin();
    REQUIRE(count <= static_cast<std::ptrdiff_t>(calm->told.lines.size()));
    CHECK(std::equal(moody->told.lines.begin(), first, calm->told.lines.begin()));
    compared += first != moody->told.lines.end() && count > 5;
  }
  CHECK(compared > 20);
}

TEST_CASE("a copy that is made while clients wait to send again has the same future") {
  int waiting = 0;
  for (std::uint64_t seed = 4001; seed <= 4150; ++seed) {
    CAPTURE(seed);
    World world(seed);
    const auto run = world.open();
    Dice dice(seed);
    for (std::int32_t left = dice.upto(1, 120); left > 0; --left) run->simulation->advance();
    waiting += run->told.retried > run->told.arrived - run->told.questions;
    const auto copy = world.fork(*run);
    run->simulation->run();
    copy->simulation->run();
    CHECK(copy->told.lines == run->told.lines);
    check_empty(*copy);
  }
  CHECK(waiting > 10);
}

TEST_CASE("a client that keeps its output gets every token once") {
  std::int64_t compared = 0;
  for (std::uint64_t seed = 5001; seed <= 5100; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.client.keeps = true;
    world.client.retries = 50;
    class Loses : public Moody {
     public:
      Patience patience(const Request&, RandomStream& draws) override {
        return {Patience::endless, uniform(draws, 1, 30), Patience::endless};
      }
    } client;
    client.keeps = true;
    client.retries = 50;
    client.longest_s = 3;
    const auto run = world.open();
    Bindings changed = run->simulation->core().bindings;
    changed.client = &client;
    run->simulation->set_parts(changed);
    class Whole : public Observer {
     public:
      std::map<std::int32_t, std::int32_t> whole;  // by origin: what it has when it completes
      bool reads_prices() const override { return false; }
      void on_done(const RequestDone& done) override {
        if (done.outcome == Outcome::completed)
          whole[done.origin >= 0 ? done.origin : done.id] =
              done.carried_tokens + done.output_tokens;
      }
    } whole;
    run->simulation->add_observer(whole);
    run->simulation->run();
    for (const auto& [origin, tokens] : whole.whole) {
      CHECK(run->told.outputs.at(origin) == tokens);
      ++compared;
    }
  }
  CHECK(compared > 500);
}
