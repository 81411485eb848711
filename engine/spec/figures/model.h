#pragma once
// The tables of figures of a model (figure.h).

#include "spec/figures/figure.h"
#include "spec/layers.h"

namespace rooflua {

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

}  // namespace rooflua
