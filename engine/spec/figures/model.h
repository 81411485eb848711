#pragma once
// The tables of figures of a model (figure.h).

#include "spec/figures/figure.h"
#include "spec/model.h"

namespace rooflua {

/// Limits lie far outside of what exists, so that thought experiments pass; they keep products of
/// figures, loops over them and memory within bounds.
namespace limits {
inline constexpr double most_heads = 1e4, head_width = 65536, most_width = 1e6, mlp_width = 1e7,
                        most_layers = 2000;
}

template <>
const FigureTable& figures<MixtureOfExperts>();
template <>
const FigureTable& figures<LatentAttention>();
template <>
const FigureTable& figures<DeltaRule>();
template <>
const FigureTable& figures<Mamba2>();
template <>
const FigureTable& figures<SparseIndex>();
template <>
const FigureTable& figures<Compression>();
template <>
const FigureTable& figures<AttentionLayers>();
template <>
const FigureTable& figures<MlpLayers>();
template <>
const FigureTable& figures<NgramTable>();
template <>
const FigureTable& figures<Sampling>();
template <>
const FigureTable& figures<Projection>();
template <>
const FigureTable& figures<ItemEncoder>();
template <>
const FigureTable& figures<ModelNote>();
template <>
const FigureTable& figures<Model>();
template <>
const FigureTable& figures<ShortForm>();

}  // namespace rooflua
