#include "serve/adapters/slots.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

AdapterSlots::AdapterSlots(const AdapterSlotsConfig& config)
    : config_(config), all_(config.slot_s.size()) {}

AdapterSlots::Answer AdapterSlots::ask(std::int32_t adapter, Picoseconds now) {
  if (adapter == 0) return Answer::yes;
  Adapter& own = of(adapter);
  if (own.users > 0) return Answer::yes;
  if (own.ready > now) return Answer::loading;
  const bool ahead = config_.load == AdapterLoad::admission;
  std::int32_t taken = in_use_;
  if (ahead)
    taken += static_cast<std::int32_t>(
        std::count_if(all_.begin(), all_.end(),
                      [now](const Adapter& each) { return each.users == 0 && each.ready > now; }));
  if (taken >= config_.slots) return Answer::no_slot;
  if (!ahead || own.slotted) return Answer::yes;
  link_free_ = after(std::max(link_free_, now), copy(adapter, now), "adapters");
  own.ready = link_free_;
  return own.ready > now ? Answer::loading : Answer::yes;
}

/// Of those that nothing needs now, what was used least recently.
template <class In>
AdapterSlots::Adapter& AdapterSlots::oldest(In in, Picoseconds now) {
  Adapter* found = nullptr;
  for (Adapter& each : all_)
    if (in(each) && !is_kept(each, now) && (found == nullptr || each.used < found->used))
      found = &each;
  ROOFLUA_ASSERT(found != nullptr);
  return *found;
}

/// Into a slot. @returns the seconds that it takes; 0: it is there
double AdapterSlots::copy(std::int32_t adapter, Picoseconds now) {
  Adapter& own = of(adapter);
  own.used = steps_ + 1;
  if (own.slotted) return 0;
  double time_s = config_.slot_s[static_cast<std::size_t>(adapter - 1)];
  if (!own.on_host) {
    time_s += config_.fetch_s[static_cast<std::size_t>(adapter - 1)];
    if (on_host_ == config_.cpu_slots) {  // what leaves the host leaves its slot, too
      Adapter& gone = oldest([](const Adapter& each) { return each.on_host; }, now);
      slotted_ -= gone.slotted;
      gone.on_host = gone.slotted = false;
      --on_host_;
    }
    own.on_host = true;
    ++on_host_;
  }
  if (slotted_ == config_.slots) {
    oldest([](const Adapter& each) { return each.slotted; }, now).slotted = false;
    --slotted_;
  }
  own.slotted = true;
  ++slotted_;
  ++loads_.count;
  loads_.time_s += time_s;
  return time_s;
}

void AdapterSlots::seat(std::int32_t adapter, Picoseconds now) {
  if (adapter == 0) return;
  if (of(adapter).users == 0) {
    copy(adapter, now);
    ++in_use_;
  }
  ++of(adapter).users;
}

void AdapterSlots::unseat(std::int32_t adapter) {
  if (adapter == 0) return;
  Adapter& own = of(adapter);
  ROOFLUA_ASSERT(own.users > 0);
  if (--own.users == 0) --in_use_;
}

void AdapterSlots::lose() {
  ROOFLUA_ASSERT(in_use_ == 0);
  for (Adapter& each : all_) each = Adapter{.used = each.used, .counted = each.counted};
  slotted_ = on_host_ = 0;
  link_free_ = 0;
}

}  // namespace rooflua
