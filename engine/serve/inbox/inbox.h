#pragma once
// A workload whose requests are given from outside while the run goes: by the clients of an
// emulated server. It reads a workload of the scenario for the lengths of answers only.
//
// A request that a client sends arrives on a whole microsecond, after everything that has
// happened: a file with these times (serve/traces) replays to the same schedule.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "serve/contract/workload.h"
#include "serve/events/event_heap.h"

namespace rooflua {

class Inbox final : public Workload {
 public:
  /// @param lengths  the workload whose answers' lengths next_length() takes; null: none
  explicit Inbox(std::unique_ptr<Workload> lengths) : lengths_(std::move(lengths)) {}

  /// A request, whose row becomes its number, from 0. Segments are taken over: spec.segments is not
  /// read. Simulation::look_at_workload() must follow.
  /// @pre arrivals do not decrease
  /// @returns the number, which is the request's id in the simulation as well
  std::int32_t send(RequestSpec spec, std::vector<Segment> segments);
  /// Its client leaves at that time: it is cancelled, if it has not ended. look_at_workload() must
  /// follow. @pre the time is after its arrival, and not before now
  void leave(std::int32_t row, Picoseconds time) { leaving_.push({time, row}); }
  /// No request comes any more.
  void close() { is_open_ = false; }

  /// The length of the next answer: those of the scenario's workload in their order, again from its
  /// first where they are used up. 0: it has none that is known before the run.
  std::int32_t next_length();

  bool next(RequestSpec& spec) override;
  Picoseconds due() const override;
  void on_due(Picoseconds now, Client& client) override;
  bool shares_content() const override { return true; }

 private:
  static constexpr std::size_t most_lengths = 100'000;  // that are kept, to be used again
  struct Sent {
    RequestSpec spec;
    std::vector<Segment> segments;
  };
  struct Leaving {
    Picoseconds time = 0;
    std::int32_t row = -1;
    bool later_than(const Leaving& other) const {
      return time != other.time ? time > other.time : row > other.row;
    }
  };
  std::unique_ptr<Workload> lengths_;
  std::vector<std::int32_t> known_lengths_;
  std::size_t next_length_ = 0;
  std::deque<Sent> sent_;
  std::vector<Segment> segments_;  // of the request that next() gave last
  EventHeap<Leaving> leaving_;
  std::int32_t rows_ = 0;
  bool is_open_ = true;
};

}  // namespace rooflua
