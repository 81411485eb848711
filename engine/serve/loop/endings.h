#pragma once
// What observers are told of a request that ends.

#include <cstdint>
#include <vector>

#include "serve/core/core.h"
#include "serve/parts/list.h"

namespace rooflua {

RequestDone describe(const Core& core, const Parts& parts, std::int32_t slot, Outcome outcome);
/// What its client got by now. When its last token came is not known.
/// @param in_flight  tokens of it in steps under way
RequestDone describe_aborted(const Core& core, const Parts& parts, std::int32_t slot,
                             Outcome outcome, std::int32_t in_flight);
/// Requests that were sent and have not ended, by id.
std::vector<RequestDone> unfinished(const Core& core, const Parts& parts);

}  // namespace rooflua
