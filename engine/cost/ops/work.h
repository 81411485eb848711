#pragma once
// Flop and bytes of the declared ops, on one rank: what an MFU and a share of bandwidth refer to.
// Prefill counts pairs as new * context + causal * new^2; a question's `causal` is 1/2.

#include "cost/ops/query.h"

namespace rooflua {

/// Work of a question on one rank, and bytes it moves at least; 0 where its op has none.
double flop_of(const Query& query);
double bytes_of(const Query& query);

/// How often an elementwise kernel as scripts/collect measures it passes over [tokens, width]:
/// norm 4 (residual added and kept), silu_mul 3, quantize 1.5 (half is written), rope and others 2.
double passes(double kernel);

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
double moe_layer_flop(const Query& query, double causal);
double moe_layer_bytes(const Query& query);
double window_prefill_flop(const Query& query, double causal);
double window_prefill_bytes(const Query& query);
double window_decode_flop(const Query& query, double causal);
double window_decode_bytes(const Query& query);
double moved_bytes(const Query& query);
double elementwise_bytes(const Query& query);
}  // namespace work

}  // namespace rooflua
