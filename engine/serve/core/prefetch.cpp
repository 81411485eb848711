// What the next steps read comes into the processor's cache before they end.

#include <algorithm>
#include <cstddef>
#include <span>

#include "serve/core/core.h"

namespace rooflua {

namespace {

// With so many replicas or fewer they stay in the cache.
constexpr std::size_t few_replicas = 64;

}  // namespace

/// The alarm that is due first leaves. Each of those after it moves up by one place, and what it
/// needs at its new place is fetched: none is left out, whichever way the steps take.
Alarm Core::take_alarm() {
  const Alarm out = alarms.pop();
  prefetch_ahead();
  return out;
}

/// Where there are many replicas, none of them is in the processor's cache when its step ends.
/// Those of the next alarms come there meanwhile: first each itself, then what it points to, then
/// requests.
void Core::prefetch_ahead() const {
  constexpr std::size_t far = 3, near = 2, next = 1;  // after the front
  if (replicas.size() <= few_replicas) return;
  if (const Alarm* alarm = alarms.ahead(far)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    replicas[index].prefetch();
    runs[index].prefetch();
    __builtin_prefetch(&groups[static_cast<std::size_t>(group_of[index])]);
    __builtin_prefetch(bindings.schedulers[index]);
    for (const Observer* observer : bindings.observers) observer->expect_step(alarm->replica);
  }
  if (const Alarm* alarm = alarms.ahead(near)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    replicas[index].prefetch_parts();
    runs[index].prefetch_price();
    __builtin_prefetch(groups[static_cast<std::size_t>(group_of[index])].members.data());
  }
  if (const Alarm* alarm = alarms.ahead(next)) {
    const auto index = static_cast<std::size_t>(alarm->replica);
    replicas[index].prefetch_requests();
  }
}

/// A router asks the holders of a prompt's first block one after the other; what they read of
/// their caches comes from all of them at once.
void Core::prefetch_prefixes(std::span<const std::int32_t> holders, std::uint64_t hash) const {
  using Line = BlockExtents::Part;
  constexpr std::size_t most = 16;  // more lines would not fit beside the rest
  if (replicas.size() <= few_replicas) return;
  holders = holders.first(std::min(holders.size(), most));
  for (const Line part : {Line::index, Line::path, Line::lists}) {
    for (const std::int32_t holder : holders) at(holder).kv().prefetch(hash, part);
  }
}

}  // namespace rooflua
