// A watch says "missed" while the run goes, and the quantile at the end is above its limit; it says
// nothing where the quantile holds.

#include "measure/record/quantile_watch.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "measure/record/summary.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr Picoseconds ms = 1'000'000'000;

RequestDone done_of(std::int32_t id, Picoseconds ttft, Picoseconds gap, std::int32_t tokens) {
  RequestDone out;
  out.id = id, out.replica = 0;
  out.arrival = out.queued = out.scheduled = id * ms;
  out.first_token = out.arrival + ttft;
  out.last_token = out.now = out.first_token + gap * (tokens - 1);
  out.prompt_tokens = 1, out.output_tokens = tokens;
  return out;
}

std::int64_t most_above(std::int64_t n, double q) {
  return n - static_cast<std::int64_t>(std::floor(q * static_cast<double>(n - 1))) - 1;
}

double p99_of(const Summary& summary, QuantileLimit::Metric metric) {
  if (metric == QuantileLimit::Metric::ttft) return summary.ttft_s.p99;
  return metric == QuantileLimit::Metric::tpot ? summary.tpot_s.p99 : summary.e2e_s.p99;
}

}  // namespace

TEST_CASE("a watch misses exactly where the quantile of the whole run is above its limit") {
  std::mt19937 random(3);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int missed = 0, held = 0, early = 0;
  for (int run = 0; run < 400; ++run) {
    const int count = draw(1, 300);
    const auto metric = static_cast<QuantileLimit::Metric>(run % 3);
    const double limit_s = metric == QuantileLimit::Metric::tpot ? 0.0098 : 0.098;
    QuantileWatch watch({{metric, limit_s, most_above(count, 0.99)}});
    SummaryObserver summary;
    int at = 0;
    for (int i = 0; i < count; ++i) {
      const RequestDone each = done_of(i, draw(1, 99) * ms, draw(1, 99) * ms / 10,
                                       metric == QuantileLimit::Metric::e2e ? 1 : draw(1, 5));
      watch.on_done(each);
      summary.on_done(each);
      if (watch.missed() && at == 0) at = i + 1;
    }
    const double p99_s = p99_of(summary.summary(), metric);
    if (watch.missed()) CHECK(p99_s > limit_s);
    if (metric != QuantileLimit::Metric::tpot && p99_s > limit_s + 0.001) CHECK(watch.missed());
    missed += watch.missed(), held += !watch.missed(), early += watch.missed() && at < count;
  }
  CHECK(missed > 50);
  CHECK(held > 50);
  CHECK(early > 50);
}

TEST_CASE("a request that was not completed is a miss") {
  QuantileWatch watch({});
  watch.on_done(done_of(0, ms, ms, 2));
  CHECK_FALSE(watch.missed());
  RequestDone rejected = done_of(1, ms, ms, 2);
  rejected.outcome = Outcome::rejected;
  watch.on_done(rejected);
  CHECK(watch.missed());
}

TEST_CASE("a limit that is reached and not exceeded holds") {
  QuantileWatch watch({{QuantileLimit::Metric::ttft, 0.1, 0}});
  watch.on_done(done_of(0, 100 * ms, ms, 2));
  CHECK_FALSE(watch.missed());
  watch.on_done(done_of(1, 100 * ms + 1, ms, 2));
  CHECK(watch.missed());
}
