#pragma once
// A model on GPUs: tensor parallel degree, number formats, and what is left for the KV cache.

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "spec/hardware.h"
#include "spec/model.h"

namespace rooflua {

struct DeploymentOptions {
  int tp = 1;
  std::optional<Dtype> weights;  // default: the model's
  std::optional<Dtype> kv;       // default: the model's activation dtype
  double memory_utilization = 0.92;       // SERVING A1.8
  int max_num_seqs = 256;
  int max_num_batched_tokens = 8192;
  int block_size = 16;                    // tokens per KV block
  std::optional<std::int64_t> kv_blocks;  // given: nothing is computed, nothing can fail to fit
};

struct Deployment {
  Model model;
  Hardware hardware;
  int tp = 1;
  Dtype weight_dtype = Dtype::bf16;
  Dtype kv_dtype = Dtype::bf16;
  double memory_utilization = 0.92;
  int max_num_seqs = 256;
  int max_num_batched_tokens = 8192;
  int block_size = 16;
  std::int64_t kv_blocks = 0;       // usable blocks per replica (the engine's null block is not counted)
  Bytes weight_bytes;               // per rank
  Bytes activation_bytes;           // per rank: what a dummy forward at the token budget needs, an estimate
  Bytes kv_bytes_per_block;         // per rank, all layers
  Bytes kv_capacity;                // per rank
};

/// @throws Error if heads do not divide by tp, or the weights do not fit: says by how many GiB and
/// what would (a larger tp, a smaller dtype).
Deployment deploy(const Model& model, const Hardware& hardware, const DeploymentOptions& options);

}  // namespace rooflua
