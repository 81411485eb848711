#pragma once
// Which plays a report draws, and their requests: the play of the median, the slowest one, and one
// that was asked for. Memory stays flat however many plays there are, and however long they are.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "measure/record/play_rows.h"
#include "measure/record/quantile.h"

namespace rooflua {

/// A request of a play as it is drawn. Times count from the start of the play.
struct DrawnRow {
  std::int32_t row = 0, id = -1;
  Outcome outcome = Outcome::unfinished;
  Picoseconds sent = 0, scheduled = 0, first_token = 0, end = 0, load = 0;
  bool on_path = false;
  std::int32_t after = -1;  // on the path: the row that it waited for; -1: none
  Picoseconds from = 0;     // the event of that row, or 0
};

/// A play with the rows that are drawn: of its critical path those that took longest, and of the
/// others those that ran longest. What is left out is counted. Warm requests are none of these.
struct DrawnPlay {
  static constexpr std::size_t most_rows = 40, most_on_path = 30;
  /// @param requests  all that were sent of it, by row
  DrawnPlay(const PlayDone& play, const std::vector<PlayRequest>& requests);

  PlayEnded play;
  std::vector<DrawnRow> rows;  // by the time at which they were sent
  std::int64_t path_left = 0, beside_left = 0;
  Picoseconds path_left_time = 0;
};

class PlaySketch {
 public:
  static constexpr std::size_t most_kept = 64;
  /// @param asked  a play that is drawn besides, from 0
  explicit PlaySketch(std::optional<std::int64_t> asked = {}) : asked_(asked) {}

  void on_row(const RowSent& row) { rows_.on_row(row); }
  void on_done(const RequestDone& done) { rows_.on_done(done); }
  void on_play(const PlayDone& play);

  /// [{what: ["asked", "median", "slowest"], play, name, play_s, rows: [...], path_left,
  /// path_left_s, beside_left}]; null where there is none. Of up to most_kept plays the median is
  /// that of measure.why_play. Of more it is the nearest among plays that are evenly spaced in
  /// their order, and `median_s` says what it is near to.
  Json json() const;

 private:
  struct Kept {
    std::int64_t number = 0;  // among the plays that count
    DrawnPlay drawn;
  };
  const DrawnPlay* median() const;

  std::optional<std::int64_t> asked_;
  PlayRows rows_;
  LogHistogram times_;
  std::int64_t stride_ = 1;
  std::vector<Kept> kept_;
  std::optional<DrawnPlay> slowest_, asked_play_;
};

}  // namespace rooflua
