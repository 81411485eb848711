#pragma once
// The steps of one replica that are planned and not over: at most one runs, and at most
// async_depth - 1 wait after it. @source SERVING A1.7
//
// A decoding request's last token may be in one of these steps. At the common pace
// (lanes/decode_pool.h) no request is stamped: common_token_at() is the moment of all of them. A
// request that leaves the common pace is noted at the step that lands its last token, which stamps
// it.
//
// Invariant: 0 <= planned() <= depth; a running step is the front one.

#include <array>
#include <cstdint>
#include <vector>

#include "serve/contract/batch.h"
#include "serve/contract/clock.h"
#include "serve/contract/request.h"

namespace rooflua {

/// A planned step: it runs, or waits after the one that runs.
struct Step {
  std::int64_t serial = 0;  // of its plan
  Picoseconds planned = 0, start = 0, end = 0;
  Batch batch;  // `prefills` is set when it lands
  StepPrice price;
  std::int64_t decode_index = -1;  // DecodePool::index() before it; -1: no step of all decodes
  std::int32_t waiting = 0, running = 0, used_blocks = 0;  // right after the plan
  bool lacks_blocks = false;                               // StepDone
  std::int32_t discarded = 0;  // decodes of requests that ended or were aborted meanwhile
  /// Nothing but a step of all decodes: the vectors below are empty, and nothing is discarded.
  bool plain = false;
  std::vector<PrefillWork> prefills;
  // Where the replica speculates, which sets them for every step: its decodes in admission order.
  std::vector<Row> rows;
  // Of the rows that land: drafts that they verified, accepted drafts, and of these such after an
  // end; how many rows accepted 0, 1, ... drafts.
  std::int32_t drafted = 0, accepted = 0, overshoot = 0;
  std::vector<std::int32_t> accepted_counts;
  std::vector<std::int32_t> own_gaps;  // slots whose gap is counted from their own last token
  std::vector<std::int32_t> stamps;    // slots whose Progress::last_token is this step's end
  std::vector<std::int32_t> ending;    // slots whose last token lands, in admission order
  std::vector<std::int32_t> skipped;   // ids of decoding requests that got no token
  std::vector<std::int32_t> fills;     // slots: a planned step fills a block with a token of this
                                       // one, so the block is known when this one lands
  std::vector<Filled> filled;  // blocks that it fills with generated tokens which stores may get
};

class Pipeline {
 public:
  explicit Pipeline(std::int32_t depth) : depth_(depth) {}

  std::int32_t planned() const { return planned_; }
  bool full() const { return planned_ == depth_; }
  bool executing() const { return executing_; }
  /// @pre planned() > 0
  const Step& front() const { return steps_[static_cast<std::size_t>(first_)]; }
  /// The step at that place, the front one at 0. @pre place < planned()
  Step& at(std::int32_t place) { return steps_[static_cast<std::size_t>((first_ + place) & 1)]; }
  const Step& at(std::int32_t place) const {
    return steps_[static_cast<std::size_t>((first_ + place) & 1)];
  }

  /// The step planned last. @pre planned() > 0
  Step& last() { return at(planned_ - 1); }
  /// An empty step after the others, but for what the part about rows says. @pre not full()
  Step& append();
  /// The same with the batch of the front step, which is plain and ran: it has left.
  Step& replace_plain();
  /// The front step runs until `end`. @pre it is planned and none runs
  void start(Picoseconds now, Picoseconds end);
  /// The running step is over: its tokens get their times. It leaves with retire().
  /// @param gaps  gets the gaps between tokens that are counted request by request
  /// @returns the gap that the other tokens have in common, and how many have it
  struct CommonGap {
    Picoseconds gap = 0;
    std::int32_t count = 0;
  };
  CommonGap stamp_plain(Picoseconds now);  // of a plain step
  /// The same gap, before the step is over.
  CommonGap gap_of_plain() const { return {front().end - common_token_, front().batch.decodes}; }
  /// Plain steps ended, the last of them now, and others are planned in their places.
  void pass(Picoseconds now) { common_token_ = now; }
  CommonGap stamp_decodes(Requests& requests, Picoseconds now, std::vector<Picoseconds>& gaps);
  void stamp_prefills(Requests& requests, Picoseconds now, std::vector<Picoseconds>& gaps);
  /// Prompts whose first token a planned step computes.
  std::int32_t landing_prompts(const Requests& requests) const;
  /// The front step, which ran, leaves. The reference holds until the next append().
  const Step& retire();
  /// No step is planned any more, and none ends.
  void clear() {
    planned_ = 0;
    executing_ = false;
  }

  /// Brings what the front step holds into the processor's cache.
  void prefetch() const {
    const auto* bytes = reinterpret_cast<const char*>(&front());
    for (std::size_t at = 0; at < sizeof(Step); at += 64) __builtin_prefetch(bytes + at);
    __builtin_prefetch(&common_token_);
  }

  /// Whether the step planned last lands the last token of a decoding request.
  bool last_step_lands(std::int32_t slot, const Progress& progress) const;
  /// A decoding request leaves the common pace: Progress::last_token is set, now or when the step
  /// that holds its last token lands. @pre it is at the common pace
  void leave_common_pace(std::int32_t slot, Progress& progress);
  /// A request ended in the front step, and the step after it computes one more token of it: that
  /// does not land.
  void discard_behind(std::int32_t slot);

 private:
  /// Where the step after the one at `place` of steps_ stands.
  std::int32_t behind(std::int32_t place) const { return depth_ > 1 ? place ^ 1 : place; }

  std::array<Step, 2> steps_;  // with a depth of 1 the first
  std::int32_t depth_;
  std::int32_t first_ = 0, planned_ = 0;
  bool executing_ = false;
  Picoseconds common_token_ = 0;  // end of the last step of all decodes that landed
};

}  // namespace rooflua
