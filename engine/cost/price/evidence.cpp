#include "cost/price/evidence.h"

namespace rooflua {

double unsupported_share(const EvidenceShares& shares) {
  double sum = 0;
  for (const EvidenceWord& word : evidence_words) {
    if (word.unsupported) sum += shares[static_cast<std::size_t>(word.value)];
  }
  return sum;
}

std::string unsupported_names() {
  std::string out, last;
  for (const EvidenceWord& word : evidence_words) {
    if (!word.unsupported) continue;
    if (!last.empty()) out += (out.empty() ? "" : ", ") + last;
    last = word.name;
  }
  return out.empty() ? last : out + " or " + last;
}

}  // namespace rooflua
