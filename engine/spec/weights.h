#pragma once
// The numbers of weights of a model by part: of the whole model, of one rank of a tensor-parallel
// group, and those that one step reads.

#include "base/units.h"
#include "spec/dtype.h"
#include "spec/model.h"

namespace rooflua {

/// Numbers of weights (elements, not bytes), summed over all layers.
///
/// Per layer, with H hidden, h heads, g KV heads, D head dim, I the MLP's width:
///     attention         H (h D + 2 g D) + h D H              (+ H h D with an output gate)
///     latent attention  H ql + ql h (dn+dr) + H (C+dr) + C h (dn+dv) + h dv H;  without query
///                       compression H h (dn+dr) in place of the first two
///     linear attention  H (2 kh kd + 2 vh vd + 2 vh) + vh vd H
///     an MLP            3 H I (2 H I without a gate)
struct WeightParts {
  // Linear layers: stored in the model's quantised format, if it has one.
  double attention = 0;
  double linear_attention = 0;
  double dense_mlp = 0;
  double routed_experts = 0;  // all experts
  double shared_experts = 0;
  // Always in the model's own dtype.
  double router = 0;
  double small = 0;  // norms, biases, convolutions of linear attention
  double embedding = 0;
  double lm_head = 0;  // 0 when it is the embedding

  double linear() const;       // the quantised group
  double unquantised() const;  // the rest
  double total() const;
};

/// The whole model, nothing padded.
WeightParts weights(const Model& model);

/// One rank of `tp`. Attention is sharded by heads (KV heads are replicated when tp > kv_heads;
/// the down projections of latent attention are), MLPs and experts by width, the vocabulary in
/// rows padded to a multiple of 64 * tp; router and norms are replicated.
/// @throws Error if heads, KV heads or widths do not divide
WeightParts weights_per_rank(const Model& model, int tp);

/// @param linear_dtype  format of the linear layers; the rest is in model.dtype
Bytes weight_bytes(const WeightParts& parts, const Model& model, Dtype linear_dtype);

/// Expected number of experts that a step of `tokens` touches per layer under uniform routing,
///     E (1 - (1 - k/E)^tokens),     between k and E
double touched_experts(const MixtureOfExperts& moe, double tokens);

/// The weights that a step of `tokens` tokens reads on one rank. All are read once, except that
/// only touched experts are read, and one row per token of the input embedding. The LM head is read
/// completely, also if it is tied to the embedding.
Bytes weight_bytes_read(const Model& model, int tp, Dtype linear_dtype, double tokens);

}  // namespace rooflua
