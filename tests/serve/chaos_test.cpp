// Everything around the engines at once, at random: a gate that holds, refuses and lets requests
// expire, clients with patience that send again, replicas that fail, are slow, start and drain,
// links that carry less. Requests and questions are conserved at every instant.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "serve/contract/admission.h"
#include "serve/contract/client.h"
#include "serve/parts/fleet/fleet.h"
#include "tests/serve/random_cluster.h"
#include "tests/serve/storm.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

class Gatekeeper : public AdmissionPolicy {
 public:
  explicit Gatekeeper(std::uint64_t seed) {
    Dice dice(seed + 3);
    rules_.queue.flow = FlowKey::request;
    rules_.queue.fair = static_cast<FairRule>(dice.upto(0, 3));
    rules_.queue.max_held = dice.upto(0, 1) * dice.upto(3, 20);
    rules_.staleness_s = 0.5 * dice.upto(0, 1);
    rules_.deadline_s = dice.upto(0, 1) * dice.upto(4, 60);
    rules_.expire_queued = dice.upto(0, 1) == 1;
    most_ = dice.upto(1, 12);
    refuses_ = dice.upto(0, 1) == 1;
  }
  GateRules rules() const override { return rules_; }
  Verdict admit(const Request& request, const GateView&) override {
    if (refuses_ && request.id % 7 == 3) return Verdict::reject;
    return request.id % 3 == 0 ? Verdict::pass : Verdict::hold;
  }
  Next next(const Request&, const GateView& view) override { return {view.in_flight < most_}; }

 private:
  GateRules rules_;
  std::int32_t most_ = 1;
  bool refuses_ = false;
};

class Moody : public ClientPolicy {
 public:
  explicit Moody(std::uint64_t seed) {
    Dice dice(seed + 5);
    longest_s_ = dice.upto(4, 60);
    retries_ = dice.upto(0, 4);
    keeps_ = dice.upto(0, 1) == 1;
  }
  Patience patience(const Request&, RandomStream& draws) override {
    Patience out;
    const auto which = uniform_integer(draws, 0, 4);
    if (which == 0) out.first_token_s = uniform(draws, 0, longest_s_);
    if (which == 1) out.total_s = uniform(draws, 0, longest_s_);
    if (which == 2) out.cancel_s = uniform(draws, 0, longest_s_);
    return out;
  }
  std::optional<Again> again(const Request&, const Ending& ending, RandomStream& draws) override {
    if (ending.attempt >= retries_) return {};
    return Again{uniform_integer(draws, 0, 1) * uniform(draws, 0, longest_s_), keeps_};
  }

 private:
  double longest_s_ = 1;
  std::int32_t retries_ = 0;
  bool keeps_ = false;
};

/// Questions, and what became of them.
class Questions : public Observer {
 public:
  std::int64_t arrived = 0, asked = 0, completed = 0, given_up = 0, retried = 0, failed = 0;
  bool reads_prices() const override { return false; }
  void on_arrival(const Request& request, Picoseconds) override {
    ++arrived;
    asked += request.attempt == 0;
  }
  void on_failed_transfer(const TransferSeen&) override { ++failed; }
  void on_done(const RequestDone& done) override {
    CHECK((done.attempt > 0) == (done.origin >= 0 && done.origin != done.id));
    if (done.is_retried) return void(++retried);
    ++(done.outcome == Outcome::completed ? completed : given_up);
  }
};

/// What is around a run.
struct Around {
  explicit Around(std::uint64_t seed) : storm(seed), gate(seed), client(seed) {}
  Storm storm;
  Gatekeeper gate;
  Moody client;
  Questions questions;
};

void check_questions(const Simulation& simulation, const Questions& questions) {
  const auto alive = static_cast<std::int64_t>(simulation.unfinished().size());
  const std::int64_t waiting = questions.retried - (questions.arrived - questions.asked);
  CHECK(waiting >= 0);
  CHECK(questions.asked == questions.completed + questions.given_up + alive + waiting);
}

void check_nothing_is_left(const Simulation& simulation) {
  CHECK(simulation.requests().alive() == 0);
  CHECK(simulation.unfinished().empty());
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    const Replica& replica = simulation.replica(i);
    CHECK(replica.kv().free_blocks() == replica.kv().total_blocks());
    CHECK(replica.view().seats + replica.view().waiting == 0);
    CHECK(replica.planned_steps() == 0);
    CHECK(simulation.outstanding(i) == 0);
  }
}

/// One seed; `around` is what the next run gets.
struct Chaos {
  explicit Chaos(std::uint64_t seed) : scenario(seed), dice(seed + 1) {
    if (seed % 3 > 0) scenario.make_pools(dice);
    around = std::make_unique<Around>(seed);
    around->storm.has_links = false;
    for (const LinkConfig& link : scenario.cluster().links)
      around->storm.has_links |= link.name == "nic";
    scenario.more = [this](Scenario::Run&, Bindings& out) {
      out.faults = &around->storm;
      out.admission = &around->gate;
      out.client = &around->client;
      out.observers.push_back(&around->questions);
    };
  }
  void scale(Simulation& simulation) {
    if (simulation.config().pools.empty()) return;
    const auto pools = static_cast<std::int32_t>(simulation.config().pools.size());
    fleet_of(simulation)
        .want_engines(dice.upto(0, pools - 1), dice.upto(0, simulation.replica_count()));
  }

  Scenario scenario;
  Dice dice;
  std::unique_ptr<Around> around;
};

}  // namespace

TEST_CASE("with a gate, clients, faults and pools at once, each question ends once") {
  std::map<Outcome, std::int64_t> ends;
  std::int64_t retried = 0, failed = 0;
  for (std::uint64_t seed = 1; seed <= 900; ++seed) {
    CAPTURE(seed);
    Chaos chaos(seed);
    const auto run = chaos.scenario.open();
    Simulation& simulation = *run->simulation;
    const std::int32_t rare = chaos.dice.upto(1, 40);
    while (simulation.advance() > 0) {
      check_counts(simulation, run->told);
      check_questions(simulation, chaos.around->questions);
      if (chaos.dice.upto(0, rare) == 0) chaos.scale(simulation);
      if (chaos.dice.upto(0, 3 * rare) == 0) abort_some(simulation, chaos.dice);
    }
    check_nothing_is_left(simulation);
    const Questions& questions = chaos.around->questions;
    check_questions(simulation, questions);
    CHECK(questions.asked ==
          static_cast<std::int64_t>(chaos.scenario.specs().size()) + run->workload->sent);
    for (std::size_t i = 0; i < simulation.totals().ended.size(); ++i)
      ends[static_cast<Outcome>(i)] += simulation.totals().ended[i];
    retried += questions.retried;
    failed += questions.failed;
  }
  for (const Outcome outcome : {Outcome::completed, Outcome::refused, Outcome::expired,
                                Outcome::timed_out, Outcome::cancelled, Outcome::replica_lost}) {
    CAPTURE(name(outcome));
    CHECK(ends[outcome] > 300);
  }
  CHECK(retried > 2000);
  CHECK(failed > 20);
}

TEST_CASE("a copy that is made in all of that has the same future") {
  for (std::uint64_t seed = 5001; seed <= 5250; ++seed) {
    CAPTURE(seed);
    Chaos chaos(seed);
    const auto run = chaos.scenario.open();
    for (std::int32_t left = chaos.dice.upto(1, 150); left > 0; --left) {
      run->simulation->advance();
      if (chaos.dice.upto(0, 20) == 0) chaos.scale(*run->simulation);
    }
    const std::unique_ptr<Around> first = std::move(chaos.around);
    chaos.around = std::make_unique<Around>(*first);
    const auto copy = chaos.scenario.fork(*run);
    run->simulation->run();
    copy->simulation->run();
    CHECK(copy->told.lines == run->told.lines);
    check_nothing_is_left(*copy->simulation);
  }
}
