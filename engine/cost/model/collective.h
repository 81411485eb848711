#pragma once
// Communication between ranks of one node. Every collective is the smaller of two lines, because a
// serving engine switches from a small-message to a large-message kernel:
//
//     time = min( a1 + b1 x, a2 + b2 x )          x = bytes of the message on one rank
//
// The constants a and b are those of the GPU's family (spec/kernel_constants.h). The slopes b scale
// with the link, from the bandwidth of the GPUs that they were fitted on; the intercepts a do not.

#include "base/units.h"
#include "cost/price/evidence.h"
#include "spec/hardware.h"

namespace rooflua {

struct Transfer {
  Seconds time;
  Evidence evidence = Evidence::modelled;
};

/// All-reduce inside a CUDA graph, 16-bit, as vLLM runs it: its custom kernels, beyond them NCCL.
/// 2, 4 and 8 ranks have lines of their own. Other numbers up to 8 lie between their neighbours,
/// linearly; more than 8 keep the large-message slope of 8 and pay its intercept once per 8
/// (evidence assumed). More than two ranks over the bus of a host, and more than 8 over links that
/// join so many, are priced by NCCL's cost model (nccl.h). One rank is free.
/// @param eager    launched outside a graph: all_reduce_eager_s more
/// @throws Error   if ranks < 1, bytes is negative or not finite, or the GPU states no link
Transfer all_reduce(Bytes bytes, int ranks, const Hardware& hardware, bool eager = false);

/// All-to-all: every rank sends `bytes` in total, an equal part to each, itself included. The large
/// line is the part that leaves a rank, x (n-1)/n, at all_to_all_link_share of the link.
/// @throws Error   as all_reduce()
Transfer all_to_all(Bytes bytes, int ranks, const Hardware& hardware);

}  // namespace rooflua
