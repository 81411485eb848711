#pragma once
// SGLang's scheduler, transcribed rule by rule: page size 1, fcfs, radix cache off (the chunk
// cache), no mixed chunks. Every request is looked at in every step.
//
// Deviations:
//   - a request that reaches max_new with the token in flight is not run again (the original with
//     overlap runs one wasted row, as the engine and the original do after an end token); it keeps
//     seat and KV until that step is over and cannot be retracted
//   - `batch_is_full` is cleared as soon as the shrunken batch is seen; the original decodes once
//     more before it looks
//   - windows and states are not pools of their own: each request takes seat_tokens of the one pool
//   - a retracted request returns to the front of the queue; the original appends it

#include "tests/reference/engines/pipeline.h"

namespace rooflua::reference {

struct SglangConfig {
  int max_running_requests = 256;
  int pool_tokens = 16384;  // KV tokens
  int seat_tokens = 0;      // of them, what a request holds besides its own
  int chunked_prefill_size = 8192;
  int max_prefill_tokens = 16384;
  double schedule_conservativeness = 1.0;
  int async_depth = 1;  // 2: overlap
  bool requeue_at_front = true;
};

History run_sglang(const SglangConfig& config, const std::vector<PlainRequest>& requests,
                   const Price& price);

}  // namespace rooflua::reference
