// A journal notes a step once for all requests that it is alike for. What it tells of each request
// is what an observer of that request alone tells.

#include "measure/record/journal.h"

#include <map>

#include "tests/catch.h"
#include "tests/serve/random_case.h"
#include "tests/serve/speculation/drafts.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// One observer per request, told of every step; and the requests of the step planned last.
class Followed : public Observer {
 public:
  std::map<std::int32_t, WhyObserver> all;
  std::vector<Why> ended;
  std::map<std::int64_t, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> planned;
  std::int64_t last_serial = -1;

  void on_arrival(const Request& request, Picoseconds now) override {
    all.emplace(request.id, WhyObserver(request.id)).first->second.on_arrival(request, now);
  }
  void on_queued(const Request& request, Picoseconds now) override {
    all.at(request.id).on_queued(request, now);
  }
  void on_preempt(const Request& request, Picoseconds now) override {
    all.at(request.id).on_preempt(request, now);
  }
  void on_priced(const StepPriced& step) override {
    const std::int32_t* contexts = decode_contexts(step.batch);
    planned[step.serial] = {decode_ids(step.batch), {contexts, contexts + step.batch.decodes}};
  }
  void on_step(const StepDone& step) override {
    for (auto& [id, each] : all) each.on_step(step);
    last_serial = step.serial;
  }
  void on_done(const RequestDone& done) override {
    WhyObserver& each = all.at(done.id);
    each.on_done(done);
    if (each.why()) ended.push_back(*each.why());
    all.erase(done.id);
  }
};

/// Shares of evidence and bounds, beside the time.
class UnevenSteps : public StepModel {
 public:
  void price(const Batch& batch, StepPrice& price) override {
    price.time_s = 0.7 + 0.013 * batch.tokens + 1e-4 * batch.decode_context_tokens;
    price.evidence_s[0] = price.time_s / 3;
    price.evidence_s[3] = price.time_s - price.evidence_s[0];
    price.bound = batch.tokens % 3;
  }
};

struct Counts {
  std::size_t compared = 0, steps = 0;
};

/// Runs the case step by step and compares what is told of it.
void compare(Case& made, int drafts, Counts& counts) {
  FixedDrafts fixed(drafts);
  Chances chances({0.8, 0.7, 0.6});
  UnevenSteps model;
  ListedWorkload workload(made.specs);
  Journal journal;
  Followed followed;
  Bindings bindings{{&made.scheduler}, {&model}, nullptr, &workload, {&journal, &followed}};
  if (drafts > 0) bindings.speculators = {&fixed}, bindings.acceptances = {&chances};
  Simulation simulation(made.cluster, bindings);
  while (simulation.step()) {
    ++counts.steps;
    const StepWork* last = journal.last_step(0);
    REQUIRE(last != nullptr);
    REQUIRE(
        std::ranges::equal(last->decode_ids(), followed.planned.at(followed.last_serial).first));
    REQUIRE(last->decode_contexts() == followed.planned.at(followed.last_serial).second);
  }
  REQUIRE(journal.ended().size() == followed.ended.size());
  for (std::size_t i = 0; i < followed.ended.size(); ++i, ++counts.compared)
    REQUIRE(dump_json(to_json(journal.ended()[i], nullptr)) == dump_json(to_json(followed.ended[i], nullptr)));
}

}  // namespace

TEST_CASE("a journal tells of each request what an observer of it alone tells") {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Case made = random_case(seed, seed % 2 == 0);
    compare(made, 0, counts);
  }
  CHECK(counts.compared > 1000);
  CHECK(counts.steps > 10000);
}

TEST_CASE("it does so where steps pass stages, and where decodes bring drafts") {
  for (const int drafts : {0, 3}) {
    Counts counts;
    for (std::uint64_t seed = 200; seed < 280; ++seed) {
      CAPTURE(seed, drafts);
      Case made = random_case(seed, seed % 2 == 0);
      ReplicaConfig& replica = made.cluster.replicas.front();
      replica.kv_blocks += (3 * drafts + 2) / replica.block_size + 1;
      if (drafts == 0) replica.stages.shares = {0.5, 0.5}, replica.stages.links = {{0.125, 0}};
      compare(made, drafts, counts);
    }
    CHECK(counts.compared > 500);
    CHECK(counts.steps > 5000);
  }
}

TEST_CASE("a step of prompts only is noted as one of a replica that speculates") {
  Bench bench(100, 16);
  FixedDrafts none(0);
  Chances chances({});
  Journal journal;
  ListedWorkload workload({spec(0, 16, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers = {&journal};
  bindings.speculators = {&none};
  bindings.acceptances = {&chances};
  simulate(bench.cluster, bindings);
  REQUIRE(journal.steps().size() == 1);
  CHECK(journal.steps().front().speculates);
}
