#include "cost/price/ledger.h"

#include <cmath>
#include <numeric>

#include "tests/catch.h"

using namespace rooflua;

namespace {
double sum(const EvidenceSeconds& account) {
  const auto shares = account.shares();
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}
}  // namespace

TEST_CASE("each evidence has its share of the seconds") {
  EvidenceSeconds account;
  account.add(Evidence::measured, 32 * unit::ms);
  account.add(Evidence::modelled, 32 * unit::ms);
  CHECK(account.total() / unit::ms == Approx(64));
  CHECK(account.shares()[int(Evidence::measured)] == Approx(0.5));
  CHECK(account.shares()[int(Evidence::stand_in)] == 0);
}

TEST_CASE("shares sum to one for seconds of any size") {
  for (int seed = 0; seed < 200; ++seed) {
    EvidenceSeconds account;
    double x = 0.1 + seed * 0.37;
    for (int i = 0; i < evidence_count; ++i) {
      x = std::fmod(x * 17.3 + 0.1, 1.0);
      account.add(static_cast<Evidence>(i), std::pow(10.0, -9 + 12 * x) * unit::s);
    }
    CHECK(sum(account) == Approx(1).epsilon(4e-16));
    for (const double share : account.shares()) CHECK(share >= 0);
  }
  CHECK(sum(EvidenceSeconds{}) == 0);
}

TEST_CASE("an account replayed from a memo adds what was recorded") {
  EvidenceSeconds once, twice;
  once.add(Evidence::interpolated, 2 * unit::s);
  twice.add(once);
  twice.add(once, 3);
  CHECK(twice.total() == 8 * unit::s);
}
