#include "cost/ledger.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace rooflua {

Seconds EvidenceSeconds::total() const {
  return Seconds(std::accumulate(std::begin(seconds), std::end(seconds), 0.0));
}

void EvidenceSeconds::add(const EvidenceSeconds& other, double factor) {
  for (int i = 0; i < evidence_count; ++i) seconds[i] += other.seconds[i] * factor;
}

EvidenceShares EvidenceSeconds::shares() const {
  EvidenceShares shares{};
  const double sum = total() / unit::s;
  if (!(sum > 0)) return shares;
  double others = 0;
  const auto largest = std::max_element(std::begin(seconds), std::end(seconds)) - seconds;
  for (int i = 0; i < evidence_count; ++i) {
    if (i == largest) continue;
    shares[i] = seconds[i] / sum;
    others += shares[i];
  }
  shares[largest] = 1 - others;  // the rounding goes where it shows least
  return shares;
}

void Ledger::reset() {
  state_.account = {};
  rows_.clear();
}

void Ledger::record(LedgerRow row) {
  const double time_s = row.time_s * row.count;
  if (!std::isfinite(time_s) || time_s < 0) {
    throw Error("cost.record", row.name +
                                   ": time_s * count: expected a finite number, 0 or more, found " +
                                   std::to_string(time_s));
  }
  state_.account.add(row.evidence, Seconds(time_s));
  if (listening()) rows_.push_back(std::move(row));
}

void Ledger::settle(Seconds time) {
  const double wanted = time / unit::s, recorded = state_.account.total() / unit::s;
  if (!std::isfinite(wanted) || wanted < 0) {
    throw Error("step",
                "time_s: expected a finite number, 0 or more, found " + std::to_string(wanted));
  }
  if (recorded > 0) {
    for (double& seconds : state_.account.seconds) seconds *= wanted / recorded;
  } else {
    state_.account = {};
    state_.account.add(Evidence::assumed, time);
  }
}

}  // namespace rooflua
