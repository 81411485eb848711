#pragma once
// Communication between ranks of one node. Every collective is the smaller of two lines, because a
// serving engine switches from a small-message to a large-message kernel:
//
//     time = min( a1 + b1 x, a2 + b2 x )          x = bytes of the message on one rank
//
// The slopes were fitted on NVLink4 (450 GB/s in one direction) and scale with the link bandwidth
// of other hardware; the intercepts do not.

#include "base/units.h"
#include "cost/evidence.h"
#include "spec/hardware.h"

namespace rooflua {

struct Transfer {
  Seconds time;
  Evidence evidence = Evidence::modelled;
};

/// Time of one line: intercept + slope * bytes.
struct Line {
  Seconds intercept;
  double seconds_per_byte = 0;
};

/// All-reduce inside a CUDA graph, bf16, vLLM's custom kernels and their NCCL fallback.
///
///     2 ranks   4.4 us + 3.84 ps/B x
///     4 ranks   min( 4.4 us + 10 ps/B x, 6.3 us + 5.5 ps/B x )
///     8 ranks   min( 4.7 us + 24 ps/B x,   9 us + 4.6 ps/B x )
///
/// Other numbers up to 8 lie between their neighbours, linearly; more than 8 keep the large-message
/// slope of 8 and pay its intercept once per 8 (evidence assumed). One rank is free.
/// `eager`: launched outside a graph, 16 us more.
/// @throws Error   if ranks < 1, bytes is negative or not finite, or the GPU states no link
/// @source fitted to aiconfigurator's H200 table for vLLM 0.24: median error 2 to 5 % on H100 and
///         H200; 15 % low for 2 ranks around 8 to 64 MiB, 10 to 30 % high from 128 MiB on
Transfer all_reduce(Bytes bytes, int ranks, const Hardware& hardware, bool eager = false);

/// All-to-all: every rank sends `bytes` in total, an equal part to each, itself included.
///
///     min( 7 us + 40 ps/B x,  13 us + x (n-1)/n / (0.69 link) )
///
/// @throws Error   as all_reduce()
/// @source fitted to aiconfigurator's H200 table for NCCL 2.29 (2, 4 and 8 ranks)
Transfer all_to_all(Bytes bytes, int ranks, const Hardware& hardware);

}  // namespace rooflua
