#pragma once
// A play: requests that depend on each other, as an agent sends them. Rows wait for events of other
// rows. What is here never changes while the play is under way, so that forks share it.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serve/contract/request.h"
#include "serve/contract/row_event.h"

namespace rooflua {

/// An event of another row, and how much later.
struct RowTrigger {
  std::int32_t row = -1;  // index in the play, from 0; -1: none
  RowEvent event = RowEvent::done;
  double delay_s = 0;  // >= 0
};

struct PlayRow {
  RequestSpec spec;  // without arrival_s and segments
  /// The first `segments` of lists[list]. -1: private tokens.
  std::int32_t list = -1, segments = 0;
  std::vector<RowTrigger> parents;  // it is sent when all of them have happened
  double not_before_s = 0;          // after the start of the play
  RowTrigger cancel;                // the client goes away then
  bool warm = false;                // no metric counts it
  /// It is not sent before every warm row with a smaller barrier, of all plays that are under way,
  /// has ended.
  std::int32_t barrier = 0;
};

struct Play {
  static constexpr std::int32_t most_barriers = 8;

  double arrival_s = 0;  // of an open loop
  std::string name;
  std::vector<PlayRow> rows;
  /// Prompts, as far as rows share them: a row whose prompt goes on after that of another row uses
  /// the same list.
  std::vector<std::vector<Segment>> lists;

  std::span<const Segment> segments(const PlayRow& row) const {
    if (row.list < 0) return {};
    return std::span(lists[static_cast<std::size_t>(row.list)])
        .first(static_cast<std::size_t>(row.segments));
  }
  /// Gives the row these segments: those of `base` (-1: of no row), as far as they agree, in the
  /// same list. O(segments)
  void set_segments(PlayRow& row, std::span<const Segment> segments, std::int32_t base);
};

/// What hangs on events of a row.
struct RowListener {
  std::int32_t row = -1;  // which waits, or is cancelled
  bool cancels = false;
  RowTrigger trigger;  // its row: of the event
};

/// The listeners of all rows, by row and in order of the rows that wait.
class RowListeners {
 public:
  /// @throws Error at `where` that names row and field: unknown rows, times that are negative,
  /// circles, barriers out of range
  RowListeners(const Play& play, const std::string& where);
  std::span<const RowListener> of(std::int32_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return std::span(all_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  std::vector<RowListener> all_;
  std::vector<std::size_t> first_;
};

}  // namespace rooflua
