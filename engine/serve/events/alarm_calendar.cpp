#include "serve/events/alarm_calendar.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

namespace rooflua {

namespace {
constexpr std::ptrdiff_t many = 16;  // alarms of a day, or others on its page
}

void AlarmCalendar::push(const Alarm& alarm) {
  if (free_ == none) {
    free_ = static_cast<std::int32_t>(entries_.size());
    entries_.emplace_back();
  }
  Entry& entry = entries_[static_cast<std::size_t>(free_)];
  const std::int64_t day = day_of(alarm);
  const std::size_t page = page_of(day);
  const std::int32_t free = std::exchange(free_, entry.next);
  entry = {alarm, std::exchange(first_of_[page], free)};
  used_[page / 64] |= std::uint64_t{1} << page % 64;
  today_ = count_ == 0 ? day : std::min(today_, day);
  ++count_;
  ++since_new_;
}

/// The first day from this one on whose page has an entry. @pre not empty
std::int64_t AlarmCalendar::next_used(std::int64_t day) const {
  const std::size_t page = page_of(day);
  std::size_t word = page / 64;
  std::uint64_t bits = used_[word] >> page % 64 << page % 64;
  std::int64_t of_word = day - static_cast<std::int64_t>(page % 64);
  for (; bits == 0; of_word += 64) {
    word = (word + 1) % used_.size();
    bits = used_[word];
  }
  return of_word + std::countr_zero(bits);
}

/// The alarms of that day leave its page. @returns how many others stay there
std::ptrdiff_t AlarmCalendar::take_from(std::int64_t day, std::vector<Alarm>& out) {
  const std::size_t page = page_of(day);
  std::ptrdiff_t others = 0;
  for (std::int32_t* link = &first_of_[page]; *link != none;) {
    Entry& entry = entries_[static_cast<std::size_t>(*link)];
    if (day_of(entry.alarm) != day) {
      link = &entry.next;
      ++others;
      continue;
    }
    out.push_back(entry.alarm);
    const std::int32_t taken = std::exchange(*link, entry.next);
    entry.next = std::exchange(free_, taken);
    --count_;
  }
  if (others == 0) used_[page / 64] &= ~(std::uint64_t{1} << page % 64);
  return others;
}

template <class See>
void AlarmCalendar::see_all(See see) const {
  for (std::size_t word = 0; word < used_.size(); ++word) {
    for (std::uint64_t bits = used_[word]; bits != 0; bits &= bits - 1) {
      std::int32_t entry = first_of_[64 * word + static_cast<std::size_t>(std::countr_zero(bits))];
      for (; entry != none; entry = entries_[static_cast<std::size_t>(entry)].next)
        see(entries_[static_cast<std::size_t>(entry)].alarm);
    }
  }
}

void AlarmCalendar::take_day(std::vector<Alarm>& out) {
  if ((crowded_ || sparse_) && since_new_ > count_ + pages)
    write_anew(sparse_ ? std::min(shift_ + 2, longest_day) : std::max(shift_ - 2, 0));
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  const std::int64_t last = today_ + pages;
  while (true) {
    today_ = next_used(today_);
    if (today_ >= last) {  // they have days beyond those that the pages can tell apart
      sparse_ = true;
      today_ = std::numeric_limits<std::int64_t>::max();
      see_all([this](const Alarm& each) { today_ = std::min(today_, day_of(each)); });
    }
    sparse_ |= take_from(today_, out) > many;
    if (std::ssize(out) > before) break;
    ++today_;
  }
  if (std::ssize(out) - before <= many) return;
  // Alarms of one time stay together however short a day is.
  crowded_ |= std::any_of(out.begin() + before, out.end(), [&](const Alarm& each) {
    return each.time != out[static_cast<std::size_t>(before)].time;
  });
}

/// All entries on the pages that they have where days are that long.
void AlarmCalendar::write_anew(int shift) {
  std::vector<Alarm> all;
  see_all([&](const Alarm& each) { all.push_back(each); });
  *this = AlarmCalendar{};
  shift_ = shift;
  for (const Alarm& each : all) push(each);
  since_new_ = 0;
}

}  // namespace rooflua
