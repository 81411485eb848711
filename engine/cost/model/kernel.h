#pragma once
// What a kernel costs on a GPU without measured tables: tile and wave quantisation, the bandwidth
// roofline and a launch floor. Evidence `modelled`. A GPU contributes its datasheet (peak,
// bandwidth, SMs, clock) and the fitted constants of its family (spec/kernel_constants.h).

#include "cost/model/attention.h"
#include "cost/model/experts.h"
#include "cost/price/estimate.h"
#include "spec/hardware.h"

namespace rooflua {

/// Latency and MFU of any op from datasheet figures.
///
///     gemm, the best tile (a,b) and split s of k:
///         tiles  = ceil(m/a) ceil(n/b) s,  waves = ceil(tiles / SMs)
///         math   = waves ( tile_s + max( 2 a b k/s / (peak/SMs gemm_math), load of a and b ) )
///         time   = launch + (math^4 + traffic^4)^(1/4)
///     attention_prefill: tiles of 128 query rows of one KV head
///         time   = launch + max(work over all SMs, the last tile alone) + traffic
///     attention_decode: one tile per request, KV head and split; else as gemm
///     grouped_gemm: two GEMMs over the touched experts, and the traffic of all routed rows;
///         below 16 bits that of this rank's rows only, and both inputs are quantised in front
///     memory: traffic alone; elementwise: launch + traffic; launch: the launch
///
/// traffic = bytes / (memory_efficiency bandwidth). Never above peak, never below bytes /
/// bandwidth, and monotone in m, tokens, batch and context: every tiling is, and so is the minimum
/// of them. Queries are as in price/estimate.h; memory reads `bytes` as bytes moved; those of
/// elementwise are elementwise_bytes() (work/op_work.h), and quantize is quantize_time().
/// `distance` is 0. mfu counts exact causal work for attention and is NaN where there is no
/// arithmetic. Weights narrower than 16 bits on a GPU without a peak for them compute at the bf16
/// peak; attention computes in 16 bits whatever format is asked for.
/// @throws Error if the GPU has no peak for the dtype, no SMs or clock, or a shape is not positive
Estimate modelled_kernel(const Query& query, const Hardware& hardware);
/// Whether a question has a model: ops that only tables price have none, and copies over the bus.
bool has_model(const Query& query);

/// Time of quantising [tokens, width] 16-bit activations to FP8 in front of a GEMM, one scale per
/// token, as a kernel of its own, in ceil(tokens / SMs) waves. A row takes one SM
///
///     max( quantize_row_s, 3 width bytes / (quantize_sm_bytes_per_clock clock) )
///
/// and all rows together no less than their traffic.
/// The model of an FP8 `gemm` is without it; vLLM's measured linear layers include it.
/// @throws Error   as modelled_kernel()
Seconds quantize_time(double tokens, double width, const Hardware& hardware);

namespace modelled {

// What declarations name as the model of their op; others stand in attention.h and experts.h.
Priced gemm(const Query& query, const Hardware& hardware);
Priced all_reduce(const Query& query, const Hardware& hardware);
Priced memory(const Query& query, const Hardware& hardware);
Priced launch(const Query& query, const Hardware& hardware);
Priced elementwise(const Query& query, const Hardware& hardware);

}  // namespace modelled

}  // namespace rooflua
