// The shipped schedulers, on the fast engine, on the naive simulator, and against the literal
// transcriptions of what they stand for.

#include <algorithm>
#include <filesystem>

#include "tests/catch.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/lua_policies.h"
#include "tests/reference/lua_trials.h"
#include "tests/reference/naive/naive.h"

namespace rooflua::reference {

TEST_CASE("every shipped scheduler is on trial here") {
  const auto folder = test::source_dir() / "scripts/schedulers";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().stem().string();
    CAPTURE(name);
    if (file.path().extension() != ".lua") continue;
    const auto all = trials();
    const auto same_name = [&](const Trial& one) { return one.scheduler == name; };
    CHECK(std::any_of(all.begin(), all.end(), same_name));
  }
}

TEST_CASE("every shipped scheduler gives the same times on the engine and on the naive simulator") {
  LuaPolicies lua;
  const auto [first, last] = seeds(1, 100);
  for (const Trial& trial : trials()) {
    Coverage coverage;
    const Check check = [&](const ServingCase& question) {
      const std::string parameters = trial.parameters(question);
      const History expected = run_naive(question, *lua.make(trial.scheduler, parameters));
      return difference(expected, run_engine(question, *lua.make(trial.scheduler, parameters)));
    };
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      const ServingCase question = question_for(trial, seed);
      INFO(trial.scheduler << " { " << trial.parameters(question) << " }");
      if (fails(question, check)) FAIL(minimal_failure(question, check));
      coverage.add(run_naive(question, *lua.make(trial.scheduler, trial.parameters(question))));
    }
    coverage.print(trial.scheduler.c_str(), first, last);
    CHECK(coverage.questions >= enough(50));
    CHECK(coverage.unfinished * 4 < coverage.questions);
    CHECK(coverage.with_discarded >= enough(20));
  }
}

TEST_CASE("with stages, every shipped scheduler gives the same times on both simulators") {
  LuaPolicies lua;
  const auto [first, last] = seeds(1, 60);
  for (const Trial& trial : trials()) {
    Coverage coverage;
    int several = 0;
    const Check check = [&](const ServingCase& question) {
      const std::string parameters = trial.parameters(question);
      const History expected = run_naive(question, *lua.make(trial.scheduler, parameters));
      return difference(expected, run_engine(question, *lua.make(trial.scheduler, parameters)));
    };
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      ServingCase question = question_for(trial, seed);
      question.config.stages = draw_stages(seed);
      INFO(trial.scheduler << " { " << trial.parameters(question) << " }");
      if (fails(question, check)) FAIL(minimal_failure(question, check));
      const History history =
          run_naive(question, *lua.make(trial.scheduler, trial.parameters(question)));
      coverage.add(history);
      several += history.most_under_way > 1;
    }
    coverage.print((trial.scheduler + " in stages").c_str(), first, last);
    CHECK(coverage.unfinished * 4 < coverage.questions);
    // These two run all that there is in one step, if they may.
    if (trial.scheduler != "static_batch" && trial.scheduler != "orca")
      CHECK(several >= enough(10));
  }
}

TEST_CASE("with stages, vllm_v1.lua and priority.lua do what a literal vLLM V1 does") {
  LuaPolicies lua;
  const Check check = [&](const ServingCase& question) {
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    const std::string name = question.config.by_priority ? "priority" : "vllm_v1";
    const auto scheduler = lua.make(name, vllm_parameters(question.config));
    return difference(expected, run_engine(question, *scheduler));
  };
  const auto [first, last] = seeds(1, 300);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = in_stages(draw_case(seed, Range{}));
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
}

TEST_CASE("schedulers/vllm_v1.lua and priority.lua do what a literal vLLM V1 does") {
  LuaPolicies lua;
  const Check check = [&](const ServingCase& question) {
    const History expected = run_vllm_v1(question.config, question.requests(), question.tariff);
    const std::string name = question.config.by_priority ? "priority" : "vllm_v1";
    const auto scheduler = lua.make(name, vllm_parameters(question.config));
    return difference(expected, run_engine(question, *scheduler));
  };
  Coverage coverage;
  const auto [first, last] = seeds(1, 600);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, Range{});
    coverage.add(run_vllm_v1(question.config, question.requests(), question.tariff));
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  coverage.print("vllm_v1.lua and priority.lua", first, last);
  CHECK(coverage.with_discarded >= enough(150));
}

TEST_CASE("schedulers/sglang.lua does what a literal SGLang does") {
  LuaPolicies lua;
  const Check check = [&](const ServingCase& question) {
    const History expected =
        run_sglang(sglang_config(question), question.requests(), question.tariff);
    const auto scheduler = lua.make("sglang", sglang_parameters(question));
    return difference(expected, run_engine(question, *scheduler));
  };
  Coverage coverage;
  const auto [first, last] = seeds(1, 400);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = for_sglang(draw_case(seed, Range{60, false, false, false, false}));
    coverage.add(run_sglang(sglang_config(question), question.requests(), question.tariff));
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  coverage.print("sglang.lua", first, last);
  CHECK(coverage.with_preemption >= enough(50));
  CHECK(coverage.with_discarded >= enough(100));
}

}  // namespace rooflua::reference
