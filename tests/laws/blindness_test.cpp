// A scheduler cannot know how long an answer will be.

#include <algorithm>

#include "tests/catch.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/lua_policies.h"
#include "tests/reference/lua_trials.h"

namespace rooflua::reference {

namespace {

/// Declared limits that say nothing about the true lengths, and room for them.
ServingCase hide_lengths(ServingCase question) {
  int longest = 0;
  for (Prompt& prompt : question.prompts) {
    prompt.plain.max_new = 200;
    longest = std::max(longest, prompt.plain.prompt + 200);
  }
  VllmConfig& c = question.config;
  c.blocks = std::max(c.blocks, longest / c.block_size + 2);
  c.max_model_len = VllmConfig{}.max_model_len;
  return question;
}

/// Steps that were planned before `moment`, as far as they are the same.
bool same_until(const History& a, const History& b, Ps moment) {
  for (std::size_t k = 0; k < a.steps.size(); ++k) {
    if (a.steps[k].planned >= moment) return true;
    if (k >= b.steps.size() || a.steps[k].rows != b.steps[k].rows ||
        a.steps[k].start != b.steps[k].start || a.steps[k].end != b.steps[k].end)
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("until an answer ends, no scheduler behaves as if it knew its length") {
  LuaPolicies lua;
  int differed = 0;
  for (const Trial& trial : trials()) {
    for (std::uint64_t seed = 7001; seed <= 7025; ++seed) {
      ServingCase question = hide_lengths(question_for(trial, seed));
      const std::string parameters = trial.parameters(question);
      const History first = run_engine(question, *lua.make(trial.scheduler, parameters));
      const std::size_t who = seed % question.prompts.size();
      question.prompts[who].plain.output += 40;
      question.spell_tokens();
      const History other = run_engine(question, *lua.make(trial.scheduler, parameters));
      // The plan after the one with its last token may see that it is done.
      Ps moment = first.requests[who].last;
      for (const StepLog& step : first.steps)
        if (step.end == moment) moment = step.planned + (question.config.async_depth == 1 ? 1 : 0);
      CAPTURE(trial.scheduler, seed, who);
      REQUIRE(same_until(first, other, moment));
      differed += first.requests != other.requests;
    }
  }
  CHECK(differed > 150);  // the length did matter in the end
}

}  // namespace rooflua::reference
