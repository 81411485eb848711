#pragma once
// Ends of steps, in the order in which they are due.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "serve/events/alarm_calendar.h"

namespace rooflua {

/// Alarms, of which the next ones are sorted: they can be looked at before they are due.
class AlarmQueue {
 public:
  bool empty() const { return first_ == near_.size(); }
  /// The alarm that is due first. @pre not empty
  const Alarm& front() const { return near_[first_]; }
  /// The one so many after it, if that many are sorted; else null.
  const Alarm* ahead(std::size_t places) const {
    return first_ + places < near_.size() ? &near_[first_ + places] : nullptr;
  }
  /// Whether another alarm is as early as `time` or earlier, besides the front one. @pre not empty
  bool is_tied(Picoseconds time) const {
    const Alarm* next = ahead(1);
    return next != nullptr && next->time <= time;
  }
  void push(const Alarm& alarm) {
    const std::size_t sorted = near_.size() - first_;
    const bool may_be_far = sorted >= few || !far_.empty();
    if (may_be_far && alarm.later_than(near_.back())) return far_.push(alarm);
    if (sorted >= most) {
      far_.push(near_.back());
      near_.pop_back();
    }
    std::size_t place = near_.size();
    near_.push_back(alarm);
    for (; place > first_ && near_[place - 1].later_than(alarm); --place)
      near_[place] = near_[place - 1];
    near_[place] = alarm;
  }
  Alarm pop() {
    const Alarm out = near_[first_++];
    if (near_.size() - first_ < least && !far_.empty()) return refill(), out;
    if (first_ >= most) forget_past();
    return out;
  }

 private:
  static constexpr std::size_t least = 4, few = 16, most = 32;

  void forget_past() {
    near_.erase(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  void refill() {
    forget_past();
    while (near_.size() < few && !far_.empty()) {
      const auto sorted = static_cast<std::ptrdiff_t>(near_.size());
      far_.take_day(near_);
      std::sort(near_.begin() + sorted, near_.end(),
                [](const Alarm& a, const Alarm& b) { return b.later_than(a); });
    }
  }

  std::vector<Alarm> near_;  // from first_ on, the earliest first
  std::size_t first_ = 0;
  AlarmCalendar far_;  // none is earlier than those; empty where these are fewer than `least`
};

}  // namespace rooflua
