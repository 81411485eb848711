#include "cost/price/evidence.h"

#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("an operation takes the worst evidence of its inputs") {
  CHECK(worst(Evidence::measured, Evidence::assumed) == Evidence::assumed);
  CHECK(worst(Evidence::stand_in, Evidence::interpolated) == Evidence::stand_in);
  CHECK(worst(Evidence::modelled, Evidence::modelled) == Evidence::modelled);
}

TEST_CASE("every kind of evidence has a name that reads back") {
  for (int i = 0; i < evidence_count; ++i) {
    const auto evidence = static_cast<Evidence>(i);
    CHECK(parse_evidence(name(evidence)) == evidence);
  }
  CHECK_FALSE(parse_evidence("guessed").has_value());
}
