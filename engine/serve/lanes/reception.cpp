#include "serve/lanes/reception.h"

#include <algorithm>
#include <cstddef>

namespace rooflua {

void Reception::add(std::int32_t slot, Picoseconds now) {
  if (bursts_.empty() || bursts_.back().at != now || bursts_.back().inside > 0)
    bursts_.push_back({now, {}, 0, 0});
  bursts_.back().slots.push_back(slot);
}

void Reception::let_in(std::int32_t plans, std::vector<std::int32_t>& slots) {
  const auto parts = static_cast<std::size_t>(plans);
  for (Burst& burst : bursts_) {
    if (burst.share == 0) burst.share = (burst.slots.size() + parts - 1) / parts;
    const std::size_t end = std::min(burst.slots.size(), burst.inside + burst.share);
    for (; burst.inside < end; ++burst.inside) {
      if (const std::int32_t slot = burst.slots[burst.inside]; slot >= 0) slots.push_back(slot);
    }
  }
  while (!bursts_.empty() && bursts_.front().inside == bursts_.front().slots.size())
    bursts_.pop_front();
}

bool Reception::has(std::int32_t slot) const {
  return std::any_of(bursts_.begin(), bursts_.end(), [slot](const Burst& burst) {
    const auto first = burst.slots.begin() + static_cast<std::ptrdiff_t>(burst.inside);
    return std::find(first, burst.slots.end(), slot) != burst.slots.end();
  });
}

bool Reception::remove(std::int32_t slot) {
  for (auto burst = bursts_.begin(); burst != bursts_.end(); ++burst) {
    std::vector<std::int32_t>& slots = burst->slots;
    const auto first = slots.begin() + static_cast<std::ptrdiff_t>(burst->inside);
    const auto found = std::find(first, slots.end(), slot);
    if (found == slots.end()) continue;
    if (burst->share == 0) {
      slots.erase(found);
    } else {
      *found = -1;
      while (slots.size() > burst->inside && slots.back() < 0) slots.pop_back();
    }
    if (slots.size() == burst->inside) bursts_.erase(burst);
    return true;
  }
  return false;
}

}  // namespace rooflua
