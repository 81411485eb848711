#pragma once
// What a kernel would cost on a GPU nobody has measured: tile and wave quantisation, the bandwidth
// roofline and a launch floor. Evidence `modelled`.

#include "cost/estimate.h"
#include "spec/hardware.h"

namespace rooflua {

/// The constants of the model: one set for every shape and GPU, and but for the last three for
/// every dtype. Fitted on the bf16 tables of
/// aiconfigurator (H100 and H200 SXM, vLLM 0.24 kernels in CUDA graphs); what a GPU contributes is
/// its datasheet (peak, bandwidth, SMs, clock).
namespace modelled {
inline constexpr double memory_efficiency = 0.88;     // of datasheet bandwidth
inline constexpr double gemm_math = 0.85;             // of peak, inside a full tile
inline constexpr double attention_math = 0.66;        // likewise, softmax between the products
inline constexpr double kernel_launch_s = 2.2e-6;     // of the shortest kernel, inside a graph
inline constexpr double attention_launch_s = 8.3e-6;  // with its scheduling and combining kernels
inline constexpr double grouped_launch_s = 34e-6;     // routing, alignment, two GEMMs, sum
inline constexpr double gemm_tile_s = 0.65e-6;        // start and end of one tile on an SM
inline constexpr double prefill_tile_s = 3.1e-6;
inline constexpr double decode_tile_s = 1.7e-6;
inline constexpr double split_s = 2.5e-6;  // adding up partial results of a split k
inline constexpr double decode_split_s = 1.9e-6;
inline constexpr double gemm_sm_bytes_per_clock = 80;  // one SM loading tiles, multicast included
inline constexpr double decode_sm_bytes_per_clock = 22.7;  // one SM streaming KV
inline constexpr double expert_row_traffic = 3;    // times (I in, I out, H) of every routed row
inline constexpr double expert_fp8_math = 0.5;     // of gemm_math, where scales go by block: fitted
                                                   // on the H100 rows of FP8 experts, in-sample
inline constexpr double quantize_row_s = 0.96e-6;  // one row to FP8 on an SM, if short
inline constexpr double quantize_sm_bytes_per_clock = 5.4;  // and if long

/// What the model needs of a GPU, as plain numbers.
struct Gpu {
  double peak, bandwidth, sms, clock_hz;
  double traffic(double bytes) const { return bytes / (bandwidth * memory_efficiency); }
  Gpu slowed(double part) const { return {peak * part, bandwidth, sms, clock_hz}; }
};

/// Attention of one rank: what is stored per cached token, and what a query-key pair costs.
struct Attention {
  double heads, kv_heads;
  double width;  // keys and values of one head, elements
  double flop_per_pair;
  double kv_bytes_per_token, io_bytes_per_token;
};
}  // namespace modelled

/// Latency and MFU of any op from datasheet figures.
///
///     gemm, the best tile (a,b) and split s of k:
///         tiles  = ceil(m/a) ceil(n/b) s,  waves = ceil(tiles / SMs)
///         math   = waves ( tile_s + max( 2 a b k/s / (peak/SMs * 0.85), load of a and b rows ) )
///         time   = launch + (math^4 + traffic^4)^(1/4)
///     attention_prefill: tiles of 128 query rows of one KV head
///         time   = launch + max(work over all SMs, the last tile alone) + traffic
///     attention_decode: one tile per request, KV head and split; else as gemm
///     grouped_gemm: two GEMMs over the touched experts, and the traffic of all routed rows;
///         below 16 bits that of this rank's rows only, and both inputs are quantised in front
///     memory: traffic alone; elementwise: launch + traffic; launch: the launch
///
/// traffic = bytes / (0.88 bandwidth). Never above peak, never below bytes / bandwidth, and
/// monotone in m, tokens, batch and context: every tiling is, and so is the minimum of them.
/// Queries are as in estimate.h; memory and elementwise read `bytes` as bytes moved (elementwise
/// without bytes: one read and one write of tokens x width, silu_mul two reads; quantize is
/// quantize_time()). `distance` is 0. mfu counts exact causal work for attention and is NaN where
/// there is no arithmetic. Weights narrower than 16 bits on a GPU without a peak for them compute
/// at the bf16 peak.
/// @throws Error if the GPU has no peak for the dtype, no SMs or clock, or a shape is not positive
Estimate modelled_kernel(const Query& query, const Hardware& hardware);

/// Prices attention of one shape, plain or latent, again and again: what depends on the GPU and the
/// shape alone is kept. The same answers as modelled_kernel(), bit by bit.
class ModelledAttention {
 public:
  /// @param query  attention_prefill, attention_decode, mla_prefill or mla_decode
  /// @throws Error   as modelled_kernel()
  void operator()(const Query& query, const Hardware& hardware, Estimate& estimate);

 private:
  bool fits(const Query& query) const;

  bool known_ = false;
  Query kept_;
  modelled::Gpu gpu_{};
  modelled::Attention shape_{};
};

/// Time of quantising [tokens, width] 16-bit activations to FP8 in front of a GEMM, one scale per
/// token, as a kernel of its own: a row takes one SM max( 0.96 us, 3 width bytes / (5.4 B/clock) ),
/// in ceil(tokens / SMs) waves. An FP8 `gemm` above is without it; vLLM's measured linear layers
/// include it.
/// @throws Error   as modelled_kernel()
Seconds quantize_time(double tokens, double width, const Hardware& hardware);

}  // namespace rooflua
