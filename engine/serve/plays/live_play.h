#pragma once
// A play that is under way: where each of its rows stands, and what the play amounts to in the end.

#include <memory>
#include <vector>

#include "serve/contract/observer.h"
#include "serve/plays/play.h"
#include "serve/plays/seen_prompts.h"

namespace rooflua {

struct LiveRow {
  enum class State : std::int8_t { waiting, ready, sent, ended, left_out };
  State state = State::waiting;
  bool saw_first_token = false;
  Outcome outcome = Outcome::unfinished;
  std::int32_t missing = 0;      // parents that have not happened
  std::int32_t waited_for = -1;  // the parent whose event and delay came last
  RowEvent waited_event = RowEvent::sent;
  std::int32_t handle = -1, slot = -1, id = -1;
  std::int32_t cached_tokens = 0;
  std::int64_t ideal_tokens = 0;
  Picoseconds due = 0;  // not before; of the workload's own clock
  Picoseconds sent = never, scheduled = never, first_token = never, end = never;
  Picoseconds load = 0;
};

struct LivePlay {
  std::shared_ptr<const Play> play;
  std::shared_ptr<const RowListeners> listeners;
  std::int64_t number = -1;  // -1: the place is free
  Picoseconds start = 0;
  std::int32_t open = 0;  // rows that may still be sent, or run
  bool cut = false;
  std::vector<LiveRow> rows;
  std::vector<SeenPrompts::Mark> marks;  // by list

  LiveRow& row(std::int32_t index) { return rows[static_cast<std::size_t>(index)]; }
  const PlayRow& said(std::int32_t index) const {
    return play->rows[static_cast<std::size_t>(index)];
  }
  /// Everything but its path. @param path  filled, and pointed to
  PlayDone describe(Picoseconds now, std::vector<PlayStep>& path) const;

 private:
  void count(PlayDone& out) const;
  void find_path(PlayDone& out, std::vector<PlayStep>& path) const;
};

}  // namespace rooflua
