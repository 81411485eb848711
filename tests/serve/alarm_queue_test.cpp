// Alarms come out in the order in which they are due, whatever the order in which they came.

#include "serve/events/alarm_queue.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <utility>

#include "tests/catch.h"

using namespace rooflua;

namespace {

using Due = std::pair<Picoseconds, std::int32_t>;

/// The queue, and what it must say.
struct Both {
  AlarmQueue queue;
  std::multiset<Due> all;

  void push(Picoseconds time, std::int32_t replica) {
    queue.push({time, replica});
    all.insert({time, replica});
  }
  void check() const {
    REQUIRE(queue.empty() == all.empty());
    if (all.empty()) return;
    REQUIRE(queue.front().time == all.begin()->first);
    const bool tied = all.size() > 1 && std::next(all.begin())->first == all.begin()->first;
    REQUIRE(queue.is_tied(queue.front().time) == tied);
    std::size_t place = 0;
    for (auto each = all.begin(); each != all.end(); ++each, ++place) {
      const Alarm* alarm = queue.ahead(place);
      if (alarm == nullptr) break;
      REQUIRE(Due{alarm->time, alarm->replica} == *each);
    }
    REQUIRE(place >= std::min<std::size_t>(all.size(), 4));  // what prefetching looks at
  }
  Due pop() {
    const Alarm alarm = queue.pop();
    all.erase(all.find({alarm.time, alarm.replica}));
    return {alarm.time, alarm.replica};
  }
};

}  // namespace

TEST_CASE("alarms that come at random leave in the order of their times") {
  std::mt19937 random(7);
  const auto below = [&](int limit) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(limit));
  };
  for (const int spread : {3, 40, 100000}) {  // the first has many of the same time
    Both both;
    Picoseconds now = 0;
    for (int i = 0; i < 4000; ++i) {
      const bool grows = i % 400 < 200;
      if (both.all.empty() || below(10) < (grows ? 7 : 3))
        both.push(now + below(spread), below(500));
      else
        now = both.pop().first;
      both.check();
    }
    while (!both.all.empty()) both.pop(), both.check();
  }
}

TEST_CASE("an alarm that is due before all others is the next one, however many there are") {
  Both both;
  for (int i = 1000; i > 0; --i) {
    both.push(i, i % 3);
    both.check();
    REQUIRE(both.queue.front().time == i);
  }
  Picoseconds last = 0;
  while (!both.all.empty()) {
    const Picoseconds time = both.pop().first;
    REQUIRE(time > last);
    last = time;
  }
}

TEST_CASE("alarms leave in order on every scale of time, in bursts and far apart") {
  std::mt19937_64 random(11);
  Both both;
  Picoseconds now = 0;
  const auto at_random = [&](Picoseconds below) {
    return static_cast<Picoseconds>(random() % static_cast<std::uint64_t>(below));
  };
  const auto add = [&](int count, Picoseconds later, Picoseconds spread) {
    for (int i = 0; i < count; ++i)
      both.push(now + later + at_random(spread), static_cast<std::int32_t>(at_random(3000)));
  };
  for (int round = 0; round < 60; ++round) {
    const auto scale = Picoseconds{1} << at_random(47);  // 1 ps to a minute
    add(300, 0, scale);
    add(100, scale, 1);  // all at one time
    add(100, 3 * scale, 1 + scale / 1000);
    add(10, 5000 * scale / 3, scale);  // further ahead than the days of a calendar
    for (int i = 0; i < 20000; ++i) {  // as many as before, as replicas that step do
      REQUIRE(both.queue.front().time == both.all.begin()->first);
      const Due due = *both.all.begin();
      REQUIRE(both.pop() == due);
      now = due.first;
      both.push(now + scale / 2 + at_random(1 + scale / 8), due.second);
    }
    while (both.all.size() > 100) {
      const Due due = *both.all.begin();
      REQUIRE(both.pop() == due);
      now = due.first;
    }
    both.check();
  }
}
