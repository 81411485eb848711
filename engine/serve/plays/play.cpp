#include "serve/plays/play.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua {

void Play::set_segments(PlayRow& row, std::span<const Segment> segments, std::int32_t base) {
  row.segments = static_cast<std::int32_t>(segments.size());
  row.list = -1;
  if (segments.empty()) return;
  if (base >= 0) row.list = rows[static_cast<std::size_t>(base)].list;
  if (row.list >= 0) {
    std::vector<Segment>& list = lists[static_cast<std::size_t>(row.list)];
    const auto differ = [](const Segment& a, const Segment& b) {
      return a.content != b.content || a.tokens != b.tokens;
    };
    const std::size_t most = std::min(list.size(), segments.size());
    std::size_t same = 0;
    while (same < most && !differ(list[same], segments[same])) ++same;
    if (same == segments.size()) return;
    if (same == list.size()) {
      list.insert(list.end(), segments.begin() + static_cast<std::ptrdiff_t>(same), segments.end());
      return;
    }
  }
  row.list = static_cast<std::int32_t>(lists.size());
  lists.emplace_back(segments.begin(), segments.end());
}

namespace {

struct Check {
  const Play& play;
  const std::string& where;

  [[noreturn]] void fail(std::size_t row, const std::string& what) const {
    throw Error(where, "row " + std::to_string(row + 1) + ": " + what);
  }
  void time(std::size_t row, double time_s, const char* field) const {
    if (time_s >= 0 && time_s <= latest_s) return;
    fail(row, std::string(field) + ": expected seconds >= 0, found " + std::to_string(time_s));
  }
  void trigger(std::size_t row, const RowTrigger& trigger, const std::string& field) const {
    time(row, trigger.delay_s, (field + ".delay_s").c_str());
    const auto rows = static_cast<std::int32_t>(play.rows.size());
    if (trigger.row < 0 || trigger.row >= rows)
      fail(row, field + ".row: there is no row " + std::to_string(trigger.row + 1) +
                    "; the play has " + std::to_string(rows));
    if (trigger.row == static_cast<std::int32_t>(row) && field != "cancel")
      fail(row, field + ".row: a row cannot wait for itself");
  }
  void rows() const {
    if (play.rows.empty()) throw Error(where, "rows: expected at least one row");
    for (std::size_t i = 0; i < play.rows.size(); ++i) {
      const PlayRow& row = play.rows[i];
      for (std::size_t k = 0; k < row.parents.size(); ++k)
        trigger(i, row.parents[k], "parents[" + std::to_string(k + 1) + "]");
      if (row.cancel.row >= 0) trigger(i, row.cancel, "cancel");
      time(i, row.not_before_s, "not_before_s");
      if (row.barrier < 0 || row.barrier >= Play::most_barriers)
        fail(i, "barrier: expected 0 to " + std::to_string(Play::most_barriers - 1) + ", found " +
                    std::to_string(row.barrier));
    }
  }
};

}  // namespace

RowListeners::RowListeners(const Play& play, const std::string& where) {
  const Check check{play, where};
  check.rows();
  const std::size_t count = play.rows.size();
  first_.assign(count + 1, 0);
  const auto each = [&](auto&& use) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto index = static_cast<std::int32_t>(i);
      for (const RowTrigger& parent : play.rows[i].parents) use(RowListener{index, false, parent});
      const RowTrigger& cancel = play.rows[i].cancel;
      if (cancel.row >= 0) use(RowListener{index, true, cancel});
    }
  };
  each([&](const RowListener& one) { ++first_[static_cast<std::size_t>(one.trigger.row) + 1]; });
  for (std::size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
  all_.resize(first_[count]);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  each([&](const RowListener& one) {
    all_[next[static_cast<std::size_t>(one.trigger.row)]++] = one;
  });

  std::vector<std::size_t> missing(count), ready;
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = play.rows[i].parents.size();
    if (missing[i] == 0) ready.push_back(i);
  }
  for (std::size_t k = 0; k < ready.size(); ++k) {
    for (const RowListener& one : of(static_cast<std::int32_t>(ready[k]))) {
      const auto row = static_cast<std::size_t>(one.row);
      if (!one.cancels && --missing[row] == 0) ready.push_back(row);
    }
  }
  if (ready.size() == count) return;
  const auto stuck = std::find_if(missing.begin(), missing.end(), [](auto m) { return m > 0; });
  check.fail(static_cast<std::size_t>(stuck - missing.begin()),
             "parents: the row waits for itself, or for rows that wait for themselves");
}

}  // namespace rooflua
