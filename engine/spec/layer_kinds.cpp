#include "spec/layer_kinds.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

using Kind = AttentionKind;

namespace {

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
  const WeightClass most =
      model.experts() != nullptr ? WeightClass::experts : WeightClass::dense_mlp;
  return model.weights[static_cast<std::size_t>(most)] == wanted;
}

}  // namespace

// Declared in model.h: sums over the kinds of layers.

const MixtureOfExperts* Model::experts() const {
  for (const MlpLayers& each : mlps) {
    if (each.moe) return &*each.moe;
  }
  return nullptr;
}

const LatentAttention* Model::latent() const {
  for (const AttentionLayers& each : attentions) {
    if (each.latent) return &*each.latent;
  }
  return nullptr;
}

int Model::full_attention_layers() const {
  int growing = 0;
  for (const AttentionLayers& each : attentions) growing += each.grows() ? each.layer_visits() : 0;
  return growing;
}

int Model::linear_attention_layers() const {
  int recurrent = 0;
  for (const AttentionLayers& each : attentions)
    recurrent += each.is_recurrent() ? each.layers : 0;
  return recurrent;
}

int Model::moe_layers() const {
  int routed = 0;
  for (const MlpLayers& each : mlps) routed += each.moe ? each.layers : 0;
  return routed;
}

int Model::dense_mlp_layers() const {
  int dense = 0;
  for (const MlpLayers& each : mlps)
    dense += each.kind != MlpKind::moe && each.kind != MlpKind::declared ? each.layers : 0;
  return dense;
}

Bytes Model::kv_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions)
    bytes += each.layer_visits() * each.growing_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions)
    bytes += each.layer_visits() * each.bounded_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes(Dtype kv, double tokens) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions)
    bytes += each.layer_visits() * each.bounded_bytes(kv) * std::min(tokens, double(each.window));
  return bytes * unit::byte;
}

Bytes Model::state_bytes_per_request() const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions) bytes += each.layer_visits() * each.state_bytes();
  return bytes * unit::byte;
}

ShortForm short_form(const Model& model) {
  ShortForm out;
  if (const MixtureOfExperts* moe = model.experts()) {
    out.moe = *moe;
    out.moe->dense_layers = std::max(0, model.layers - model.moe_layers());
  }
  if (const LatentAttention* latent = model.latent()) out.mla = *latent;
  for (const AttentionLayers& each : model.attentions) {
    if (each.delta && each.delta->full_attention_interval > 0) out.hybrid = each.delta;
  }
  return out;
}

WeightFormats weight_formats(const Model& model, std::optional<Dtype> wanted) {
  WeightFormats formats;
  formats.of.fill(model.dtype);
  if (const Release* release = release_of(model, wanted)) {
    formats.release = release->name;
    put(formats, release->weights);
    return formats;
  }
  const bool own = !wanted || is_own(model, *wanted);
  const std::optional<Dtype> linear = own ? model.weight_dtype : wanted;
  for (std::size_t i = 0; i < weight_classes && linear; ++i) {
    if (is_linear(static_cast<WeightClass>(i))) formats.of[i] = *linear;
  }
  if (own) put(formats, model.weights);
  formats.is_own = own;
  return formats;
}

namespace {

const Release* release_of(const LayerFormats& layers, const WeightFormats& all) {
  const auto found =
      std::find_if(layers.releases.begin(), layers.releases.end(),
                   [&](const Release& each) { return all.release && each.name == *all.release; });
  return found == layers.releases.end() ? nullptr : &*found;
}

}  // namespace

WeightFormats formats_of(const LayerFormats& layers, WeightFormats all) {
  if (all.is_own) put(all, layers.weights);
  if (const Release* release = release_of(layers, all)) put(all, release->weights);
  return all;
}

std::optional<Dtype> kv_format_of(const LayerFormats& layers, const WeightFormats& all) {
  if (all.is_own) return layers.kv;
  const Release* release = release_of(layers, all);
  return release != nullptr ? release->kv : std::nullopt;
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
  const auto add_chunk = [&](int chunk) {
    if (bounds.chunk > 0 && bounds.chunk != chunk)
      throw Error("model.attention", "chunks of two lengths in one model are not supported");
    bounds.chunk = chunk;
  };
  for (const AttentionLayers& each : model.attentions) {
    if (each.by_file) {
      for (const declared::Operation& op : each.by_file->operations) {
        if (op.bound.form == declared::BoundForm::chunk)
          add_chunk(op.bound.tokens);
        else
          add(op.bound.tokens);
      }
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
