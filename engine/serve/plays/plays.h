#pragma once
// The workload that runs plays (play.h): in lanes, one play after the other in each, or as they
// arrive. A row is sent at the latest of (event of each parent + its delay), not before its
// not_before_s. An event counts when the client sees it.
//
//   event        happens
//   sent         the request is sent
//   first_token  its first token reaches the client
//   done         its last token reaches the client
//   failed       it ends in any other way, cancelled included
//   ended        either of both
//
// A row that waits for an event that can come no more is left out, and so is what hangs on it. A
// play ends when every row of it has ended or is left out. O(log(rows that are due)) per event.
//
// The workload keeps rows until they are sent, on a clock of its own: the simulation's, and the
// idle time that was skipped besides (Options::idle_cap_s).
//
// @source AgentX of InferenceX (lanes, barrier, cap on idle time), Dynamo's agentic traces
// (dependencies with triggers and delays)

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/contract/workload.h"
#include "serve/events/event_heap.h"
#include "serve/plays/live_play.h"
#include "serve/plays/play.h"
#include "serve/plays/seen_prompts.h"

namespace rooflua {

class PlaySource {
 public:
  virtual ~PlaySource() = default;
  /// The next play; false: there is none, and it is not asked again.
  virtual bool next(Play& play) = 0;
  /// Null: it cannot be copied.
  virtual std::unique_ptr<PlaySource> fork() const = 0;
};

struct PlaysOptions {
  std::int32_t lanes = 0;  // plays at most at once; 0: plays come at their arrival_s
  bool shares_content = false;
  /// While no request is in flight, the next one is sent at most this much later. All that is still
  /// to be sent moves forward by the same amount.
  std::optional<double> idle_cap_s;
  std::optional<double> until_s;  // no request is sent from then on
  /// The same, so long after all warm rows have ended.
  std::optional<double> measured_s;
};

class Plays : public Workload {
 public:
  Plays(std::unique_ptr<PlaySource> source, const PlaysOptions& options);
  bool next(RequestSpec& spec) override;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override;
  bool watches_first_tokens() const override { return true; }
  void on_first_token(std::int32_t row, Picoseconds seen) override;
  Picoseconds due() const override;
  void on_due(Picoseconds now, Client& client) override;
  bool shares_content() const override { return options_.shares_content; }
  std::optional<Unsent> left_out() const override;
  std::unique_ptr<Workload> fork() const override;
  std::int64_t plays_under_way() const { return under_way_; }

 protected:
  Plays(const Plays& other, std::unique_ptr<PlaySource> source);
  PlaySource& source() const { return *source_; }

 private:
  enum class Kind : std::int8_t { fill, arrival, first_token, ended, send, cancel, late_cancel };
  enum class Reason : std::int8_t { failed, did_not_fail, cancelled, past_end };
  static constexpr std::size_t reasons = 4;
  struct Item {
    Picoseconds time = 0;  // of the own clock
    std::int64_t serial = 0, number = -1;
    std::int32_t place = -1, row = -1;
    Kind kind = Kind::fill;
    bool later_than(const Item& other) const {
      return time != other.time ? time > other.time : serial > other.serial;
    }
  };
  struct Handle {
    std::int32_t place = -1, row = -1;
  };

  void push(Picoseconds time, Kind kind, std::int32_t place = -1, std::int32_t row = -1);
  void handle(const Item& item, Client& client);
  void fill_lanes();
  void expect_arrival();
  bool ask(Play& play);
  void begin(Play play, Picoseconds start);
  void make_ready(std::int32_t place, std::int32_t row);
  void release_barriers();
  bool is_held(const PlayRow& row) const;
  std::int64_t warm_rows_open() const;
  void send(std::int32_t place, std::int32_t row, Client& client);
  void end(std::int32_t place, std::int32_t row);
  void cancel(const Item& item, Client& client);
  void fire(std::int32_t place, std::int32_t row, RowEvent event);
  void rule_out(std::int32_t place, std::int32_t row, RowEvent event, Reason reason);
  void leave_out(std::int32_t place, std::int32_t row, Reason reason);
  void close(std::int32_t place, std::int32_t row);
  void finish(std::int32_t place, Client& client);
  void stop(Client& client);
  void skip_idle_time();
  LivePlay& at(std::int32_t place) { return live_[static_cast<std::size_t>(place)]; }

  std::unique_ptr<PlaySource> source_;
  PlaysOptions options_;
  Picoseconds until_ = never, idle_cap_ = never;
  EventHeap<Item> items_;
  std::vector<Item> again_;  // cancels of requests that are sent at this very instant
  std::int64_t serial_ = 0;
  Picoseconds now_ = 0, skipped_ = 0, idle_since_ = 0;
  bool begun_ = false, exhausted_ = false, stopped_ = false;
  std::vector<LivePlay> live_;
  std::vector<std::int32_t> free_places_;
  std::int64_t under_way_ = 0, taken_ = 0, in_flight_ = 0, in_vain_ = 0;
  std::optional<Play> expected_;  // of an open loop
  Picoseconds last_arrival_ = 0;
  std::vector<Handle> handles_;
  std::vector<std::int32_t> free_handles_;
  std::vector<Handle> held_;                                   // at a barrier
  std::array<std::int64_t, Play::most_barriers> warm_open_{};  // by barrier
  std::array<std::int64_t, reasons> unsent_{};
  std::int64_t rows_ = 0;
  std::vector<Handle> unreachable_;
  std::vector<PlayStep> path_;
  SeenPrompts seen_;
};

}  // namespace rooflua
