// Images in prompts: the engine against the naive simulator, and a law. ROOFLUA_SEEDS=1-1000 asks
// 1,000 questions.

#include "tests/reference/naive/encoder.h"

#include <cstdio>

#include "tests/catch.h"
#include "tests/reference/cases/items.h"
#include "tests/reference/cases/random_questions.h"
#include "tests/reference/cases/shrink.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/naive/naive.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

int encoded_in_all = 0, found_in_all = 0;

class Counted : public Observer {
 public:
  void on_done(const RequestDone& done) override {
    encoded += done.encoded_items;
    found += done.found_items;
    encode_s += done.encode_s;
  }
  int encoded = 0, found = 0;
  double encode_s = 0;
};

template <class Policy>
std::string compare(const ServingCase& question, const ItemCase& items, Policy make) {
  auto one = make(), other = make();
  NaiveEncoder encoder(items, question);
  const History expected = run_naive(question, one, &encoder);
  Counted counted;
  EngineRun run(question, other, {&counted}, nullptr, &items);
  run.simulation().run();
  const std::string found = difference(expected, run.history());
  if (!found.empty()) return found;
  if (!expected.finished) return "";
  if (counted.encoded != encoder.encoded || counted.found != encoder.found)
    return "expected " + std::to_string(encoder.encoded) + " items computed and " +
           std::to_string(encoder.found) + " found, there are " + std::to_string(counted.encoded) +
           " and " + std::to_string(counted.found);
  encoded_in_all += counted.encoded;
  found_in_all += counted.found;
  return "";
}

std::string against_naive(const ServingCase& plain) {
  ItemCase items;
  const ServingCase question = with_items(plain, items);
  std::string out = compare(question, items, [&] { return Chaos(question.seed); });
  if (!out.empty() || question.config.by_priority) return out;
  return compare(question, items, [&] { return VllmThroughPlan(question.config, false, false); });
}

/// An encoder that takes no time, with room for all, changes nothing but tokens.
std::string is_neutral(const ServingCase& plain) {
  ItemCase items;
  ServingCase question = with_items(plain, items);
  items = {};
  items.rules.cache_tokens = 1 << 28;
  VllmThroughPlan one(question.config, false, false), other(question.config, false, false);
  EngineRun with(question, one, {}, nullptr, &items), without(question, other);
  with.simulation().run();
  without.simulation().run();
  return difference(without.history(), with.history());
}

void check_all(const char* name, std::uint64_t count, const Check& check) {
  encoded_in_all = found_in_all = 0;
  const auto [first, last] = seeds(1, count);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const ServingCase question = draw_case(seed, Range{40, true, true, true, true});
    if (fails(question, check)) FAIL(minimal_failure(question, check));
  }
  std::printf("%s: %d items computed, %d found\n", name, encoded_in_all, found_in_all);
}

}  // namespace

TEST_CASE("with images the engine and a naive simulator agree in every request's times") {
  check_all("images", 120, against_naive);
  CHECK(encoded_in_all >= enough(3000));
  CHECK(found_in_all >= enough(500));
}

TEST_CASE("an encoder without a price and with room for all changes nothing") {
  check_all("neutral encoder", 40, is_neutral);
}

}  // namespace rooflua::reference
