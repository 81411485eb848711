#pragma once
// A prompt that one replica computes and another one decodes: what of it is where. Kept where there
// are prefill replicas, by the slot of the request.

#include <cstdint>

#include "serve/contract/clock.h"

namespace rooflua {

struct HandOver {
  /// Where it is decoded; -1: not chosen yet. It counts there as outstanding from then on.
  std::int32_t to = -1;
  std::int32_t reserved_blocks = 0;  // at `to`, while its prompt is being computed
  std::int32_t sent_tokens = 0;      // whose KV has set off, or is cached at `to`
  std::int32_t cached_tokens = 0;    // at `to` when its KV was pulled
  bool pushed = false;               // blocks at `to` were reserved before it was computed
  Picoseconds computed = never;      // by the prefill replica
  Picoseconds room = never;          // blocks were taken at `to`
  Picoseconds arrived = never;       // its KV; or its prefill replica kept it no longer
  std::int32_t kept_blocks = 0;      // at the prefill replica, from `computed` on
  double sent_bytes = 0;
};

/// A computed prompt that waits for room: its prefill replica keeps it until `time`.
struct Lease {
  Picoseconds time = never;
  std::int32_t slot = -1;
  std::int32_t id = -1;  // of the request, because slots are used again
};

}  // namespace rooflua
