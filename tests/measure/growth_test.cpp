// The mean time to first token in the two halves of a run, in the order in which requests were
// sent.

#include "measure/record/growth.h"

#include <algorithm>
#include <random>

#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr Picoseconds ms = 1'000'000'000;

RequestDone done_of(std::int32_t id, Picoseconds ttft) {
  RequestDone out;
  out.id = id;
  out.arrival = id * ms;
  out.first_token = out.arrival + ttft;
  return out;
}

}  // namespace

TEST_CASE("halves are those of the requests as they were sent, in whatever order they end") {
  std::vector<RequestDone> requests;
  for (int i = 0; i < 100; ++i) requests.push_back(done_of(i, (i < 50 ? 10 : 30) * ms));
  requests[7].outcome = Outcome::rejected;  // counts in its half, and has no time
  std::mt19937 random(1);
  std::shuffle(requests.begin(), requests.end(), random);
  GrowthWatch watch;
  for (const RequestDone& each : requests) watch.on_done(each);
  const auto halves = watch.halves();
  REQUIRE(halves.has_value());
  CHECK(halves->early_s == Approx(0.010));
  CHECK(halves->late_s == Approx(0.030));
}

TEST_CASE("without a completed request in a half there are no halves") {
  GrowthWatch watch;
  CHECK_FALSE(watch.halves().has_value());
  watch.on_done(done_of(0, ms));
  CHECK_FALSE(watch.halves().has_value());  // of one request there is no first half
  RequestDone failed = done_of(1, ms);
  failed.outcome = Outcome::rejected;
  watch.on_done(failed);
  CHECK_FALSE(watch.halves().has_value());
}
