// Speculation: the fast engine against a literal vLLM V1 and the naive simulator.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/naive.h"
#include "tests/reference/plan_policies.h"
#include "tests/reference/random_questions.h"
#include "tests/reference/serving_case.h"
#include "tests/reference/shrink.h"
#include "tests/reference/vllm_v1.h"

namespace rooflua::reference {

namespace {

/// Drafts, how they are accepted, and what a drafter asks of the cache.
void draw_speculation(std::uint64_t seed, VllmConfig& c) {
  Dice dice(seed * 0xD1342543DE82EF95ull + 11);
  c.drafts = dice.between(0, dice.chance(50) ? 3 : 7);
  if (dice.chance(30)) {
    c.crowd = dice.between(0, 8);
    c.crowd_drafts = dice.between(0, c.drafts);
  }
  c.mixed = dice.chance(30);
  c.lookahead = dice.chance(60) ? c.drafts : 0;
  c.drops_last_hit = dice.chance(40);
  c.acceptance_seed = seed;
  const int best = dice.chance(15) ? 100 : dice.between(0, 100);
  for (int j = 0; j < c.drafts; ++j)
    c.rates.push_back(dice.chance(15) ? 1.0 : 0.01 * dice.between(0, best));
  if (c.long_prefill_token_threshold > 0)
    c.long_prefill_token_threshold = std::max(c.long_prefill_token_threshold, 1 + c.drafts);
}

ServingCase speculative(ServingCase question) {
  VllmConfig& c = question.config;
  draw_speculation(question.seed, c);
  // A request that is alone finds room for its drafts: else vLLM preempts it for ever.
  for (const Prompt& prompt : question.prompts) {
    const int most = prompt.plain.prompt + prompt.plain.output + 2 * (1 + c.drafts) + c.lookahead;
    c.blocks = std::max(c.blocks, c.seat_blocks + (most + c.block_size - 1) / c.block_size);
  }
  return question;
}

struct Seen {
  std::int64_t drafted = 0, accepted = 0;
  void add(const History& history) {
    for (const Served& each : history.requests) {
      drafted += each.drafted;
      accepted += each.accepted;
    }
  }
  void print(const char* what) const {
    std::printf("%s: %lld of %lld drafts accepted\n", what, static_cast<long long>(accepted),
                static_cast<long long>(drafted));
  }
};

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
  Seen seen;
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
  CHECK(coverage.with_preemption >= 200);
  CHECK(coverage.with_resume_hits >= 100);
  CHECK(coverage.with_prefix_hits >= 200);
  CHECK(coverage.with_discarded >= 300);
  CHECK(seen.accepted >= 50000);
  CHECK(seen.drafted >= 2 * seen.accepted);
}

TEST_CASE("the engine and a naive simulator agree on drafts under a scheduler that throws dice") {
  Coverage coverage;
  Seen seen;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = speculative(draw_case(seed, Range{40, true, true, false, false}));
    Chaos chaos(seed);
    const History expected = run_naive(question, chaos);
    coverage.add(expected);
    seen.add(expected);
    if (fails(question, naive_with_dice)) FAIL(minimal_failure(question, naive_with_dice));
  }
  coverage.print("dice with drafts", first, last);
  seen.print("dice with drafts");
  CHECK(coverage.with_preemption >= 300);
  CHECK(coverage.with_discarded >= 100);
  CHECK(coverage.ended_waiting >= 30);
}

TEST_CASE("the engine and a naive simulator agree on drafts when the same policy runs on both") {
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = speculative(draw_case(seed, Range{}));
    if (fails(question, naive_with_vllm)) FAIL(minimal_failure(question, naive_with_vllm));
  }
}

}  // namespace rooflua::reference
