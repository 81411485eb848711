#pragma once
// What a simulation counts.

#include <array>
#include <cstdint>

#include "serve/contract/clock.h"
#include "serve/contract/words.h"

namespace rooflua {

/// Counts so far: requests in = sum over outcomes + alive.
struct Totals {
  std::int64_t arrived = 0;
  std::array<std::int64_t, outcome_count> ended{};  // by Outcome
  std::int64_t refused_at_gate = 0;                 // of those that ended as refused
  std::int64_t refused_without_replica = 0;         // of them; the router refused the others
  std::int64_t plans_asked = 0;                     // times a scheduler was called
  std::int64_t steps = 0;
  std::int64_t plain_steps = 0;  // of these, those that took the short way (loop/instant.cpp)
  std::int64_t preemptions = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cut_answers = 0;  // of requests that max_model_len leaves fewer tokens than they ask
  Picoseconds last_end = 0;
};

}  // namespace rooflua
