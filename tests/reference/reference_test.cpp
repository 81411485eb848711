// The fast engine against simulators that are obviously correct, on random questions.

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/catch.h"
#include "tests/reference/plan_policies.h"
#include "tests/reference/serving_case.h"
#include "tests/reference/shrink.h"
#include "tests/reference/vllm_v1.h"

namespace rooflua::reference {

namespace {

std::string vllm_through_plan(const ServingCase& question) {
  const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
  VllmThroughPlan scheduler(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(question, scheduler));
}

/// The seeds of a run; ROOFLUA_SEEDS=FIRST-LAST asks for others.
std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t first, std::uint64_t last) {
  unsigned long long from = first, to = last;
  const char* asked = std::getenv("ROOFLUA_SEEDS");
  if (asked != nullptr && std::sscanf(asked, "%llu-%llu", &from, &to) != 2)
    FAIL("ROOFLUA_SEEDS: expected FIRST-LAST");
  return {from, to};
}

}  // namespace

TEST_CASE("the engine and a literal vLLM V1 agree in every request's times") {
  Coverage coverage;
  const auto [first, last] = seeds(1, 1000);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, Range{});
    coverage.add(run_vllm_v1(question.config, question.requests(), question.tariff));
    if (fails(question, vllm_through_plan)) {
      FAIL(minimal_failure(question, vllm_through_plan));
    }
  }
  coverage.print("vLLM V1", first, last);
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.with_preemption >= 200);
  CHECK(coverage.with_resume_hits >= 100);
}

}  // namespace rooflua::reference
