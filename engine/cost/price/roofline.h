#pragma once
// The roofline: an operation is bound by its arithmetic or by its traffic.

#include <string_view>

#include "base/units.h"
#include "base/vocabulary.h"
#include "cost/price/evidence.h"

namespace rooflua {

/// Work of one operation on one device.
struct Work {
  Flop flop;
  Bytes bytes;
};

/// Peaks of one device; both > 0.
struct Ceiling {
  FlopPerSecond compute;
  BytesPerSecond memory;
};

/// What an operation or a step waits for. The codes are those of documents and of the Lua border.
enum class Bound { unknown, compute, memory, link };
inline constexpr Word<Bound> bound_words[] = {
    {Bound::unknown, "unknown", "nothing says what bounds it"},
    {Bound::compute, "compute", "the arithmetic units"},
    {Bound::memory, "memory", "the bandwidth of the GPU's memory"},
    {Bound::link, "link", "the bandwidth between GPUs"},
};
static_assert(in_order(bound_words));
inline constexpr int bound_count = std::size(bound_words);
constexpr std::string_view name(Bound bound) {
  return bound_words[static_cast<std::size_t>(bound)].name;
}

struct Duration {
  Seconds time;
  Bound bound = Bound::compute;
};

/// Time of one operation: the slower of its arithmetic and its traffic.
///
///     time = max( flop / (peak * mfu),  bytes / bandwidth )
///
/// A tie is called compute. Work without arithmetic (flop 0) or without traffic (bytes 0) is fine.
///
/// @param mfu      fraction of peak that was measured for this shape, in (0, 1]
/// @throws Error   if mfu is outside (0, 1], a peak is not finite and positive, or work is
///                 negative or not finite
/// @source Williams, Waterman, Patterson. "Roofline", CACM 52(4), 2009
Duration roofline(Work work, Ceiling ceiling, double mfu);

}  // namespace rooflua
