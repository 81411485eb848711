#include "spec/deployment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/error.h"
#include "spec/ranges.h"
#include "spec/weights.h"

namespace rooflua {

namespace {

std::string gib(Bytes bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / unit::GiB);
  return text;
}

Bytes block_bytes_per_layer(const Model& model, int tp, int block_size, Dtype kv_dtype) {
  double elements = 0;
  if (model.mla) {
    elements = model.mla->kv_lora_rank + model.mla->qk_rope_head_dim;  // a copy on every rank
  } else {
    elements = 2.0 * std::max(1, model.kv_heads / tp) * model.head_dim;
  }
  return block_size * elements * bytes_per_element(kv_dtype) * unit::byte;
}

void check(const DeploymentOptions& options) {
  const auto range = [](double value, const char* key) {
    const std::string path = std::string("deployment.") + key;
    check_range(path, value, path);
  };
  range(options.tp, "tp");
  range(options.max_num_seqs, "max_num_seqs");
  range(options.max_num_batched_tokens, "max_num_batched_tokens");
  range(options.block_size, "block_size");
  if (options.kv_blocks) range(static_cast<double>(*options.kv_blocks), "kv_blocks");
  range(options.memory_utilization, "memory_utilization");
  if (options.activations) range(options.activations->in_base_units(), "activations");
  if (options.runtime) range(options.runtime->in_base_units(), "runtime");
}

/// What a rank needs before the first KV block, and what it has.
struct Balance {
  Bytes weights, activations, runtime, state;
  Bytes requested;
  Bytes needed() const { return weights + activations + runtime + state; }
};

Dtype weight_dtype_of(const Model& model, const DeploymentOptions& options) {
  return options.weights.value_or(model.weight_dtype.value_or(model.dtype));
}

Balance balance_of(const Model& model, const Hardware& hardware, const DeploymentOptions& options) {
  Balance balance;
  const Dtype linear = weight_dtype_of(model, options);
  balance.weights = weight_bytes(weights_per_rank(model, options.tp), model, linear);
  balance.activations = options.activations.value_or(
      activation_estimate(model, options.tp, options.max_num_batched_tokens, options.max_num_seqs));
  balance.runtime = options.runtime.value_or(runtime_estimate(options.tp));
  balance.state = model.state_bytes_per_request() * (double(options.max_num_seqs) / options.tp);
  balance.requested =
      std::ceil(hardware.usable_memory.in_base_units() * options.memory_utilization) * unit::byte;
  return balance;
}

bool fits(const Model& model, const Hardware& hardware, const DeploymentOptions& options) {
  try {
    const Balance balance = balance_of(model, hardware, options);
    return balance.needed() + unit::GiB <= balance.requested;  // and something is left for KV
  } catch (const Error&) {
    return false;  // does not divide
  }
}

/// "fits with tp = 4, or with fp8 weights"
std::string what_would_fit(const Model& model, const Hardware& hardware,
                           const DeploymentOptions& options) {
  std::vector<std::string> ways;
  for (int tp = options.tp * 2; tp <= 64; tp *= 2) {
    DeploymentOptions other = options;
    other.tp = tp;
    if (!fits(model, hardware, other)) continue;
    ways.push_back("with tp = " + std::to_string(tp));
    break;
  }
  const double bytes = bytes_per_element(weight_dtype_of(model, options));
  for (const Dtype dtype : {Dtype::fp8, Dtype::fp4}) {
    DeploymentOptions other = options;
    other.weights = dtype;
    if (bytes_per_element(dtype) >= bytes || !fits(model, hardware, other)) continue;
    ways.push_back("with weights = \"" + std::string(name(dtype)) + "\"");
    break;
  }
  if (model.hybrid && options.max_num_seqs > 1) {
    DeploymentOptions other = options;
    other.max_num_seqs = 1;
    if (fits(model, hardware, other)) ways.push_back("with a smaller max_num_seqs");
  }
  std::string text;
  for (const std::string& way : ways) text += (text.empty() ? "it fits " : ", or ") + way;
  return text.empty() ? "no tp up to 64 and no smaller dtype makes it fit" : text;
}

[[noreturn]] void does_not_fit(const Model& model, const Hardware& hardware,
                               const DeploymentOptions& options, const Balance& balance,
                               Bytes short_by) {
  std::string text = model.name + " does not fit on " + hardware.name +
                     " with tp = " + std::to_string(options.tp) + ": " + gib(short_by) +
                     " too much. Per GPU " + gib(balance.weights) + " of " +
                     std::string(name(weight_dtype_of(model, options))) + " weights, " +
                     gib(balance.activations) + " activations, " + gib(balance.runtime) +
                     " runtime";
  if (balance.state > Bytes(0)) text += ", " + gib(balance.state) + " linear-attention state";
  text += "; available " + gib(balance.requested) + " (" + json_number(options.memory_utilization) +
          " of " + gib(hardware.usable_memory) + "); " + what_would_fit(model, hardware, options);
  throw Error("deployment", text);
}

}  // namespace

Bytes activation_estimate(const Model& model, int tp, int tokens, int requests) {
  const double ranks = tp, element = bytes_per_element(model.dtype);
  const double query = model.heads / ranks * model.head_dim;
  double widest = 2 * query + 2.0 * std::max(1, model.kv_heads / tp) * model.head_dim;
  if (model.dense_mlp_layers() > 0)
    widest = std::max(widest, 3.0 * model.intermediate_size / ranks);
  if (model.moe) {
    const double visited = model.moe->experts_per_token;
    widest = std::max(widest,
                      visited * (3.0 * model.moe->intermediate_size / ranks + model.hidden_size));
  }
  const double forward = tokens * (2.0 * model.hidden_size + widest) * element;
  const double sampler = double(std::min(requests, tokens)) * model.vocab_size * (2 + 4 + 4);
  return std::max(forward, sampler) * unit::byte;
}

Bytes runtime_estimate(int tp) {
  return (tp > 1 ? 0.25 + 0.45 : 0.25) * unit::GiB;
}

Deployment deploy(const Model& model, const Hardware& hardware, const DeploymentOptions& options) {
  check(options);
  const Balance balance = balance_of(model, hardware, options);
  Deployment out;
  out.model = model;
  out.hardware = hardware;
  out.tp = options.tp;
  out.weight_dtype = weight_dtype_of(model, options);
  out.kv_dtype = options.kv.value_or(model.dtype);
  out.memory_utilization = options.memory_utilization;
  out.max_num_seqs = options.max_num_seqs;
  out.max_num_batched_tokens = options.max_num_batched_tokens;
  out.block_size = options.block_size;
  out.weight_bytes = balance.weights;
  out.activation_bytes = balance.activations;
  out.runtime_bytes = balance.runtime;
  out.state_bytes = balance.state;
  const Bytes page = block_bytes_per_layer(model, options.tp, options.block_size, out.kv_dtype);
  const int layers = model.full_attention_layers();
  out.kv_bytes_per_block = layers * page;
  if (options.kv_blocks) {
    out.kv_blocks = *options.kv_blocks;
  } else {
    const Bytes available = balance.requested - balance.needed();
    const double blocks = std::floor(std::floor(available / page) / layers) - 1;
    if (blocks >= 1) check_range("deployment.kv_blocks", blocks, "deployment.kv_blocks, computed");
    out.kv_blocks = static_cast<std::int64_t>(blocks);
    if (out.kv_blocks < 1) {
      does_not_fit(model, hardware, options, balance, 2.0 * out.kv_bytes_per_block - available);
    }
  }
  out.kv_capacity = static_cast<double>(out.kv_blocks) * out.kv_bytes_per_block;
  return out;
}

}  // namespace rooflua
