#include "cost/price/ledger.h"

#include <algorithm>
#include <numeric>

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

}  // namespace rooflua
