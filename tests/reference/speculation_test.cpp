// Speculation: the fast engine against a literal vLLM V1 and the naive simulator.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/draw_speculation.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/serving.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/engines/vllm_v1.h"
#include "tests/reference/naive/naive.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

std::string vllm_through_plan(const ServingCase& question) {
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

TEST_CASE("the engine and a literal vLLM V1 that speculates agree in every request's times") {
  Coverage coverage;
  DraftsSeen seen;
  const auto [first, last] = seeds(1, 1200);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = speculative(draw_case(seed, Range{}));
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    coverage.add(expected);
    seen.add(expected);
    if (fails(question, vllm_through_plan)) FAIL(minimal_failure(question, vllm_through_plan));
  }
  coverage.print("vLLM V1 with drafts", first, last);
  seen.print("vLLM V1 with drafts");
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.with_preemption >= enough(200));
  CHECK(coverage.with_resume_hits >= enough(100));
  CHECK(coverage.with_prefix_hits >= enough(200));
  CHECK(coverage.with_discarded >= enough(300));
  CHECK(seen.accepted >= enough(50000));
  CHECK(seen.drafted >= 2 * seen.accepted);
}

TEST_CASE("the engine and a naive simulator agree on drafts under a scheduler that throws dice") {
  Coverage coverage;
  DraftsSeen seen;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ServingCase question = speculative(draw_case(seed, Range{40, true, true, false, false}));
    if (seed % 3 == 0) question.config.state_blocks = 1 + static_cast<int>(seed % 2);
    Chaos chaos(seed);
    const History expected = run_naive(question, chaos);
    coverage.add(expected);
    seen.add(expected);
    if (fails(question, naive_with_dice)) FAIL(minimal_failure(question, naive_with_dice));
  }
  coverage.print("dice with drafts", first, last);
  seen.print("dice with drafts");
  CHECK(coverage.with_preemption >= enough(300));
  CHECK(coverage.with_discarded >= enough(100));
  CHECK(coverage.ended_waiting >= enough(30));
}

TEST_CASE("the engine and a naive cluster agree where some replicas speculate") {
  Coverage coverage;
  DraftsSeen seen;
  int split = 0, grouped = 0, mixed = 0, stale = 0;
  const auto [first, last] = seeds(1, 400);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ClusterCase cluster = speculative(draw_cluster(seed));
    INFO("seed " << seed << "\n" << text(cluster));
    const History expected = run_naive(cluster);
    REQUIRE(difference(expected, run_engine(cluster)) == "");
    coverage.add(expected);
    seen.add(expected);
    const auto speculates = [](const ClusterReplica& each) { return each.config.speculates(); };
    const auto all = static_cast<std::ptrdiff_t>(cluster.replicas.size());
    const auto some = std::count_if(cluster.replicas.begin(), cluster.replicas.end(), speculates);
    mixed += some > 0 && some < all;
    split += some > 0 && cluster.split();
    grouped += some > 0 && cluster.grouped();
    stale += some > 0 && cluster.staleness > 0;
  }
  coverage.print("clusters with drafts", first, last);
  seen.print("clusters with drafts");
  std::printf("prefill split %d, in groups %d, beside replicas without drafts %d, stale %d\n",
              split, grouped, mixed, stale);
  CHECK(coverage.with_preemption >= enough(50));
  CHECK(coverage.with_prefix_hits >= enough(50));
  CHECK(coverage.with_discarded >= enough(100));
  CHECK(seen.accepted >= enough(10000));
  CHECK(split >= enough(80));
  CHECK(grouped >= enough(60));
  CHECK(mixed >= enough(100));
  CHECK(stale >= enough(80));
}

TEST_CASE("the engine and a naive simulator agree on drafts when the same policy runs on both") {
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = speculative(draw_case(seed, Range{}));
    if (fails(question, naive_with_vllm)) FAIL(minimal_failure(question, naive_with_vllm));
  }
}

}  // namespace rooflua::reference
