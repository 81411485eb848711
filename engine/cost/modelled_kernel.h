#pragma once
// What a kernel would cost on a GPU nobody has measured: tile and wave quantisation and the
// bandwidth roofline. Evidence `modelled`.

#include "cost/estimate.h"
#include "spec/hardware.h"

namespace rooflua {

/// Latency and MFU of any op from datasheet figures. Monotone in m (tokens, batch, context), never
/// above peak, never below bytes / bandwidth.
/// @throws Error if the GPU has no peak for the dtype, or a shape is not positive
Estimate modelled_kernel(const Query& query, const Hardware& hardware);

}  // namespace rooflua
