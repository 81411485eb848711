// Replicas with several stages against simulators that are obviously correct, on random questions.

#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/naive/naive.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

std::string vllm_in_stages(const ServingCase& question) {
  const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
  VllmThroughPlan scheduler(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(question, scheduler));
}

std::string naive_with_dice(const ServingCase& question) {
  Chaos one(question.seed), other(question.seed);
  const History expected = run_naive(question, one);
  return difference(expected, run_engine(question, other));
}

std::string naive_with_vllm(const ServingCase& question) {
  VllmThroughPlan one(question.config, true, true);
  const History expected = run_naive(question, one);
  VllmThroughPlan other(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(question, other));
}

}  // namespace

TEST_CASE("with stages, the engine and a literal vLLM V1 agree in every request's times") {
  Coverage coverage;
  int full = 0, one_at_a_time = 0, dealt = 0;
  const auto [first, last] = seeds(1, 800);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = in_stages(draw_case(seed, Range{}));
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    coverage.add(expected);
    full += expected.most_under_way == question.config.stages.batches;
    one_at_a_time += expected.most_under_way == 1;
    dealt += expected.dealt_over_plans > 0;
    if (fails(question, vllm_in_stages)) FAIL(minimal_failure(question, vllm_in_stages));
  }
  coverage.print("vLLM V1 in stages", first, last);
  std::printf(
      "as many steps under way as may be: %d; one at a time: %d; requests of one instant "
      "dealt out over plans: %d\n",
      full, one_at_a_time, dealt);
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.with_preemption >= enough(150));
  CHECK(coverage.with_resume_hits >= enough(60));
  CHECK(coverage.with_prefix_hits >= enough(150));
  CHECK(coverage.ended_waiting >= enough(5));
  CHECK(coverage.discarded == 0);
  CHECK(full >= enough(400));
  CHECK(one_at_a_time >= enough(20));
  CHECK(dealt >= enough(100));
}

TEST_CASE(
    "with stages, the engine and a naive simulator agree under a scheduler that throws dice") {
  Coverage coverage;
  const auto [first, last] = seeds(1, 400);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = in_stages(draw_case(seed, Range{40, true, true, false, false}));
    Chaos chaos(seed);
    coverage.add(run_naive(question, chaos));
    if (fails(question, naive_with_dice)) FAIL(minimal_failure(question, naive_with_dice));
  }
  coverage.print("dice in stages", first, last);
  CHECK(coverage.with_preemption >= enough(300));
  CHECK(coverage.with_resume_hits >= enough(150));
  CHECK(coverage.ended_waiting >= enough(40));
}

TEST_CASE("with stages, both simulators agree when the same policy runs on both") {
  const auto [first, last] = seeds(1, 200);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = in_stages(draw_case(seed, Range{}));
    if (fails(question, naive_with_vllm)) FAIL(minimal_failure(question, naive_with_vllm));
  }
}

TEST_CASE("stages without distance, and one step under way at a time, are one stage") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ServingCase question = draw_case(seed, Range{});
    question.config.async_depth = 1;
    question.tariff.step += 1000;  // no stage takes less than 1 ps
    VllmThroughPlan one(question.config, false, false), other(question.config, false, false);
    const History expected = run_engine(question, one);
    question.config.stages = {{0.25, 0.25, 0.5}, {0, 0}, {0, 0}, 1};
    REQUIRE(difference(expected, run_engine(question, other)) == "");
  }
}

}  // namespace rooflua::reference
