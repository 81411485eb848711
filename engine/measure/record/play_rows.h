#pragma once
// The requests of plays (serve/plays/play.h) that are under way, as observers see them. What ended
// is given away when its play is over, so that memory does not grow with the run.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua {

/// A request of a play that was sent and has ended.
struct PlayRequest {
  std::int32_t row = 0, id = -1;  // the row from 0
  bool warm = false;
  Outcome outcome = Outcome::unfinished;
  /// As in RequestDone; `end`: when the client knows.
  Picoseconds sent = 0, scheduled = never, first_token = never, end = 0, load = 0;
};

class PlayRows {
 public:
  void on_row(const RowSent& row) { under_way_[row.id] = {row.play, {row.row, row.id, row.warm}}; }
  /// @returns whether the request was one of a play
  bool on_done(const RequestDone& done);
  /// Those of a play that is over, in order of its rows. They are not kept.
  std::vector<PlayRequest> take(std::int64_t play);

 private:
  struct UnderWay {
    std::int64_t play = 0;
    PlayRequest request;
  };
  std::map<std::int32_t, UnderWay> under_way_;              // by id
  std::map<std::int64_t, std::vector<PlayRequest>> ended_;  // by play
};

/// A play that is over, as a list has it.
struct PlayEnded {
  explicit PlayEnded(const PlayDone& done);
  /// Whether it is one of those whose time the metrics of a run count.
  bool counts() const { return !cut && failed == 0; }

  std::int64_t play = 0;  // from 0, in the order in which plays begin
  std::string name;
  Picoseconds start = 0, end = 0;
  bool cut = false;
  std::int32_t completed = 0, failed = 0, cancelled = 0, left_out = 0;  // rows, as in PlayDone
};

/// The plays of a run, in the order in which they ended.
class PlayList : public Observer {
 public:
  bool reads_prices() const override { return false; }
  void on_play(const PlayDone& play) override { ended_.emplace_back(play); }
  const std::vector<PlayEnded>& ended() const { return ended_; }

 private:
  std::vector<PlayEnded> ended_;
};

}  // namespace rooflua
