#pragma once
// A run of four steps and three requests that can be checked in the head. Milliseconds:
//
//     step   0..10   prefill of request 0 (100 tokens)
//           10..14   request 0 decodes, prefill of request 1 (50 tokens)
//           14..16   both decode
//           16..18   both decode, both end
//
//     request  arrival  queue  ttft  tpot  e2e  tokens
//           0        0      0    10   8/3   18       4
//           1        1      9    13     2   17       3
//           2        2   does not fit the cache
//
// TTFT is prefill, request 1 waited for that of request 0. TPOT of request 0 is 4/3 ms of a step with
// a prompt and 4/3 ms of others, that of request 1 is decodes.
//
// Gaps between tokens: 4, 2, 2, 2, 2. Time: 10 ms measured, 4 interpolated, 2 modelled, 2 assumed.

#include "measure/record/summary.h"
#include "serve/contract/observer.h"

namespace rooflua::test {

inline constexpr Picoseconds ms = 1'000'000'000;

inline Request request(std::int32_t id, std::int32_t klass) {
  Request out;
  out.id = id;
  out.klass = klass;
  out.replica = 0;
  return out;
}

struct SyntheticStep {
  Picoseconds start, end;
  std::int32_t prefill_request, prefill_tokens, decodes, waiting, used_blocks, gaps;
  Evidence evidence;
  std::int32_t bound;
};

inline void play_step(Observer& observer, const SyntheticStep& s, std::int64_t serial) {
  PrefillWork prefill;
  prefill.new_tokens = s.prefill_tokens;
  prefill.completes = 1;
  prefill.id = s.prefill_request;
  Batch batch;
  batch.decodes = s.decodes;
  batch.tokens = s.decodes + s.prefill_tokens;
  batch.sampled = s.decodes + (s.prefill_tokens > 0);
  batch.decode_context_tokens = 100.0 * s.decodes;
  StepPrice price;
  price.time_s = seconds(s.end - s.start);
  price.evidence_s[static_cast<int>(s.evidence)] = price.time_s;
  price.bound = s.bound;
  StepDone step;
  step.serial = serial;
  step.planned = step.start = s.start;
  step.end = s.end;
  step.batch = &batch;
  step.price = &price;
  step.waiting = s.waiting;
  step.running = s.decodes + (s.prefill_tokens > 0);
  step.used_blocks = s.used_blocks;
  step.total_blocks = 20;
  step.common_gap = s.end - s.start;
  step.common_gaps = s.gaps;
  if (s.prefill_tokens > 0) step.prefills = {&prefill, 1};
  observer.on_step(step);
}

inline RequestDone done(std::int32_t id, std::int32_t klass, Picoseconds arrival,
                        Picoseconds scheduled, Picoseconds first, Picoseconds last,
                        std::int32_t prompt, std::int32_t output) {
  RequestDone out;
  out.id = id;
  out.replica = 0;
  out.now = last;
  out.arrival = out.queued = arrival;
  out.scheduled = scheduled;
  out.first_token = first;
  out.last_token = last;
  out.prompt_tokens = prompt;
  out.output_tokens = output;
  out.klass = klass;
  out.session = 7;
  return out;
}

inline void play(Observer& observer) {
  observer.on_arrival(request(0, 0), 0);
  observer.on_queued(request(0, 0), 0);
  observer.on_arrival(request(1, 1), 1 * ms);
  observer.on_queued(request(1, 1), 1 * ms);
  observer.on_arrival(request(2, 0), 2 * ms);
  RequestDone refused;
  refused.id = 2;
  refused.outcome = Outcome::exceeds_kv_cache;
  refused.arrival = refused.now = 2 * ms;
  refused.prompt_tokens = 100000;
  observer.on_done(refused);
  play_step(observer, {0, 10 * ms, 0, 100, 0, 0, 7, 0, Evidence::measured, 1}, 0);
  play_step(observer, {10 * ms, 14 * ms, 1, 50, 1, 0, 11, 1, Evidence::interpolated, 1}, 1);
  play_step(observer, {14 * ms, 16 * ms, -1, 0, 2, 0, 12, 2, Evidence::modelled, 2}, 2);
  observer.on_preempt(request(1, 1), 16 * ms);
  play_step(observer, {16 * ms, 18 * ms, -1, 0, 2, 1, 12, 2, Evidence::assumed, 2}, 3);
  observer.on_done(done(0, 0, 0, 0, 10 * ms, 18 * ms, 100, 4));
  observer.on_done(done(1, 1, 1 * ms, 10 * ms, 14 * ms, 18 * ms, 50, 3));
}

/// The summary of play(): two classes, and a limit of 12 ms for the first token.
inline Summary synthetic_summary() {
  SummaryOptions options;
  options.slo.ttft_s = 0.012;
  options.classes = {"batch", "chat"};
  SummaryObserver observer(options);
  play(observer);
  return observer.summary();
}

}  // namespace rooflua::test
