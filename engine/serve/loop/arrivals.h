#pragma once
// What a simulation keeps of its workload, and of one instant.

#include <cstdint>
#include <vector>

#include "serve/links/flows.h"
#include "serve/replica/replica.h"

namespace rooflua {

/// How far the workload has been read.
struct Arrivals {
  std::int32_t next_id = 0;
  std::int32_t next_open = -1;  // slot of the workload's next request
  Picoseconds last_open = 0;    // arrival of the request that was read last
  bool more = true;             // the workload has more
  bool watches_first_tokens = false;
};

/// Kept so that no instant makes them anew.
struct Scratch {
  std::vector<FlowEnded> flows_ended;
  std::vector<std::int32_t> entering, ending;
  std::vector<Picoseconds> gaps;
  std::vector<RepeatedStep> repeats;            // of the replica at hand
  std::vector<StepPrice> prices;                // of the ranks of a group
  std::vector<std::vector<OpTime>> operations;  // of the same ranks
};

}  // namespace rooflua
