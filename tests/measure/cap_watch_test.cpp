// Whether seats or the token budget decided anything in a run.

#include "measure/record/cap_watch.h"

#include <vector>

#include "tests/catch.h"

using namespace rooflua;

namespace {

/// A step that no cap touched: 600 tokens of a budget of 2,048, no request waits.
struct Step {
  Batch batch;
  std::vector<PrefillWork> prefills = std::vector<PrefillWork>(1);
  StepDone done;
  Step() {
    prefills.front().new_tokens = 590;
    prefills.front().completes = 1;
    batch.tokens = 600;
    done.max_num_seqs = 64;
    done.max_num_batched_tokens = 2048;
    done.running = 11;
  }
  bool limits() {
    done.batch = &batch;
    done.prefills = prefills;
    CapWatch watch;
    watch.on_step(done);
    return watch.limited();
  }
};

}  // namespace

TEST_CASE("a step that leaves no request waiting and room in its budget is not limited") {
  CHECK_FALSE(Step().limits());
  Step unlimited;
  unlimited.done.max_num_batched_tokens = unlimited.done.max_num_seqs = 0;
  CHECK_FALSE(unlimited.limits());
}

TEST_CASE("the most requests that run in a step are those of the fullest one") {
  CapWatch watch;
  for (const std::int32_t running : {3, 11, 7}) {
    Step step;
    step.done.running = running;
    step.done.batch = &step.batch;
    watch.on_step(step.done);
  }
  CHECK(watch.most_running() == 11);
}

TEST_CASE("waits after a plan, a cut prompt, the last seat and a spent budget are limits") {
  Step full;
  full.done.running = 64;
  CHECK(full.limits());
  Step waits;
  waits.done.waiting = 1;
  CHECK(waits.limits());
  Step cut;
  cut.prefills.push_back({.new_tokens = 10, .completes = 0});
  CHECK(cut.limits());
  Step spent;
  spent.batch.tokens = 2048;
  CHECK(spent.limits());
}

TEST_CASE("a preemption and a request that did not complete are limits, and limits stay") {
  CapWatch preempted;
  preempted.on_preempt(Request{}, 0);
  CHECK(preempted.limited());
  Step free;
  free.done.batch = &free.batch;
  preempted.on_step(free.done);
  CHECK(preempted.limited());
  CapWatch rejected;
  RequestDone done;
  rejected.on_done(done);
  CHECK_FALSE(rejected.limited());
  done.outcome = Outcome::rejected;
  rejected.on_done(done);
  CHECK(rejected.limited());
}
