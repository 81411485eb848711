#pragma once
// The trace of a run in Chrome's format, which chrome://tracing and ui.perfetto.dev open.
//
// One process per replica with its steps on one track, named (and so coloured) by what they hold
// and what bounds them ("decode, memory"), preemptions as marks, and counters for its queue, its
// running requests, the tokens of its batch and its KV cache, which fall to rest while it idles.
// One process with a span per request: queue, prefill, decode, and within them the times when it
// was preempted. A request of a play says which play and which row, both from 1. The file is
// written as the run goes; memory does not grow with the run.

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "measure/write/text_out.h"
#include "serve/contract/observer.h"

namespace rooflua {

struct TimelineOptions {
  std::int64_t requests = 20'000;  // spans for so many requests, those that end first
  std::int64_t steps = 1'000'000;  // and so many steps; what was left out stands in the trace
  std::vector<std::string> classes;
  std::vector<std::string> replicas;  // names by index; "replica 3" where there is none
};

class Timeline : public Observer {
 public:
  Timeline(std::ostream& out, std::string name, TimelineOptions options = {});

  PriceDetail wanted_detail(const Batch&) const override { return PriceDetail::bound; }
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_blocks(const BlocksChanged& blocks) override;
  void on_replica(const ReplicaChanged& change) override;
  void on_row(const RowSent& row) override { rows_[row.id] = row; }
  void on_done(const RequestDone& done) override;

  /// The run was stopped: `why` becomes otherData.partial.
  void partial(Json why) { partial_ = std::move(why); }
  /// Closes the document; call once. @throws Error if something could not be written
  void finish();

 private:
  struct Counters {
    bool known = false;
    std::int64_t queue = -1, running = -1, tokens = -1, blocks = -1;
    Picoseconds end = 0;  // of its last step
    std::int64_t left_blocks = 0;
    std::vector<Picoseconds> tracks;  // ends of the last steps, where steps overlap
  };

  Counters& replica(std::int32_t index);
  void rest(std::int32_t index);
  void resume(const StepDone& step);
  std::size_t track_of(const StepDone& step);
  void add_rows(const StepDone& step);
  void open_event(const char* phase, std::int64_t process, Picoseconds time, std::size_t track = 0);
  void name_process(std::int64_t process, const std::string& name);
  void counter(std::int32_t index, Picoseconds time, const char* name, std::int64_t value,
               std::int64_t& last);
  void add_row(std::int32_t request);
  void span(std::int32_t request, std::string_view name, Picoseconds from, Picoseconds to);

  TextOut out_;
  TimelineOptions options_;
  std::vector<Counters> replicas_;
  std::map<std::int32_t, RowSent> rows_;          // requests of plays that have not ended
  std::map<std::int32_t, Picoseconds> unseated_;  // preempted requests, since when
  std::int64_t requests_ = 0, steps_ = 0;
  Json partial_;  // null: the run went to its end
};

}  // namespace rooflua
