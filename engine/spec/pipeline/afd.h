#pragma once
// AFD (attention-FFN disaggregation): one engine on two pools of GPUs that exchange activations in
// every layer of routed experts.
//
//     attention   tp * dp GPUs: all weights but the routed experts, all KV, the requests
//     experts     expert_gpus: the routed experts, whole ones over ep, the width of each over
//     moe_tp
//
// A step is cut into micro_batches, which are in flight at once.
//
// @source arXiv 2504.02263 (MegaScale-Infer), 2507.19427 (Step-3); vllm-project/afd-plugin

#include "spec/figures/deployment.h"
#include "spec/hardware.h"
#include "spec/model.h"
#include "spec/widths.h"

namespace rooflua {

/// What one GPU of the experts holds.
struct ExpertPool {
  Bytes weights, activations, runtime;
  Bytes needed() const { return weights + activations + runtime; }
};

/// @throws Error where both pools are not combined with what else is asked for, or micro-batches
/// have no second pool: names the keys
void check_afd(const Model& model, const DeploymentOptions& options);

/// Activations are those of the whole token budget of all data-parallel ranks: inputs and outputs
/// of all micro-batches, and what lies between the GEMMs of one of them.
/// @param runtime  what a process takes besides them (runtime_estimate)
ExpertPool expert_pool(const Model& model, const Widths& widths, const DeploymentOptions& options,
                       const WeightFormats& formats, Bytes runtime);

/// The same; nothing where experts are on the GPUs of the attention.
/// @throws Error if the experts do not fit on their GPUs, or the pools cannot reach each other:
/// says by how many GiB and what would fit
ExpertPool checked_expert_pool(const Model& model, const Hardware& hardware, const Widths& widths,
                               const DeploymentOptions& options, Bytes runtime);

}  // namespace rooflua
