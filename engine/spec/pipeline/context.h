#pragma once
// Context parallel: the tokens of one request on several ranks.
//
//     cp    prefill: the tokens of a prompt are divided over cp groups of tp GPUs. Every group has
//           all weights and keeps the KV of all tokens; decodes run on all of them alike.
//     dcp   decode: ranks of tp that would hold the same KV heads, or the same latent vectors, hold
//           1 / dcp of the tokens each. Without it, KV heads are copied on tp / kv_heads ranks, and
//           latent vectors on all of them.
//
// @source vLLM docs/serving/context_parallel_deployment.md: dcp from 1 to tp / kv_heads; SGLang
// pull request 18233: KV of the full sequence on each rank of prefill context parallel

#include "spec/figures/deployment.h"
#include "spec/model.h"

namespace rooflua {

/// The same layers on one rank: KV heads divided by tp, but never less than one.
AttentionLayers on_rank(AttentionLayers each, int tp);

/// Ranks of tp that hold the same KV of these layers without dcp.
int kv_copies(const AttentionLayers& each, int tp);

/// @throws Error where cp or dcp do not divide the model, or stand beside what they are not
/// combined with: names the keys
void check_context(const Model& model, const DeploymentOptions& options);

}  // namespace rooflua
