// The fast engine against simulators that are obviously correct, on random questions.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
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
  const std::string plain = difference(expected, run_engine(question, scheduler));
  if (!plain.empty()) return plain;
  // The lane of speculation, without drafts.
  ServingCase ragged = question;
  ragged.config.ragged = true;
  VllmThroughPlan again(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(ragged, again));
}

std::string sglang_through_plan(const ServingCase& question) {
  const SglangConfig config = sglang_config(question);
  const History expected = run_sglang(config, question.requests(), question.tariff);
  SglangThroughPlan scheduler(config);
  return difference(expected, run_engine(question, scheduler));
}

/// The naive simulator against the engine, with the same policy on both.
std::string naive_with_vllm(const ServingCase& question) {
  VllmThroughPlan one(question.config, true, true);
  const History expected = run_naive(question, one);
  VllmThroughPlan other(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
  return difference(expected, run_engine(question, other));
}

}  // namespace

TEST_CASE("the engine and a literal vLLM V1 agree in every request's times") {
  Coverage coverage, with_seat_blocks;
  int early_turns = 0;
  const auto [first, last] = seeds(1, 1200);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, Range{});
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    coverage.add(expected);
    if (question.config.seat_blocks > 0) with_seat_blocks.add(expected);
    early_turns += !question.in_order(expected);
    if (fails(question, vllm_through_plan)) {
      FAIL(minimal_failure(question, vllm_through_plan));
    }
  }
  coverage.print("vLLM V1", first, last);
  std::printf("with a turn that came while what it repeats was generated: %d\n", early_turns);
  with_seat_blocks.print("of these with seat_blocks", first, last);
  CHECK(with_seat_blocks.questions >= enough(300));
  CHECK(with_seat_blocks.with_preemption >= enough(80));
  CHECK(with_seat_blocks.with_prefix_hits >= enough(80));
  CHECK(early_turns >= enough(50));
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.questions >= enough(1000));
  CHECK(coverage.with_preemption >= enough(200));
  CHECK(coverage.with_resume_hits >= enough(100));
  CHECK(coverage.with_discarded >= enough(300));
  CHECK(coverage.discarded >= enough(5000));
  CHECK(coverage.ended_waiting >= enough(15));
}

TEST_CASE("where vLLM V1 itself never ends, the engine ends and says that they starved") {
  // Two prompts of equal rank, cut to chunks of 16, in a cache that holds little more than one: the
  // first of the running list is the victim, so they take each other's blocks for ever.
  for (const int depth : {1, 2}) {
    ServingCase question;
    question.config.by_priority = true;
    question.config.prefix_caching = question.config.reserve_full_isl = false;
    question.config.long_prefill_token_threshold = 16;
    question.config.max_num_batched_tokens = 64;
    question.config.max_num_seqs = 8;
    question.config.blocks = 10;
    question.config.async_depth = depth;
    question.tariff.step = 1000;
    question.prompts.resize(2);
    for (Prompt& prompt : question.prompts) {
      prompt.plain.prompt = 128;
      prompt.plain.output = prompt.plain.max_new = 8;
    }
    question.spell_tokens();
    CHECK_THROWS_WITH(run_vllm_v1(question.config, question.requests(), question.tariff),
                      "no end in sight");
    VllmThroughPlan scheduler(question.config, false, false);
    const History history = run_engine(question, scheduler);
    CHECK(!history.finished);
    CHECK(history.requests[0].tokens + history.requests[1].tokens == 0);
    question.part_arrivals();  // one picosecond apart: the later one is the victim, and both end
    const History apart = run_vllm_v1(question.config, question.requests(), question.tariff);
    CHECK(apart.requests[1].tokens == 8);
    VllmThroughPlan again(question.config, false, false);
    CHECK(difference(apart, run_engine(question, again)).empty());
  }
}

TEST_CASE("the engine and a literal SGLang agree in every request's times") {
  Coverage coverage;
  const auto [first, last] = seeds(1, 1200);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = for_sglang(draw_case(seed, Range{60, false, false, false, false}));
    coverage.add(run_sglang(sglang_config(question), question.requests(), question.tariff));
    if (fails(question, sglang_through_plan)) {
      FAIL(minimal_failure(question, sglang_through_plan));
    }
  }
  coverage.print("SGLang", first, last);
  CHECK(coverage.unfinished == 0);
  CHECK(coverage.with_preemption >= enough(200));
  CHECK(coverage.with_discarded >= enough(300));
  CHECK(coverage.ended_waiting >= enough(1));
}

TEST_CASE("the engine and a naive simulator agree under a scheduler that throws dice") {
  const Check check = [](const ServingCase& question) {
    Chaos one(question.seed), other(question.seed), third(question.seed);
    const History expected = run_naive(question, one);
    ServingCase ragged = question;
    ragged.config.ragged = true;
    const std::string found = difference(expected, run_engine(question, other));
    return found.empty() ? difference(expected, run_engine(ragged, third)) : found;
  };
  Coverage coverage;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ServingCase question = draw_case(seed, Range{40, true, true, false, false});
    question.config.content_from = static_cast<int>(seed % 3);
    question.config.partial_reuse = seed % 4 < 2;
    Chaos chaos(seed);
    coverage.add(run_naive(question, chaos));
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  coverage.print("dice", first, last);
  CHECK(coverage.with_preemption >= enough(400));
  CHECK(coverage.with_resume_hits >= enough(200));
  CHECK(coverage.with_discarded >= enough(100));
  CHECK(coverage.ended_waiting >= enough(50));
}

// Hits end where a state was kept, and states push other content out of the cache.
TEST_CASE("the engine and a naive simulator agree on states of recurrent layers") {
  const Check check = [](const ServingCase& question) {
    Chaos one(question.seed), other(question.seed), third(question.seed);
    const History expected = run_naive(question, one);
    ServingCase ragged = question;
    ragged.config.ragged = true;
    const std::string found = difference(expected, run_engine(question, other));
    return found.empty() ? difference(expected, run_engine(ragged, third)) : found;
  };
  Coverage coverage;
  int with_other_hits = 0, with_pushes = 0;
  const auto [first, last] = seeds(1, 500);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ServingCase question = draw_case(seed, Range{40, true, true, false, false});
    question.config.prefix_caching = seed % 10 > 0;
    question.config.state_blocks = 1 + static_cast<int>(seed % 3);
    question.config.drops_last_hit = seed % 5 == 0;
    const auto run_with = [&](int state_blocks) {
      ServingCase changed = question;
      changed.config.state_blocks = state_blocks;
      Chaos chaos(seed);
      return run_naive(changed, chaos);
    };
    const History expected = run_with(question.config.state_blocks);
    coverage.add(expected);
    with_other_hits += !difference(run_with(0), expected).empty();
    with_pushes += !difference(run_with(question.config.state_blocks + 3), expected).empty();
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  coverage.print("states", first, last);
  std::printf("other results without states %d, with larger ones %d\n", with_other_hits,
              with_pushes);
  CHECK(coverage.with_preemption >= enough(300));
  CHECK(with_other_hits >= enough(100));
  CHECK(with_pushes >= enough(20));
}

TEST_CASE("the engine and a naive simulator agree when the same policy runs on both") {
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    ServingCase question = draw_case(seed, Range{});
    question.config.content_from = static_cast<int>(seed % 3);
    question.config.partial_reuse = seed % 4 < 2;
    if (fails(question, naive_with_vllm)) {
      FAIL(minimal_failure(question, naive_with_vllm));
    }
  }
}

}  // namespace rooflua::reference
