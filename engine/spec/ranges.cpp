#include "spec/ranges.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"

namespace rooflua {

namespace {

constexpr double heads = 1e4, width = 1e6, mlp_width = 1e7, layers = 2000;

constexpr std::array<FigureRange, 40> ranges{{
    {"model.layers", "layers", 1, layers},
    {"model.hidden_size", "elements", 1, width},
    {"model.heads", "heads", 1, heads},
    {"model.kv_heads", "heads", 1, heads},
    {"model.head_dim", "elements", 1, 65536},
    {"model.intermediate_size", "elements", 0, mlp_width},
    {"model.vocab_size", "tokens", 1, 1e8},
    {"model.max_model_len", "tokens", 0, 1e9},
    {"model.moe.experts", "experts", 1, 1e5},
    {"model.moe.experts_per_token", "experts", 1, 1e5},
    {"model.moe.intermediate_size", "elements", 1, mlp_width},
    {"model.moe.shared_intermediate_size", "elements", 0, mlp_width},
    {"model.moe.dense_layers", "layers", 0, layers},
    {"model.mla.q_lora_rank", "elements", 0, width},
    {"model.mla.kv_lora_rank", "elements", 1, width},
    {"model.mla.qk_nope_head_dim", "elements", 1, 65536},
    {"model.mla.qk_rope_head_dim", "elements", 1, 65536},
    {"model.mla.v_head_dim", "elements", 1, 65536},
    {"model.hybrid.full_attention_interval", "layers", 1, layers},
    {"model.hybrid.conv_kernel", "tokens", 1, 1000},
    {"model.hybrid.key_heads", "heads", 1, heads},
    {"model.hybrid.key_head_dim", "elements", 1, 65536},
    {"model.hybrid.value_heads", "heads", 1, heads},
    {"model.hybrid.value_head_dim", "elements", 1, 65536},
    {"model.window", "tokens", 1, 1e9},
    {"model.index.heads", "heads", 1, heads},
    {"model.index.head_dim", "elements", 1, 65536},
    {"model.index.topk", "entries", 1, 1e9},
    {"model.index.block", "tokens", 1, 1e6},
    {"model.compression.ratio", "tokens", 0, 1e6},
    {"model.mamba.heads", "heads", 1, heads},
    {"model.mamba.head_dim", "elements", 1, 65536},
    {"model.mamba.groups", "groups", 1, heads},
    {"model.mamba.state_size", "elements", 1, 65536},
    {"model.moe.latent_size", "elements", 0, width},
    {"model.sampling.temperature", "of the logits", 0, 100},
    {"model.sampling.top_p", "of the probability", 1e-6, 1},
    {"model.sampling.top_k", "tokens", 0, 1e8},
    {"model.sampling.min_p", "of the largest probability", 0, 1},
    {"model.sampling.repetition_penalty", "of a logit", 1e-6, 100},
}};

}  // namespace

std::span<const FigureRange> figure_ranges() {
  return ranges;
}

void check_range(std::string_view key, double value, const std::string& where) {
  const auto found = std::find_if(ranges.begin(), ranges.end(),
                                  [key](const FigureRange& each) { return each.key == key; });
  ROOFLUA_ASSERT(found != ranges.end());
  if (value >= found->least && value <= found->most) return;
  throw Error(where, "expected " + json_number(found->least) + " to " + json_number(found->most) +
                         " " + std::string(found->unit) + ", found " + json_number(value));
}

}  // namespace rooflua
