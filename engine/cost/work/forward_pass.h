#pragma once
// The operations of one forward pass on one rank, as a serving engine runs them: fused qkv, fused
// gate_up, experts as one grouped kernel, an LM head for the requests that sample, two all-reduces
// per layer. What a step model walks over, and what `cost.layers(model, deployment)` returns.

#include <vector>

#include "cost/work/layer_op.h"
#include "spec/deployment.h"
#include "spec/model.h"

namespace rooflua {

/// All operations in the order they run; those of equal shape in different layers are one entry.
/// Where a model has several kinds of layers, the names of all but the first end in "@kind".
/// Uses the widths and the number formats of `deployment`, the shapes of `model`.
/// KV heads are replicated when tp exceeds them. Router and LM head stay in the model's dtype,
/// unless a release says otherwise.
/// Not in the list: q/k norms, sampling, host work, scores of an index.
/// @source vLLM model definitions (LlamaForCausalLM, Qwen3MoE, DeepseekV2); docs/MODELS.md
std::vector<LayerOp> layers(const Model& model, const Deployment& deployment);

}  // namespace rooflua
