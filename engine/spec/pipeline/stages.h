#pragma once
// A model in stages, one after the other, each on GPUs of its own: pipeline parallelism.
//
// The layers are dealt in order, as vLLM does: each stage gets layers / pp of them, and those that
// are left go to the last but one, the one before it, and so on. The first stage has the input
// embedding, the last one the head. Kinds of layers are taken to be spread evenly over the stages:
// a stage with a share of the layers has that share of each kind.
//
// @source vLLM distributed/utils.py (get_pp_indices)

#include <cstddef>
#include <vector>

#include "spec/hardware.h"
#include "spec/model.h"
#include "spec/weights.h"

namespace rooflua {

/// Layers of each stage. @throws Error if there are more stages than layers
std::vector<int> stage_layers(const Model& model, int pp);

/// The weights that a rank of one stage holds, of those of a rank that held all layers. A head that
/// is the embedding is held twice.
WeightParts weights_of_stage(const WeightParts& rank, const Model& model,
                             const std::vector<int>& layers, std::size_t stage);

/// Part of a step's time by stage; they sum to 1. The time of a stage goes with the weights that a
/// token visits there: those of its layers, with k of E experts, and in the last stage the head.
/// The embedding is a copy and counts nothing.
std::vector<double> stage_shares(const Model& model, const std::vector<int>& layers);

/// Seconds that the activations of one token take from each stage to the next, 2 H in model.dtype
/// (the layer's output and the residual): over the link where both stages are in one NVLink domain,
/// else over the network. A stage has `ranks` GPUs, numbered one after the other.
/// @throws Error if two stages are in different domains and the GPU states no network
std::vector<double> stage_seconds_per_token(const Model& model, const Hardware& hardware, int ranks,
                                            int pp);

}  // namespace rooflua
