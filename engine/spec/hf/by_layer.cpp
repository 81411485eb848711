#include "spec/hf/by_layer.h"

#include <algorithm>
#include <utility>

#include "spec/layer_kinds.h"
#include "spec/read_layers.h"

namespace rooflua::hf {

namespace {

using Formats = std::vector<WeightFormats>;  // of each layer

Formats formats_by_layer(const Model& model, const std::vector<NamedModules>& lists,
                         const WeightFormats& rest) {
  Formats out(static_cast<std::size_t>(model.layers), rest);
  for (const NamedModules& list : lists) {
    std::vector<ModuleShares> shares;
    named_share(model, list.names, &shares);
    for (std::size_t layer = 0; layer < out.size(); ++layer) {
      for (std::size_t i = 0; i < weight_classes; ++i)
        if (shares[layer][i] >= 0.5) out[layer].of[i] = list.format;
    }
  }
  return out;
}

std::vector<WeightClass> classes_of(const AttentionLayers& each) {
  if (each.is_recurrent()) return {};
  return {WeightClass::attention, WeightClass::attention_output};
}

std::vector<WeightClass> classes_of(const MlpLayers& each) {
  std::vector<WeightClass> out;
  if (each.intermediate_size > 0) out.push_back(WeightClass::dense_mlp);
  if (!each.moe) return out;
  out.push_back(WeightClass::experts);
  if (each.moe->shared_intermediate_size > 0 || each.moe->latent_size > 0)
    out.push_back(WeightClass::shared);
  return out;
}

/// What a layer has in other formats than `all`: all of its classes, or nothing.
StatedFormats own_formats(const std::vector<WeightClass>& classes, const WeightFormats& layer,
                          const WeightFormats& all) {
  StatedFormats out;
  const bool differs = std::any_of(classes.begin(), classes.end(),
                                   [&](WeightClass each) { return layer[each] != all[each]; });
  for (const WeightClass each : classes)
    if (differs) out[static_cast<std::size_t>(each)] = layer[each];
  return out;
}

template <class Kinds>
void cut(Kinds& kinds, const Formats& by_layer, const WeightFormats& all) {
  Kinds out;
  std::size_t layer = 0;
  for (const auto& each : kinds) {
    std::vector<std::pair<StatedFormats, int>> parts = {{StatedFormats{}, 0}};
    for (const std::size_t behind = layer + static_cast<std::size_t>(each.layers); layer < behind;
         ++layer) {
      const StatedFormats own = own_formats(classes_of(each), by_layer[layer], all);
      const auto same = std::find_if(parts.begin(), parts.end(),
                                     [&](const auto& part) { return part.first == own; });
      if (same == parts.end())
        parts.emplace_back(own, 1);
      else
        ++same->second;
    }
    for (const auto& [own, layers] : parts) {
      if (layers == 0) continue;
      auto& part = out.emplace_back(each);
      part.layers = layers;
      part.formats.weights = own;
    }
  }
  kinds = std::move(out);
}

}  // namespace

Ordered::Ordered(const Model& model) {
  attentions = model.attentions.size() == 1 && model.attentions[0].layers == model.layers;
  const auto& kinds = model.mlps;
  const bool one = kinds.size() == 1 && kinds[0].layers == model.layers;
  mlps =
      one || (kinds.size() == 2 && kinds[0].kind == MlpKind::dense &&
              kinds[1].kind == MlpKind::moe && kinds[0].layers + kinds[1].layers == model.layers);
}

bool Ordered::of(WeightClass each) const {
  if (each == WeightClass::attention || each == WeightClass::attention_output) return attentions;
  const bool of_mlp =
      each == WeightClass::dense_mlp || each == WeightClass::experts || each == WeightClass::shared;
  return of_mlp && mlps;
}

void cut_by_layer(Model& model, const std::vector<NamedModules>& lists, const WeightFormats& rest) {
  const Ordered ordered(model);
  const WeightFormats all = weight_formats(model, {});
  const Formats by_layer = formats_by_layer(model, lists, rest);
  if (ordered.attentions) cut(model.attentions, by_layer, all);
  if (ordered.mlps) cut(model.mlps, by_layer, all);
  const Ordered after(model);
  if (after.attentions != ordered.attentions || after.mlps != ordered.mlps) model.uniform = false;
  name_layer_kinds(model);
}

}  // namespace rooflua::hf
