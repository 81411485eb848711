#pragma once
// What happens later, in the order in which it is due.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/clock.h"

namespace rooflua {

/// Something that reaches a replica or the router later. At one instant transfers come first, then
/// requests that leave the frontend, then requests that are sent; each in the order of posting.
struct Delivery {
  enum class Kind : std::int32_t { transfer, through_frontend, sent };
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

/// The end of a replica's step, or the time at which its scheduler wants to be asked. Alarms are
/// not taken back: one that no longer holds is skipped.
struct Alarm {
  Picoseconds time = 0;
  std::int32_t replica = 0;
  bool later_than(const Alarm& other) const {
    return time != other.time ? time > other.time : replica > other.replica;
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

 private:
  static bool later(const Event& a, const Event& b) { return a.later_than(b); }
  std::vector<Event> events_;
};

/// Alarms, of which the next ones are sorted: they can be looked at before they are due. Most of
/// those that come are later than all others, and then cost little.
class AlarmQueue {
 public:
  bool empty() const { return first_ == last_; }
  /// The alarm that is due first. @pre not empty
  const Alarm& front() const { return near_[first_]; }
  /// The one so many behind it, if that many are sorted; else null.
  const Alarm* ahead(std::size_t places) const {
    return first_ + places < last_ ? &near_[first_ + places] : nullptr;
  }
  /// Whether another alarm is as early as `time` or earlier, beside the front one. @pre not empty
  bool is_tied(Picoseconds time) const {
    const Alarm* next = ahead(1);
    return next != nullptr && next->time <= time;
  }
  void push(const Alarm& alarm) {
    const bool is_far = last_ - first_ >= few && alarm.later_than(near_[last_ - 1]);
    if (is_far || (!far_.empty() && alarm.later_than(near_[last_ - 1]))) return far_.push(alarm);
    if (last_ - first_ == most) far_.push(near_[--last_]);
    if (last_ == near_.size()) move_to_front();
    std::size_t place = last_++;
    for (; place > first_ && near_[place - 1].later_than(alarm); --place)
      near_[place] = near_[place - 1];
    near_[place] = alarm;
  }
  Alarm pop() {
    const Alarm out = near_[first_++];
    if (last_ - first_ < least && !far_.empty()) refill();
    return out;
  }

 private:
  static constexpr std::size_t least = 4, few = 16, most = 32;

  void move_to_front() {
    std::copy(near_.begin() + first_, near_.begin() + last_, near_.begin());
    last_ -= first_;
    first_ = 0;
  }
  void refill() {
    move_to_front();
    while (last_ < few && !far_.empty()) near_[last_++] = far_.pop();
  }

  std::array<Alarm, 4 * most> near_;  // [first_, last_), the earliest first
  std::size_t first_ = 0, last_ = 0;
  EventHeap<Alarm> far_;  // none is earlier than those; empty where these are fewer than `least`
};

}  // namespace rooflua
