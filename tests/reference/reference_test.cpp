// The fast engine against simulators that are obviously correct, on random questions.

#include <algorithm>
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
  if (!question.in_order(expected)) return "";
  VllmThroughPlan scheduler(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(question, scheduler));
}

SglangConfig sglang_config(const ServingCase& question) {
  SglangConfig config;
  Dice dice(question.seed + 77);
  config.max_running_requests = question.config.max_num_seqs;
  config.pool_tokens = question.config.blocks;
  config.chunked_prefill_size = dice.between(16, 512);
  config.max_prefill_tokens = dice.between(64, 1024);
  config.schedule_conservativeness = 0.1 * dice.between(0, dice.chance(70) ? 3 : 15);
  config.async_depth = question.config.async_depth;
  return config;
}

/// A question for SGLang: pages of one token, no radix cache, no budget of the engine's own.
ServingCase for_sglang(ServingCase question) {
  VllmConfig& c = question.config;
  int longest = 0;
  for (const Prompt& prompt : question.prompts)
    longest = std::max(longest, prompt.plain.prompt + prompt.plain.output);
  c.blocks = longest + 2 + static_cast<int>(question.seed % 8) * longest / 4;
  c.block_size = 1;
  c.prefix_caching = false;
  c.max_num_batched_tokens = 0;
  c.max_model_len = VllmConfig{}.max_model_len;
  return question;
}

std::string sglang_through_plan(const ServingCase& question) {
  const SglangConfig config = sglang_config(question);
  const History expected = run_sglang(config, question.requests(), question.tariff);
  SglangThroughPlan scheduler(config);
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
  const auto [first, last] = seeds(1, 1200);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, Range{});
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    if (question.in_order(expected)) coverage.add(expected);
    if (fails(question, vllm_through_plan)) {
      FAIL(minimal_failure(question, vllm_through_plan));
    }
  }
  coverage.print("vLLM V1", first, last);
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.questions >= 1000);
  CHECK(coverage.with_preemption >= 200);
  CHECK(coverage.with_resume_hits >= 100);
}

TEST_CASE("the engine and a literal SGLang agree in every request's times") {
  Coverage coverage;
  const auto [first, last] = seeds(1, 1000);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = for_sglang(draw_case(seed, Range{60, false, false, false, false}));
    coverage.add(run_sglang(sglang_config(question), question.requests(), question.tariff));
    if (fails(question, sglang_through_plan)) {
      FAIL(minimal_failure(question, sglang_through_plan));
    }
  }
  coverage.print("SGLang", first, last);
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.with_preemption >= 200);
}

}  // namespace rooflua::reference
