// What the next steps read comes into the processor's cache before they end.

#include <algorithm>
#include <cstddef>
#include <span>

#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

// With so many replicas or fewer they stay in the cache.
constexpr std::size_t few_replicas = 64;

}  // namespace

/// The alarm that is due first leaves. Each of those after it moves up by one place, and what it
/// needs at its new place is fetched: none is left out, whichever way the steps take.
Alarm Simulation::take_alarm() {
  const Alarm out = core_.alarms.pop();
  prefetch_ahead();
  return out;
}

/// Where there are many replicas, none of them is in the processor's cache when its step ends.
/// Those of the next alarms come there meanwhile: first each itself, then what it points to, then
/// requests.
void Simulation::prefetch_ahead() const {
  constexpr std::size_t far = 3, near = 2, next = 1;  // after the front
  if (core_.replicas.size() <= few_replicas) return;
  if (const Alarm* alarm = core_.alarms.ahead(far)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    core_.replicas[index].prefetch();
    core_.runs[index].prefetch();
    __builtin_prefetch(&core_.groups[static_cast<std::size_t>(core_.group_of[index])]);
    __builtin_prefetch(core_.bindings.schedulers[index]);
    for (const Observer* observer : core_.bindings.observers) observer->expect_step(alarm->replica);
  }
  if (const Alarm* alarm = core_.alarms.ahead(near)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    core_.replicas[index].prefetch_parts();
    core_.runs[index].prefetch_price();
    __builtin_prefetch(
        core_.groups[static_cast<std::size_t>(core_.group_of[index])].members.data());
  }
  if (const Alarm* alarm = core_.alarms.ahead(next)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    core_.replicas[index].prefetch_requests();
  }
}

/// A router asks the holders of a prompt's first block one after the other; what they read of
/// their caches comes from all of them at once.
void Simulation::prefetch_prefixes(std::span<const std::int32_t> holders,
                                   std::uint64_t hash) const {
  using Line = BlockExtents::Part;
  constexpr std::size_t most = 16;  // more lines would not fit beside the rest
  if (core_.replicas.size() <= few_replicas) return;
  holders = holders.first(std::min(holders.size(), most));
  for (const Line part : {Line::index, Line::path, Line::lists}) {
    for (const std::int32_t holder : holders) replica(holder).kv().prefetch(hash, part);
  }
}

}  // namespace rooflua
