#pragma once
// What happens later, in the order in which it is due.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

/// Something that reaches a replica or the router later. At one instant flows and transfers come
/// first, then requests that leave the frontend, then requests that are sent; each in the order of
/// posting. `flows`: a flow over links begins to move or ends (links/flows.h), whichever it is.
struct Delivery {
  enum class Kind : std::int32_t { flows, transfer, through_frontend, sent };
  Picoseconds time = 0;
  Kind kind = Kind::transfer;
  std::int64_t serial = 0;  // order of posting
  std::int32_t slot = -1;
  std::int32_t to = -1;  // replica; of a transfer
  bool later_than(const Delivery& other) const {
    if (time != other.time) return time > other.time;
    if (kind != other.kind) return kind > other.kind;
    return serial > other.serial;
  }
};

template <typename Event>
class EventHeap {
 public:
  bool empty() const { return events_.empty(); }
  /// The event that is due first. @pre not empty
  const Event& front() const { return events_.front(); }
  void push(const Event& event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), later);
  }
  Event pop() {
    std::pop_heap(events_.begin(), events_.end(), later);
    const Event event = events_.back();
    events_.pop_back();
    return event;
  }
  template <class Use>
  void each(Use use) const {
    for (const Event& event : events_) use(event);
  }
  /// Without the events that `picks` holds for. O(events)
  template <class Picks>
  void erase_if(Picks picks) {
    std::erase_if(events_, picks);
    std::make_heap(events_.begin(), events_.end(), later);
  }

 private:
  static bool later(const Event& a, const Event& b) { return a.later_than(b); }
  std::vector<Event> events_;
};

}  // namespace rooflua
