#pragma once
// The options of a deployment. An option is a member here and a row in deployment.cpp: scripts, the
// keys of a scenario, help and documents have it from there. The member's initial value is the
// option's default.

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "spec/dtype.h"
#include "spec/figures/figure.h"

namespace rooflua {

inline constexpr double most_kv_blocks = 1e9, most_block_size = 1e6;

struct DeploymentOptions {
  int tp = 1;
  int dp = 1;
  int ep = 1;
  std::optional<int> moe_tp = {};
  int pp = 1;
  int cp = 1;
  int dcp = 1;
  int expert_gpus = 0;  // 0: routed experts are on the GPUs of the attention
  int micro_batches = 1;
  std::optional<Dtype> weights = {};
  std::optional<Dtype> kv = {};
  double memory_utilization = 0.92;
  int max_num_seqs = 256;
  int max_num_batched_tokens = 8192;
  int block_size = 16;
  std::optional<std::int64_t> kv_blocks = {};  // given: nothing can fail to fit
  Bytes drafter_weight_bytes = {};
  Bytes adapter_bytes = {};
  Bytes redundant_expert_bytes = {};
  Bytes drafter_kv_bytes_per_token = {};
  std::optional<Bytes> activations = {};
  std::optional<Bytes> runtime = {};
};
template <>
const FigureTable& figures<DeploymentOptions>();

}  // namespace rooflua
