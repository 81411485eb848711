#include <set>

#include "cost/price/roofline.h"
#include "measure/html/page.h"
#include "serve/contract/words.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

template <class Words>
void check_words(const Words& words) {
  std::set<std::string_view> names;
  for (const auto& word : words) {
    INFO(word.name);
    CHECK(names.insert(word.name).second);
    CHECK(word.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK_FALSE(word.help.empty());
    CHECK(word.help.find('\n') == std::string_view::npos);
    CHECK(value_named(words, word.name) == word.value);
  }
  CHECK_FALSE(value_named(words, "no such word").has_value());
  CHECK(names_of(words).size() == names.size());
}

}  // namespace

TEST_CASE("every word of every vocabulary has a name of its own and a line of help") {
  check_words(evidence_words);
  check_words(bound_words);
  check_words(phase_words);
  check_words(outcome_words);
  check_words(refusal_words);
}

TEST_CASE("the codes of phases, bounds and outcomes are those of the border") {
  CHECK(static_cast<int>(Bound::unknown) == 0);
  CHECK(name(Bound::memory) == "memory");
  CHECK(name(Phase::prefilling) == "prefill");
  CHECK(words_of(Phase::finishing).state == "finishing");
  CHECK(name(Outcome::completed) == "completed");
}

TEST_CASE("a list of words that is not in the order of its enum is noticed") {
  constexpr Word<Bound> wrong[] = {{Bound::compute, "compute", "a"}, {Bound::unknown, "b", "c"}};
  CHECK_FALSE(in_order(wrong));
}

TEST_CASE("unsupported is what --strict limits: extrapolated, stand_in, modelled or assumed") {
  CHECK(unsupported_names() == "extrapolated, stand_in, modelled or assumed");
  CHECK(unsupported_share({0.5, 0.25, 0.0625, 0.03125, 0.125, 0.03125}) == 0.25);
}

TEST_CASE("every evidence has a class and a colour in the style sheet of pages") {
  const std::string page = HtmlPage("x").text();
  for (const EvidenceWord& word : evidence_words) {
    const std::string each(word.name);
    INFO(each);
    CHECK(page.find(".e-" + each + " { fill: var(--" + each + "); }") != std::string::npos);
    CHECK(page.find("--" + each + ":") != std::string::npos);
  }
  CHECK(page.find(".e-guessed") == std::string::npos);
}
