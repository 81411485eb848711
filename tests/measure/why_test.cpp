// Why a request took as long as it did, where steps pass stages and where decodes bring drafts.

#include "measure/record/why.h"

#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/speculation/drafts.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

Picoseconds time_of(const Why& why, LatencyHeading heading) {
  return why.time[static_cast<std::size_t>(heading)];
}

/// One second with a chunk of request 0.
void chunk(WhyObserver& why, Picoseconds start, std::int32_t context, std::int32_t tokens,
           bool completes) {
  PrefillWork work;
  work.id = 0;
  work.context_tokens = context;
  work.new_tokens = tokens;
  work.completes = completes;
  Batch batch;
  batch.tokens = tokens;
  StepPrice price;
  price.time_s = 1;
  StepDone step;
  step.start = start;
  step.end = start + s;
  step.batch = &batch;
  step.price = &price;
  step.prefills = {&work, 1};
  why.on_step(step);
}

/// A request of 100 tokens that lost its seat after `emitted` tokens, and then computes KV after
/// its first 110 tokens.
Why preempted_after(std::int32_t emitted, std::int32_t computed) {
  WhyObserver why(0);
  Request request;
  request.id = 0;
  request.replica = 0;
  request.prompt_tokens = emitted > 0 ? 100 : 1000;
  why.on_arrival(request, 0);
  why.on_queued(request, 0);
  chunk(why, 0, 0, computed, emitted > 0);
  request.emitted_tokens = emitted;
  why.on_preempt(request, 21 * s);
  chunk(why, 21 * s, 110, 60, true);
  RequestDone done;
  done.id = 0;
  done.last_token = done.now = 22 * s;
  why.on_done(done);
  return *why.why();
}

}  // namespace

TEST_CASE("KV of accepted drafts that a preemption lost is computed again") {
  const Why why = preempted_after(81, 100);  // 20 rounds of 4: KV of 180 tokens
  CHECK(time_of(why, LatencyHeading::recompute) == s);
  CHECK(time_of(why, LatencyHeading::prefill) == s);
}

TEST_CASE("a prompt that loses its seat halfway has computed that half and no more") {
  const Why why = preempted_after(0, 100);
  CHECK(time_of(why, LatencyHeading::recompute) == 0);
  CHECK(time_of(why, LatencyHeading::prefill) == 2 * s);
}

// Steps of 8 tokens: the prompt of 0; then ten steps with 4 tokens of 0, one pending token and
// three drafts, and 4 of the prompt of 1. Request 2 waits for the budget all that time.
TEST_CASE("what a request waits for is divided by tokens: a decode weighs as much as its row") {
  Bench bench(100, 8);
  FixedDrafts drafts(3);
  Chances never({0, 0, 0});
  WhyObserver why(2);
  ListedWorkload workload({spec(0, 8, 20), spec(0, 40, 1), spec(0, 4, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.speculators = {&drafts};
  bindings.acceptances = {&never};
  bindings.observers = {&why};
  simulate(bench.cluster, bindings);
  REQUIRE(why.why());
  CHECK(why.why()->behind.at(0) == 6 * s);
  CHECK(why.why()->behind.at(1) == 5 * s);
}

TEST_CASE("with stages a request decodes in the steps of its own lane") {
  Bench bench(100, 16);
  bench.replica().stages.shares = {0.5, 0.5};
  bench.replica().stages.links = {{0, 0}};
  bench.model.base_s = 2;
  WhyObserver why(1);
  ListedWorkload workload({spec(0, 16, 3), spec(0, 16, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers = {&why};
  simulate(bench.cluster, bindings);
  REQUIRE(why.why());
  CHECK(why.why()->steps[static_cast<std::size_t>(LatencyHeading::decode)] == 2);
  CHECK(why.why()->steps[static_cast<std::size_t>(LatencyHeading::decode_stalled)] == 0);
  CHECK(time_of(*why.why(), LatencyHeading::decode) == 4 * s);
}
