#pragma once
// The numbers of weights of a model by part: of the whole model, and of one rank of a
// tensor-parallel group.

#include "base/units.h"
#include "spec/dtype.h"
#include "spec/model.h"
#include "spec/widths.h"

namespace rooflua {

/// Numbers of weights (elements, not bytes), summed over all layers.
///
/// Per layer, with H hidden, h heads, g KV heads, D head dim, I the MLP's width:
///     attention         H (h D + 2 g D) + h D H              (+ H h D with an output gate)
///     latent attention  H ql + ql h (dn+dr) + H (C+dr) + C h (dn+dv) + h dv H;  without query
///                       compression H h (dn+dr) in place of the first two
///     linear attention  H (2 kh kd + 2 vh vd + 2 vh) + vh vd H
///     KDA               H (2 kh kd + 2 vh vd + vh) + vh vd H; its decay gate of low rank is not
///                       counted
///     Mamba2            H (2 d + 2 G n + hm) + d H;  d = hm heads of their width, G groups of n
///     compressed        H q + q h D + H D + h D o + groups o H, and the compressor H 2 D (4 D at
///                       ratio 4), with one KV vector of D for all heads
///     an index          q hi di + H di + H hi (hi heads of di; H in place of q without one)
///     an MLP            3 H I (2 H I without a gate)
///     latent experts    2 H Hl beside experts of Hl in place of H
struct WeightParts {
  // Linear layers: stored in the model's quantised format, if it has one.
  double attention = 0;  // without attention_output
  double attention_output = 0;
  double linear_attention = 0;
  double dense_mlp = 0;
  double routed_experts = 0;  // all experts
  double shared_experts = 0;  // with the projections of latent experts
  // As a rule in the model's own dtype.
  double index = 0;  // of sparse attention
  double router = 0;
  double small = 0;  // norms, biases, convolutions of linear attention
  double embedding = 0;
  double lm_head = 0;       // 0 when it is the embedding
  double ngram_tables = 0;  // elements, also those on the host
  double ngram_bytes = 0;   // of these tables in the memory of GPUs, in their own formats

  double& of(WeightClass each);
  double of(WeightClass each) const;
  double linear() const;       // the quantised group
  double unquantised() const;  // the rest
  double total() const;
};

/// The whole model, nothing padded.
WeightParts weights(const Model& model);

/// One rank. Attention and dense and shared MLPs are divided by tp: attention by heads (KV heads
/// are replicated when tp > kv_heads; down projections of latent attention, the index and single KV
/// vectors are), MLPs by width. Experts are divided by ep, their width by moe_tp; the vocabulary in
/// rows padded to a multiple of 64 * tp. Router and norms are replicated. With expert_gpus it is a
/// rank of the attention, which holds no routed experts.
/// @throws Error if heads, KV heads, experts or widths do not divide
WeightParts weights_per_rank(const Model& model, const Widths& widths);
inline WeightParts weights_per_rank(const Model& model, int tp) {
  return weights_per_rank(model, Widths::of_tp(tp));
}

/// Bytes of these weights, each class in its format; norms and biases in model.dtype.
Bytes weight_bytes(const WeightParts& parts, const Model& model, const WeightFormats& formats);
/// What layers with formats of their own take beyond that on one rank of all stages; may be
/// negative.
double bytes_beyond(const Model& model, const Widths& widths, const WeightFormats& all);
/// @throws Error if layers have a format for weights, or of a release, that they do not have
void check_layer_formats(const Model& model, const std::string& where);
/// @param linear_dtype  format of the linear layers; the rest is in model.dtype
Bytes weight_bytes(const WeightParts& parts, const Model& model, Dtype linear_dtype);

}  // namespace rooflua
