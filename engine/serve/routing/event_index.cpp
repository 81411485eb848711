#include "serve/routing/event_index.h"

#include "base/error.h"

namespace rooflua {

EventIndex::EventIndex(const RouterIndex& rules, std::size_t replicas)
    : events_(rules.loss, rules.seed),
      index_(rules, replicas, 2),
      lag_(picoseconds(rules.lag_s, "router: prefix_index: lag_s")),
      speculative_(picoseconds(rules.speculative_s, "router: prefix_index: speculative_s")) {}

void EventIndex::speculate(std::int32_t replica, std::span<const std::uint64_t> hashes,
                           Picoseconds now) {
  ROOFLUA_ASSERT(speculates());
  if (hashes.empty()) return;
  index_.add(index_.second(replica), hashes, 0, now);
  speculations_.push_back({now + speculative_, replica, {hashes.begin(), hashes.end()}});
}

void EventIndex::apply(const KvEvents::Event& event) {
  if (event.kept) {
    index_.add(event.replica, event.hashes, 0, event.time);
  } else {
    index_.remove(event.replica, event.hashes);
  }
}

/// Of what comes in one instant events are first.
void EventIndex::hear(Picoseconds now) {
  std::deque<KvEvents::Event>& pending = events_.pending();
  for (;;) {
    const Picoseconds told = pending.empty() ? never : pending.front().time + lag_;
    const Picoseconds ends = speculations_.empty() ? never : speculations_.front().end;
    if (std::min(told, ends) > now) return;
    if (told <= ends) {
      apply(pending.front());
      pending.pop_front();
    } else {
      const Speculation& over = speculations_.front();
      index_.remove(index_.second(over.replica), over.hashes);
      speculations_.pop_front();
    }
  }
}

}  // namespace rooflua
