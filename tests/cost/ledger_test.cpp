#include "cost/ledger.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {
LedgerRow row(Evidence evidence, double time_s, double count) {
  LedgerRow made;
  made.name = "qkv";
  made.evidence = evidence;
  made.time_s = time_s;
  made.count = count;
  return made;
}
double sum(const EvidenceSeconds& account) {
  const auto shares = account.shares();
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}
}  // namespace

TEST_CASE("32 runs of one millisecond are 32 milliseconds of their evidence") {
  Ledger ledger;
  ledger.record(row(Evidence::measured, 1e-3, 32));
  ledger.record(row(Evidence::modelled, 32e-3, 1));
  CHECK(ledger.account().total() / unit::ms == Approx(64));
  CHECK(ledger.account().shares()[int(Evidence::measured)] == Approx(0.5));
  CHECK(ledger.account().shares()[int(Evidence::stand_in)] == 0);
}

TEST_CASE("rows are kept only when somebody listens") {
  Ledger ledger;
  ledger.record(row(Evidence::measured, 1, 1));
  CHECK(ledger.rows().empty());
  ledger.listen(true);
  ledger.record(row(Evidence::assumed, 2, 3));
  REQUIRE(ledger.rows().size() == 1);
  CHECK(ledger.rows()[0].time_s == 2);
  CHECK(ledger.rows()[0].count == 3);
  ledger.reset();
  CHECK(ledger.rows().empty());
  CHECK(ledger.account().total() == 0 * unit::s);
  CHECK(ledger.listening());
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

TEST_CASE("a settled ledger sums to the price of the step and keeps its shares") {
  Ledger ledger;
  ledger.record(row(Evidence::measured, 3, 1));
  ledger.record(row(Evidence::stand_in, 1, 1));
  ledger.settle(8 * unit::s);
  CHECK(ledger.account().seconds[int(Evidence::measured)] == 6);
  CHECK(ledger.account().seconds[int(Evidence::stand_in)] == 2);
}

TEST_CASE("time that no primitive recorded is assumed") {
  Ledger ledger;
  ledger.settle(5 * unit::ms);
  CHECK(ledger.account().shares()[int(Evidence::assumed)] == 1);
  CHECK(ledger.account().total() == 5 * unit::ms);
}

TEST_CASE("an account replayed from a memo adds what was recorded") {
  EvidenceSeconds once, twice;
  once.add(Evidence::interpolated, 2 * unit::s);
  twice.add(once);
  twice.add(once, 3);
  CHECK(twice.total() == 8 * unit::s);
}

TEST_CASE("a time that is not one is refused") {
  Ledger ledger;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(ledger.record(row(Evidence::measured, nan, 1)), Error);
  CHECK_THROWS_AS(ledger.record(row(Evidence::measured, 1, -1)), Error);
  CHECK_THROWS_AS(ledger.settle(nan * unit::s), Error);
  CHECK(ledger.account().total() == 0 * unit::s);
}
