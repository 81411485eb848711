#pragma once
// What follows from the kinds of layers of a model: the formats of its weights, bounds of contexts.

#include <optional>
#include <vector>

#include "spec/layers.h"
#include "spec/model.h"

namespace rooflua {

/// The short form of a model, as far as there is one: the experts of its first layers that have
/// some, its first latent attention, and its recurrent layers at a regular interval.
ShortForm short_form(const Model& model);

/// Formats of the weights when `wanted` is asked for: those of the release of that name, else
/// `wanted` in every linear layer. Nothing is asked for: as the model itself is released.
WeightFormats weight_formats(const Model& model, std::optional<Dtype> wanted);
/// The same for layers that may have formats of their own; nothing: the cache as that of others.
WeightFormats formats_of(const LayerFormats& layers, WeightFormats all);
std::optional<Dtype> kv_format_of(const LayerFormats& layers, const WeightFormats& all);
/// Format of the KV cache that the release states.
std::optional<Dtype> released_kv(const Model& model, std::optional<Dtype> wanted);

/// Bounds of contexts that attention of this model depends on: at most 4 caps in tokens, and the
/// length of a chunk (0: none). @throws Error if there are more
struct ContextLimits {
  std::vector<int> caps;
  int chunk = 0;
};
ContextLimits context_limits(const Model& model);

}  // namespace rooflua
