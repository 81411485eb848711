#include "spec/layer_kinds.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

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
  if (const auto all = stated[static_cast<std::size_t>(WeightClass::attention)])
    formats[WeightClass::attention_output] = *all;
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

// Declared in model.h: sums over the kinds of layers.

int Model::full_attention_layers() const {
  if (attentions.empty()) return hybrid ? layers / hybrid->full_attention_interval : layers;
  int growing = 0;
  for (const AttentionLayers& each : attentions) growing += each.grows() ? each.layers : 0;
  return growing;
}

int Model::linear_attention_layers() const {
  if (attentions.empty()) return layers - full_attention_layers();
  int recurrent = 0;
  for (const AttentionLayers& each : attentions)
    recurrent += each.delta || each.mamba ? each.layers : 0;
  return recurrent;
}

int Model::moe_layers() const {
  if (mlps.empty()) return moe ? layers - moe->dense_layers : 0;
  int routed = 0;
  for (const MlpLayers& each : mlps) routed += each.moe ? each.layers : 0;
  return routed;
}

int Model::dense_mlp_layers() const {
  if (mlps.empty()) return layers - moe_layers();
  int dense = 0;
  for (const MlpLayers& each : mlps) dense += each.kind != MlpKind::moe ? each.layers : 0;
  return dense;
}

Bytes Model::kv_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attention_kinds(*this))
    bytes += each.layers * each.growing_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions) bytes += each.layers * each.bounded_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes(Dtype kv, double tokens) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions)
    bytes += each.layers * each.bounded_bytes(kv) * std::min(tokens, double(each.window));
  return bytes * unit::byte;
}

Bytes Model::state_bytes_per_request() const {
  double bytes = 0;
  for (const AttentionLayers& each : attention_kinds(*this))
    bytes += each.layers * each.state_bytes();
  return bytes * unit::byte;
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
