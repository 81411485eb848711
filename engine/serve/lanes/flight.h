#pragma once
// What a replica with several stages has besides: the steps under way after the front one, and
// when the stages are free.
//
// As in vLLM's queue of batches: while there is room, the next step is planned at once; else, and
// when there is nothing to plan, the replica waits for the oldest step. A request whose token is in
// flight is in phase in_flight: it has left the decode pool, cannot be planned, and decodes again
// when the token lands. So requests that decode in one step come back together: a lane. Those that
// are admitted at that instant join it. A prompt's next chunk may be planned while the one before
// is under way.
//
// The front step is in Pipeline, which with stages holds no other one; seats, blocks and queue are
// shared by the lanes.
//
// Invariant: behind is empty while Pipeline holds no step; the ends of front and behind increase.
//
// @source vLLM v1/engine/core.py (step_with_batch_queue), SGLang managers/scheduler_pp_mixin.py

#include <cstdint>
#include <deque>

#include "serve/contract/batch.h"
#include "serve/contract/pipeline.h"
#include "serve/events/stage_clock.h"

namespace rooflua {

struct Flight {
  explicit Flight(const StageConfig& stages) : clock(stages), most(stages.most_batches()) {}

  StageClock clock;
  std::int32_t most;          // steps under way at once
  std::deque<Step> behind;    // the front step
  double context_tokens = 0;  // of requests in phase in_flight
};

/// Adds what the transfers between stages take to the price of a step of all stages. Latencies are
/// assumed, the rest is modelled from bandwidths.
void add_sends(const StageConfig& stages, std::int32_t tokens, StepPrice& price,
               std::vector<OpTime>& operations);

}  // namespace rooflua
