#include "spec/weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua {

double WeightParts::linear() const {
  return attention + linear_attention + dense_mlp + routed_experts + shared_experts;
}

double WeightParts::unquantised() const {
  return router + small + embedding + lm_head;
}

double WeightParts::total() const {
  return linear() + unquantised();
}

namespace {

/// Sizes of one rank. Doubles, so that a product of four never overflows.
struct Shard {
  double heads, kv_heads, linear_key_heads, linear_value_heads;
  double tp;          // divides every MLP width
  double vocabulary;  // rows
};

double mlp(const Model& model, double width) {
  return (model.gated_mlp ? 3.0 : 2.0) * model.hidden_size * width;
}

double latent_attention(const Model& model, const Shard& shard) {
  const LatentAttention& mla = *model.mla;
  const double hidden = model.hidden_size, latent = mla.kv_lora_rank;
  const double qk = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
  const double query = mla.q_lora_rank > 0
                           ? hidden * mla.q_lora_rank + mla.q_lora_rank * shard.heads * qk
                           : hidden * shard.heads * qk;
  return query + hidden * (latent + mla.qk_rope_head_dim) +
         latent * shard.heads * (mla.qk_nope_head_dim + mla.v_head_dim) +
         shard.heads * mla.v_head_dim * hidden;
}

double attention(const Model& model, const Shard& shard) {
  if (model.mla) return latent_attention(model, shard);
  const double query = shard.heads * model.head_dim,
               key_value = 2.0 * shard.kv_heads * model.head_dim;
  const double gate = model.attention_output_gate ? query : 0.0;
  return model.hidden_size * (query + gate + key_value) + query * model.hidden_size;
}

double linear_attention(const Model& model, const Shard& shard) {
  const HybridAttention& hybrid = *model.hybrid;
  const double keys = 2.0 * shard.linear_key_heads * hybrid.key_head_dim;
  const double values = shard.linear_value_heads * hybrid.value_head_dim;
  return model.hidden_size * (keys + 2 * values + 2 * shard.linear_value_heads) +
         values * model.hidden_size;
}

/// Norms before attention and MLP and after the last layer, biases, and the small tensors of
/// linear attention (convolution, A, dt, norm).
double small_tensors(const Model& model, const Shard& shard) {
  double small = (2.0 * model.layers + 1) * model.hidden_size;
  if (model.attention_bias) {
    small += model.full_attention_layers() * (shard.heads + 2 * shard.kv_heads) * model.head_dim;
  }
  if (model.mla) small += double(model.layers) * (model.mla->q_lora_rank + model.mla->kv_lora_rank);
  if (model.hybrid) {
    const HybridAttention& hybrid = *model.hybrid;
    const double channels = 2.0 * shard.linear_key_heads * hybrid.key_head_dim +
                            shard.linear_value_heads * hybrid.value_head_dim;
    small += model.linear_attention_layers() *
             (channels * hybrid.conv_kernel + 2 * shard.linear_value_heads + hybrid.value_head_dim);
  }
  return small;
}

WeightParts parts_of(const Model& model, const Shard& shard) {
  WeightParts parts;
  parts.attention = model.full_attention_layers() * attention(model, shard);
  if (model.hybrid) {
    parts.linear_attention = model.linear_attention_layers() * linear_attention(model, shard);
  }
  parts.dense_mlp = model.dense_mlp_layers() * mlp(model, model.intermediate_size / shard.tp);
  if (model.moe) {
    const double layers = model.moe_layers(), experts = model.moe->experts;
    parts.routed_experts = layers * experts * mlp(model, model.moe->intermediate_size / shard.tp);
    parts.shared_experts = layers * mlp(model, model.moe->shared_intermediate_size / shard.tp);
    parts.router = layers * experts * model.hidden_size;
  }
  parts.small = small_tensors(model, shard);
  parts.embedding = shard.vocabulary * model.hidden_size;
  parts.lm_head = model.tied_embeddings ? 0.0 : parts.embedding;
  return parts;
}

double divided(const Model& model, const char* what, int count, int tp) {
  if (count % tp == 0) return count / tp;
  throw Error("deployment.tp", std::to_string(count) + " " + what + " of " + model.name +
                                   " do not divide by tp = " + std::to_string(tp));
}

/// The heads of one rank. With fewer heads than ranks, each head is on several ranks.
double replicated(const Model& model, const char* what, int count, int tp) {
  if (tp > count && tp % count == 0) return 1;
  return divided(model, what, count, tp);
}

Shard shard_of(const Model& model, int tp) {
  if (tp < 1) throw Error("deployment.tp", "expected 1 or more, found " + std::to_string(tp));
  Shard shard{};
  shard.tp = tp;
  shard.heads = divided(model, "attention heads", model.heads, tp);
  shard.kv_heads = model.mla ? shard.heads : replicated(model, "KV heads", model.kv_heads, tp);
  if (model.hybrid) {
    shard.linear_key_heads = divided(model, "linear key heads", model.hybrid->key_heads, tp);
    shard.linear_value_heads = divided(model, "linear value heads", model.hybrid->value_heads, tp);
  }
  if (model.intermediate_size > 0)
    divided(model, "columns of the MLP", model.intermediate_size, tp);
  if (model.moe) divided(model, "columns of an expert", model.moe->intermediate_size, tp);
  const int unit = 64 * tp;
  shard.vocabulary = 64.0 * ((model.vocab_size + unit - 1) / unit);
  return shard;
}

}  // namespace

WeightParts weights(const Model& model) {
  Shard whole = shard_of(model, 1);
  whole.vocabulary = model.vocab_size;
  return parts_of(model, whole);
}

// Declared in model.h: a model counts its weights by the formulas above.

double Model::parameters() const {
  return weights(*this).total();
}

double Model::active_parameters() const {
  const WeightParts parts = weights(*this);
  if (!moe) return parts.total();
  const double visited = double(moe->experts_per_token) / moe->experts;
  return parts.total() - parts.routed_experts * (1.0 - visited);
}

WeightParts weights_per_rank(const Model& model, int tp) {
  return parts_of(model, shard_of(model, tp));
}

Bytes weight_bytes(const WeightParts& parts, const Model& model, Dtype linear_dtype) {
  return (parts.linear() * bytes_per_element(linear_dtype) +
          parts.unquantised() * bytes_per_element(model.dtype)) *
         unit::byte;
}

double touched_experts(const MixtureOfExperts& moe, double tokens) {
  if (tokens <= 0) return 0;
  const double share = double(moe.experts_per_token) / moe.experts;
  return moe.experts * (1.0 - std::pow(1.0 - share, tokens));
}

Bytes weight_bytes_read(const Model& model, int tp, Dtype linear_dtype, double tokens) {
  WeightParts parts = weights_per_rank(model, tp);
  if (model.moe) parts.routed_experts *= touched_experts(*model.moe, tokens) / model.moe->experts;
  parts.lm_head = parts.embedding;
  parts.embedding = std::min(tokens, double(model.vocab_size)) * model.hidden_size / tp;
  return weight_bytes(parts, model, linear_dtype);
}

}  // namespace rooflua
