// Which parts there are.

#include <algorithm>

#include "measure/parts/part.h"

namespace rooflua {

// Each is in the file of its name.
extern const PartRow speculation_part, links_part, tiers_part, pools_part, split_part, clients_part,
    faults_part, encoder_part, experts_part, adapters_part, plays_part, gate_part, frontend_part,
    fairness_part;

std::span<const PartRow* const> parts() {
  static constexpr const PartRow* all[] = {
      &speculation_part, &links_part,  &tiers_part,    &pools_part,    &split_part,
      &clients_part,     &faults_part, &encoder_part,  &experts_part,  &adapters_part,
      &plays_part,       &gate_part,   &frontend_part, &fairness_part,
  };
  return all;
}

std::vector<const PartRow*> parts_at(PartPosition PartRow::*where, PartPosition::Spot spot) {
  std::vector<const PartRow*> out;
  for (const PartRow* part : parts()) {
    if ((part->*where).spot == spot) out.push_back(part);
  }
  std::stable_sort(out.begin(), out.end(), [where](const PartRow* a, const PartRow* b) {
    return (a->*where).rank < (b->*where).rank;
  });
  return out;
}

}  // namespace rooflua
