#include "spec/layers.h"

#include <algorithm>

#include "base/error.h"
#include "spec/model.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

constexpr double index_scale_bytes = 4;        // one fp32 per entry of an index, beside its FP8
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

/// The figures of a model whose kinds of attention are not listed.
AttentionLayers plain_attention(const Model& model) {
  AttentionLayers out;
  out.kind = model.mla ? Kind::latent : Kind::full;
  out.name = model.mla ? "latent" : "full";
  out.layers = model.full_attention_layers();
  out.heads = model.heads;
  out.kv_heads = model.kv_heads;
  out.head_dim = model.head_dim;
  out.v_head_dim = model.mla ? model.mla->v_head_dim : model.head_dim;
  out.bias = model.attention_bias;
  out.output_gate = model.attention_output_gate;
  out.latent = model.mla;
  return out;
}

AttentionLayers delta_layers(const Model& model) {
  const HybridAttention& hybrid = *model.hybrid;
  AttentionLayers out;
  out.kind = Kind::delta;
  out.name = "delta";
  out.layers = model.linear_attention_layers();
  out.delta = DeltaRule{false,
                        hybrid.conv_kernel,
                        hybrid.key_heads,
                        hybrid.key_head_dim,
                        hybrid.value_heads,
                        hybrid.value_head_dim};
  return out;
}

bool is_linear(WeightClass each) {
  return each != WeightClass::router && each != WeightClass::lm_head &&
         each != WeightClass::embedding && each != WeightClass::index;
}

void put(WeightFormats& formats, const StatedFormats& stated) {
  for (std::size_t i = 0; i < weight_classes; ++i) {
    if (stated[i]) formats.of[i] = *stated[i];
  }
}

const Release* release_of(const Model& model, std::optional<Dtype> wanted) {
  if (!wanted) return nullptr;
  const auto found = std::find_if(model.releases.begin(), model.releases.end(),
                                  [&](const Release& each) { return each.name == *wanted; });
  return found == model.releases.end() ? nullptr : &*found;
}

/// Whether the model itself is released in this format: that of most of its weights.
bool is_own(const Model& model, Dtype wanted) {
  if (model.weight_dtype) return *model.weight_dtype == wanted;
  const WeightClass most = model.moe ? WeightClass::experts : WeightClass::dense_mlp;
  return model.weights[static_cast<std::size_t>(most)] == wanted;
}

}  // namespace

bool AttentionLayers::grows() const {
  if (kind == Kind::compressed) return compression->ratio > 0;
  return kind == Kind::full || kind == Kind::latent || kind == Kind::latent_sparse ||
         kind == Kind::block_sparse;
}

double AttentionLayers::growing_bytes(Dtype kv) const {
  if (!grows()) return 0;
  const double element = bytes_per_element(kv);
  if (compression) return head_dim * element / compression->ratio + index_bytes(*this);
  const double elements =
      latent ? latent->kv_lora_rank + latent->qk_rope_head_dim : key_value_elements(*this);
  return elements * element + index_bytes(*this);
}

double AttentionLayers::bounded_bytes(Dtype kv) const {
  if (kind == Kind::compressed) return head_dim * bytes_per_element(kv);
  if (kind != Kind::window && kind != Kind::chunk) return 0;
  return key_value_elements(*this) * bytes_per_element(kv);
}

double AttentionLayers::state_bytes() const {
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

std::vector<AttentionLayers> attention_kinds(const Model& model) {
  if (!model.attentions.empty()) return model.attentions;
  std::vector<AttentionLayers> kinds{plain_attention(model)};
  if (model.hybrid) kinds.push_back(delta_layers(model));
  return kinds;
}

std::vector<MlpLayers> mlp_kinds(const Model& model) {
  if (!model.mlps.empty()) return model.mlps;
  std::vector<MlpLayers> kinds;
  const int routed = model.moe_layers();
  if (model.layers > routed) {
    kinds.push_back({MlpKind::dense, model.layers - routed, "dense", model.intermediate_size,
                     model.gated_mlp, std::nullopt});
  }
  if (routed > 0) kinds.push_back({MlpKind::moe, routed, "moe", 0, model.gated_mlp, model.moe});
  return kinds;
}

WeightFormats weight_formats(const Model& model, std::optional<Dtype> wanted) {
  WeightFormats formats;
  formats.of.fill(model.dtype);
  if (const Release* release = release_of(model, wanted)) {
    put(formats, release->weights);
    return formats;
  }
  const bool own = !wanted || is_own(model, *wanted);
  const std::optional<Dtype> linear = own ? model.weight_dtype : wanted;
  for (std::size_t i = 0; i < weight_classes && linear; ++i) {
    if (is_linear(static_cast<WeightClass>(i))) formats.of[i] = *linear;
  }
  if (own) put(formats, model.weights);
  return formats;
}

std::optional<Dtype> released_kv(const Model& model, std::optional<Dtype> wanted) {
  if (const Release* release = release_of(model, wanted)) return release->kv;
  return !wanted || is_own(model, *wanted) ? model.kv_dtype : std::nullopt;
}

ContextLimits context_limits(const Model& model) {
  ContextLimits bounds;
  const auto add = [&](int cap) {
    if (cap > 0 && std::find(bounds.caps.begin(), bounds.caps.end(), cap) == bounds.caps.end())
      bounds.caps.push_back(cap);
  };
  for (const AttentionLayers& each : model.attentions) {
    if (each.kind == Kind::chunk) {
      if (bounds.chunk > 0 && bounds.chunk != each.window)
        throw Error("model.attention", "chunks of two lengths in one model are not supported");
      bounds.chunk = each.window;
    } else {
      add(each.window);
    }
    if (each.index) {
      const int entries = each.index->topk * each.index->block;
      add(each.compression ? entries * each.compression->ratio : entries);
    }
  }
  std::sort(bounds.caps.begin(), bounds.caps.end());
  if (bounds.caps.size() > 4)
    throw Error("model.attention", "more than 4 different windows and selections in one model");
  return bounds;
}

}  // namespace rooflua
