#include "measure/record/quantile_watch.h"

#include <utility>

#include "measure/record/summary.h"

namespace rooflua {

namespace {

/// As SummaryObserver has it: a request with one token has no TPOT.
bool is_above(const QuantileLimit& limit, const RequestDone& done) {
  const Picoseconds ttft = done.first_token - done.arrival, e2e = done.last_token - done.arrival;
  switch (limit.metric) {
    case QuantileLimit::Metric::ttft:
      return seconds(ttft) > limit.limit_s;
    case QuantileLimit::Metric::e2e:
      return seconds(e2e) > limit.limit_s;
    case QuantileLimit::Metric::tpot:
      break;
  }
  return done.output_tokens > 1 && tpot_ps(ttft, e2e, done.output_tokens) / 1e12 > limit.limit_s;
}

}  // namespace

QuantileWatch::QuantileWatch(std::vector<QuantileLimit> limits)
    : limits_(std::move(limits)), above_(limits_.size(), 0) {}

void QuantileWatch::on_done(const RequestDone& done) {
  if (done.outcome != Outcome::completed) {
    missed_ = true;
    return;
  }
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (is_above(limits_[i], done) && ++above_[i] > limits_[i].most_above) missed_ = true;
  }
}

}  // namespace rooflua
