#include "serve/lanes/reception.h"

#include <algorithm>

namespace rooflua {

void Reception::add(std::int32_t slot, Picoseconds now) {
  if (bursts_.empty() || bursts_.back().at != now || bursts_.back().inside > 0)
    bursts_.push_back({now, {}, 0});
  bursts_.back().slots.push_back(slot);
}

void Reception::let_in(std::int32_t plans, std::vector<std::int32_t>& slots) {
  const auto parts = static_cast<std::size_t>(plans);
  for (Burst& burst : bursts_) {
    const std::size_t share = (burst.slots.size() + parts - 1) / parts;
    const std::size_t end = std::min(burst.slots.size(), burst.inside + share);
    for (; burst.inside < end; ++burst.inside) slots.push_back(burst.slots[burst.inside]);
  }
  while (!bursts_.empty() && bursts_.front().inside == bursts_.front().slots.size())
    bursts_.pop_front();
}

}  // namespace rooflua
