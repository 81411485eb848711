#pragma once
// Flop and bytes of the declared ops, on one rank: what an MFU and a share of bandwidth refer to.
// Prefill counts pairs as new * context + causal * new^2; a question's `causal` is 1/2.

#include "cost/ops/query.h"
#include "spec/hardware.h"

namespace rooflua {

/// Work of a question on one rank, and bytes it moves at least; 0 where its op has none.
double flop_of(const Query& query);
double bytes_of(const Query& query);

/// Whether a question is bound by links and not by the memory: an op that is (OpDeclaration), or a
/// copy to or from the memory of the host.
bool over_links(const Query& query);

/// The format in which an op multiplies: attention computes in 16 bits whatever is asked for.
Dtype compute_dtype(const Query& query);

/// What the work of a question takes at least on a GPU: flop over the peak of the format that it
/// computes in, bytes over the bandwidth of the memory, or of the links for an op that they bound.
/// Nothing but a measured row is faster: a cache held what the row's kernel read.
struct LeastTime {
  double arithmetic_s = 0, traffic_s = 0;  // arithmetic 0 where the GPU states no peak for it
  double time_s() const { return arithmetic_s > traffic_s ? arithmetic_s : traffic_s; }
};
LeastTime least_time(const Query& query, double flop, double bytes, const Hardware& gpu);
inline LeastTime least_time(const Query& query, const Hardware& gpu) {
  return least_time(query, flop_of(query), bytes_of(query), gpu);
}

/// Bytes of a kernel of op elementwise over [tokens, width] of 16 bits, whatever format the weights
/// have. The kernels are those that scripts/collect measures (rooflua_collect/ops/elementwise.py):
/// norm reads x and the residual and writes both (bytes::add_norm), silu_mul reads gate and up
/// (bytes::gated_activation), quantize writes 8 bits (bytes::quantize); rope and others read and
/// write each element once.
double elementwise_bytes(double kernel, double tokens, double width);

/// Ranks that hold the experts of a grouped GEMM between them; tp divides the width of each expert.
double expert_groups(const Query& query);
/// Experts of one rank that the tokens of all these ranks touch; each rank brings `tokens`.
double touched_experts(const Query& query);

/// The formulas that the declarations name.
namespace work {
double gemm_flop(const Query& query, double causal);
double gemm_bytes(const Query& query);
double prefill_flop(const Query& query, double causal);
double prefill_bytes(const Query& query);
double decode_flop(const Query& query, double causal);
double decode_bytes(const Query& query);
double latent_prefill_flop(const Query& query, double causal);
double latent_prefill_bytes(const Query& query);
double latent_decode_flop(const Query& query, double causal);
double latent_decode_bytes(const Query& query);
double experts_flop(const Query& query, double causal);
double experts_bytes(const Query& query);
/// A whole MoE layer as the grouped GEMM of one of its ranks, with that rank's share of the tokens.
Query experts_of_rank(const Query& layer);
double moe_layer_flop(const Query& query, double causal);
double moe_layer_bytes(const Query& query);
double window_prefill_flop(const Query& query, double causal);
double window_prefill_bytes(const Query& query);
double window_decode_flop(const Query& query, double causal);
double window_decode_bytes(const Query& query);
double moved_bytes(const Query& query);
/// Delta rules: the state of each request, in 32 bits, is read and written; q, k, v come in and o
/// goes out in 16 bits; the weights of the convolution are read.
double recurrent_bytes(const Query& query);
/// The logits of 16 bits are read once.
double sampling_bytes(const Query& query);
/// Of a buffer that ranks exchange, a rank keeps its own part, except where all are added up.
double collective_bytes(const Query& query);
double elementwise_bytes(const Query& query);
}  // namespace work

}  // namespace rooflua
