// A journal notes a step once for all requests that it is alike for. What it tells of each request
// is what an observer of that request alone tells.

#include "measure/record/journal.h"

#include <map>

#include "tests/catch.h"
#include "tests/serve/random_case.h"

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

}  // namespace

TEST_CASE("a journal tells of each request what an observer of it alone tells") {
  std::size_t compared = 0, steps = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    Case made = random_case(seed, seed % 2 == 0);
    UnevenSteps model;
    ListedWorkload workload(made.specs);
    Journal journal;
    Followed followed;
    Bindings bindings;
    bindings.schedulers = {&made.scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    bindings.observers = {&journal, &followed};
    Simulation simulation(made.cluster, bindings);
    while (simulation.step()) {
      ++steps;
      const StepWork* last = journal.last_step(0);
      REQUIRE(last != nullptr);
      REQUIRE(last->decode_ids == followed.planned.at(followed.last_serial).first);
      REQUIRE(last->decode_contexts == followed.planned.at(followed.last_serial).second);
    }
    REQUIRE(journal.ended().size() == followed.ended.size());
    for (std::size_t i = 0; i < followed.ended.size(); ++i, ++compared)
      REQUIRE(dump_json(to_json(journal.ended()[i])) == dump_json(to_json(followed.ended[i])));
  }
  CHECK(compared > 1000);
  CHECK(steps > 10000);
}
