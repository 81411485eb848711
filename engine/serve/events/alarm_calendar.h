#pragma once
// Alarms by the time at which they are due: a calendar queue, in which it costs the same to put one
// in, or to take those that are next, however many there are.
// @source R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the simulation
//         event set problem", CACM 31 (1988)

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

/// The end of a replica's step, or the time at which its scheduler wants to be asked. Alarms are
/// not taken back: one that no longer holds is skipped.
struct Alarm {
  Picoseconds time = 0;
  std::int32_t replica = 0;
  bool later_than(const Alarm& other) const {
    return time != other.time ? time > other.time : replica > other.replica;
  }
};

/// Time is cut into days of 2^shift_ ps. A page holds the alarms of every 1,024th day, in no order.
/// The length of a day follows the alarms, so that few of them fall on one.
class AlarmCalendar {
 public:
  AlarmCalendar() { first_of_.fill(none); }

  bool empty() const { return count_ == 0; }
  void push(const Alarm& alarm);
  /// Moves all alarms of the first day that has any after those of `out`. @pre not empty
  void take_day(std::vector<Alarm>& out);

 private:
  static constexpr std::int32_t none = -1;
  static constexpr std::int64_t pages = 1024;
  static constexpr int longest_day = 50;  // as a power of two: 19 minutes

  struct Entry {
    Alarm alarm;
    std::int32_t next = none;  // on the same page, or free
  };

  std::int64_t day_of(const Alarm& alarm) const { return alarm.time >> shift_; }
  static std::size_t page_of(std::int64_t day) { return static_cast<std::size_t>(day % pages); }
  std::int64_t next_used(std::int64_t day) const;
  std::ptrdiff_t take_from(std::int64_t day, std::vector<Alarm>& out);
  template <class See>
  void see_all(See see) const;
  void write_anew(int shift);

  std::array<std::int32_t, pages> first_of_;      // entry of each page
  std::array<std::uint64_t, pages / 64> used_{};  // bit of each page that has an entry
  std::vector<Entry> entries_;
  std::int32_t free_ = none;
  std::int64_t today_ = 0;  // no alarm is on a day before it
  std::int64_t count_ = 0;
  int shift_ = 33;              // 9 ms
  std::int64_t since_new_ = 0;  // alarms that came since all were written anew
  // Since then: a day had many alarms; a page had many of other days, or all were far ahead.
  bool crowded_ = false, sparse_ = false;
};

}  // namespace rooflua
