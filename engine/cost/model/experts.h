#pragma once
// Modelled routed experts, and the quantisation in front of FP8 GEMMs. Equations in kernel.h.

#include "cost/model/gpu.h"

namespace rooflua::modelled {

/// Two GEMMs over the touched experts, routing and, below 16 bits, two quantisations.
Priced grouped_gemm(const Query& query, const Hardware& hardware);
/// A whole MoE layer, as grouped_gemm() of the rank's share of experts, widths and tokens.
Priced moe_layer(const Query& query, const Hardware& hardware);

/// Seconds of quantising [tokens, width] to FP8 (quantize_time in kernel.h).
double quantize_s(double tokens, double width, const Gpu& gpu);

}  // namespace rooflua::modelled
