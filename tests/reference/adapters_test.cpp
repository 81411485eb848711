// Low-rank adapters: the engine against a literal vLLM V1, against the naive simulator, and laws.

#include <algorithm>
#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/draw_parts.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/engines/adapter_worker.h"
#include "tests/reference/naive/naive.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

/// Copies take no time and nothing costs anything.
AdapterCase free_of_cost(AdapterCase adapters) {
  adapters.each = adapters.token = 0;
  std::fill(adapters.slot.begin(), adapters.slot.end(), 0);
  std::fill(adapters.fetch.begin(), adapters.fetch.end(), 0);
  return adapters;
}

/// At most as many adapters in a step as there are slots.
class Counted : public Observer {
 public:
  explicit Counted(int slots) : slots_(slots) {}
  void on_step(const StepDone& step) override {
    const Batch& batch = *step.batch;
    wrong = wrong || batch.adapters > slots_ || batch.adapter_tokens > batch.tokens ||
            (batch.adapters > 0) != (batch.adapter_tokens > 0);
    held += batch.adapter_held;
    loads += batch.adapter_loads;
  }
  bool wrong = false;
  int held = 0, loads = 0;

 private:
  int slots_;
};

History run_with(const ServingCase& question, const AdapterCase& adapters,
                 SchedulerPolicy& scheduler, Counted& counted) {
  EngineRun run(question, scheduler, {&counted}, &adapters);
  run.simulation().run();
  return run.history();
}

int held_in_all = 0, loads_in_all = 0;

std::string against_vllm(const ServingCase& plain) {
  const AdapterCase adapters = draw_adapters(plain);
  const ServingCase question = with_adapters(plain, adapters);
  AdapterWorker worker(adapters, question);
  const History expected = run_vllm_v1(question.config, question.requests(),
                                       [&](const Rows& rows) { return worker(rows); });
  for (const bool ragged : {false, true}) {
    ServingCase asked = question;
    asked.config.ragged = ragged;
    VllmThroughPlan scheduler(question.config, question.seed % 5 == 0, question.seed % 7 == 0);
    Counted counted(adapters.slots);
    const std::string found = difference(expected, run_with(asked, adapters, scheduler, counted));
    if (!found.empty()) return found;
    if (counted.wrong) return "more adapters in a step than slots, or tokens without one";
    if (counted.loads != worker.loads)
      return "expected " + std::to_string(worker.loads) + " loads, found " +
             std::to_string(counted.loads);
    held_in_all += counted.held;
    loads_in_all += counted.loads;
  }
  return "";
}

std::string against_naive(const ServingCase& plain) {
  const AdapterCase adapters = free_of_cost(draw_adapters(plain));
  const ServingCase question = with_adapters(plain, adapters);
  Chaos one(question.seed), other(question.seed);
  const History expected = run_naive(question, one);
  Counted counted(adapters.slots);
  const std::string found = difference(expected, run_with(question, adapters, other, counted));
  held_in_all += counted.held;
  return !found.empty() ? found : counted.wrong ? "more adapters in a step than slots" : "";
}

/// One adapter for all is none, and slots for all hold up none.
std::string is_neutral(const ServingCase& plain) {
  VllmThroughPlan scheduler(plain.config, false, false);
  const History expected = run_engine(plain, scheduler);
  AdapterCase adapters = free_of_cost(draw_adapters(plain));
  adapters.slots = adapters.cpu_slots = adapters.count;
  ServingCase alike = plain;
  for (Prompt& prompt : alike.prompts) prompt.plain.adapter = 1;
  AdapterCase one = adapters;
  one.slots = one.cpu_slots = 1;
  Counted of_one(1), of_all(adapters.slots);
  VllmThroughPlan again(plain.config, false, false);
  const std::string found = difference(expected, run_with(alike, one, again, of_one));
  if (!found.empty()) return "one adapter for all: " + found;
  if (of_one.held > 0) return "one adapter for all, and a request was held";
  ServingCase many = with_adapters(plain, adapters);
  if (plain.shares()) return "";  // content of different adapters is different
  VllmThroughPlan third(plain.config, false, false);
  const std::string difference_of_many =
      difference(expected, run_with(many, adapters, third, of_all));
  return of_all.held > 0 ? "slots for all, and a request was held" : difference_of_many;
}

void check_all(const char* name, std::uint64_t count, const Range& range, const Check& check) {
  held_in_all = loads_in_all = 0;
  const auto [first, last] = seeds(1, count);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, range);
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  std::printf("%s: %d requests held, %d loads\n", name, held_in_all, loads_in_all);
}

}  // namespace

TEST_CASE("with adapters the engine and a literal vLLM V1 agree in every request's times") {
  check_all("vLLM V1 with adapters", 600, Range{}, against_vllm);
  CHECK(held_in_all >= enough(1000));
  CHECK(loads_in_all >= enough(2000));
}

TEST_CASE("with adapters the engine and a naive simulator agree under a scheduler of dice") {
  check_all("dice with adapters", 300, Range{40, true, true, false, false}, against_naive);
  CHECK(held_in_all >= enough(300));
}

TEST_CASE("one adapter for all is none, and slots for all hold up none") {
  check_all("neutral adapters", 200, Range{}, is_neutral);
}

}  // namespace rooflua::reference
