#include "spec/layers.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

constexpr double index_scale_bytes = 4;        // one fp32 per entry of an index, besides its FP8
constexpr double compressed_index_bytes = 64;  // of one entry in DeepSeek-V4
constexpr double state_element_bytes = 4, convolution_element_bytes = 2;

/// Bytes of an index in the cache, per token.
double index_bytes(const AttentionLayers& attention) {
  if (!attention.index || !attention.index->own) return 0;
  if (attention.compression) return compressed_index_bytes / attention.compression->ratio;
  return attention.index->head_dim + index_scale_bytes;
}

double key_value_elements(const AttentionLayers& attention) {
  return double(attention.kv_heads) * (attention.head_dim + attention.v_head_dim);
}

/// Elements of a vector that the cache keeps.
double vector_width(const AttentionLayers& attention) {
  if (attention.latent) return attention.latent->kv_lora_rank + attention.latent->qk_rope_head_dim;
  if (attention.compression) return attention.head_dim;
  return (attention.head_dim + attention.v_head_dim) / 2.0;
}

}  // namespace

bool LayerFormats::any() const {
  return kv || !releases.empty() || weights != StatedFormats{};
}

std::string AttentionLayers::kind_name() const {
  return by_file ? by_file->name
                 : std::string(attention_words[static_cast<std::size_t>(kind)].name);
}

std::string MlpLayers::kind_name() const {
  return by_file ? by_file->name : std::string(mlp_words[static_cast<std::size_t>(kind)].name);
}

bool AttentionLayers::grows() const {
  if (by_file) return by_file->grows();
  if (kind == Kind::compressed) return compression->ratio > 0;
  return kind == Kind::full || kind == Kind::latent || kind == Kind::latent_sparse ||
         kind == Kind::block_sparse;
}

double AttentionLayers::growing_bytes(Dtype kv) const {
  if (!grows()) return 0;
  if (by_file) return by_file->cache_bytes(declared::CacheKind::token, kv, declared_tp);
  const double element = cached_bytes(kv, vector_width(*this));
  if (compression) return head_dim * element / compression->ratio + index_bytes(*this);
  const double elements =
      latent ? latent->kv_lora_rank + latent->qk_rope_head_dim : key_value_elements(*this);
  return elements * element + index_bytes(*this);
}

double AttentionLayers::bounded_bytes(Dtype kv) const {
  if (kind == Kind::compressed) return head_dim * cached_bytes(kv, head_dim);
  if (by_file) return by_file->cache_bytes(declared::CacheKind::window, kv, declared_tp);
  if (kind != Kind::window) return 0;
  return key_value_elements(*this) * cached_bytes(kv, vector_width(*this));
}

double AttentionLayers::state_bytes() const {
  if (by_file) return by_file->cache_bytes(declared::CacheKind::state, Dtype::bf16, declared_tp);
  if (delta) {
    const double keys = double(delta->key_heads) * delta->key_head_dim;
    const double values = double(delta->value_heads) * delta->value_head_dim;
    return (values + 2 * keys) * (delta->conv_kernel - 1) * convolution_element_bytes +
           values * delta->key_head_dim * state_element_bytes;
  }
  if (!mamba) return 0;
  return mamba->channels() * (mamba->conv_kernel - 1) * convolution_element_bytes +
         double(mamba->heads) * mamba->head_dim * mamba->state_size * state_element_bytes;
}

}  // namespace rooflua
