#pragma once
// The roofline: an operation is bound by its arithmetic or by its traffic.

#include "base/units.h"
#include "cost/evidence.h"

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

enum class Bound { compute, memory, link };

struct Duration {
  Seconds time;
  Bound bound = Bound::compute;
};

/// Time of one operation: the slower of its arithmetic and its traffic.
///
///     time = max( flop / (peak * mfu),  bytes / bandwidth )
///
/// @param mfu      fraction of peak that was measured for this shape, in (0, 1]
/// @throws Error   if mfu is outside (0, 1], or a peak or a quantity is not finite and positive
/// @source Williams, Waterman, Patterson. "Roofline", CACM 52(4), 2009
Duration roofline(Work work, Ceiling ceiling, double mfu);

}  // namespace rooflua
