// Layers with a state in place of a cache: gated delta rules and state spaces.

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "spec/hf/kinds.h"
#include "spec/hf/layers.h"

namespace rooflua {

using Kind = AttentionKind;

namespace {

DeltaRule linear_figures(const Fields& config) {
  DeltaRule hybrid;
  hybrid.conv_kernel = config.need_integer("linear_conv_kernel_dim");
  hybrid.key_heads = config.need_integer("linear_num_key_heads");
  hybrid.key_head_dim = config.need_integer("linear_key_head_dim");
  hybrid.value_heads = config.need_integer("linear_num_value_heads");
  hybrid.value_head_dim = config.need_integer("linear_value_head_dim");
  return hybrid;
}

AttentionLayers mamba_layers(int layers, const Fields& config) {
  const bool granite = config.has("mamba_n_heads") || config.has("mamba_d_head");
  const auto figure = [&](const char* nemotron, const char* other) {
    return config.need_integer(granite ? other : nemotron);
  };
  for (const char* key : {"chunk_size", "expand"}) config.allow(key);  // of the scan
  AttentionLayers out;
  out.kind = Kind::mamba2;
  out.layers = layers;
  out.mamba =
      Mamba2{figure("mamba_num_heads", "mamba_n_heads"), figure("mamba_head_dim", "mamba_d_head"),
             figure("n_groups", "mamba_n_groups"), figure("ssm_state_size", "mamba_d_state"),
             figure("conv_kernel", "mamba_d_conv")};
  return out;
}

/// Kinds of blocks of Nemotron: state space, attention, MLP, experts.
constexpr std::pair<std::string_view, char> block_words[] = {
    {"mamba", 'M'}, {"attention", '*'}, {"mlp", '-'}, {"moe", 'E'}};

/// One letter for each block.
std::string blocks_of(const Fields& config) {
  if (const auto pattern = config.text("hybrid_override_pattern")) return *pattern;
  std::string out;
  for (const std::string& word : config.texts("layers_block_type")) {
    const auto known = std::find_if(std::begin(block_words), std::end(block_words),
                                    [&](const auto& each) { return each.first == word; });
    if (known == std::end(block_words))
      throw Error(config.where("layers_block_type"),
                  "unknown kind of block '" + word + "' (known: mamba, attention, mlp, moe)");
    out += known->second;
  }
  return out;
}

}  // namespace

namespace hf {

/// Gated delta net, at a regular interval or as listed.
void read_hybrid(ModelDraft& model, const Fields& config, std::string_view type) {
  const auto stated = config.small_integer("full_attention_interval");
  const int linear = count(layer_types(config, model.layers), "linear_attention");
  if (stated.value_or(0) <= 0 && linear == 0) return;
  DeltaRule hybrid = linear_figures(config);
  // Qwen3-Next always has the gate, without a key for it; Qwen3.5 has the key attn_output_gate.
  model.attention_output_gate = config.boolean("attn_output_gate", type == "qwen3_next");
  const int full = linear > 0 ? model.layers - linear : model.layers / std::max(1, *stated);
  if (linear > 0 && stated && model.layers / std::max(1, *stated) != full)
    throw Error(config.where("full_attention_interval"),
                std::to_string(*stated) + ", but layer_types lists " + std::to_string(full) +
                    " layers of full attention");
  if (full > 0 && model.layers % full == 0) {
    hybrid.full_attention_interval = stated.value_or(model.layers / full);
    model.hybrid = hybrid;
    return;
  }
  AttentionLayers delta;
  delta.kind = Kind::delta;
  delta.layers = model.layers - full;
  delta.delta = hybrid;
  put(model, delta);
  put(model, layers_of(Kind::full, full, model));
}

/// Kimi-K3: KDA layers, and layers of latent or full attention between them.
void read_kda(ModelDraft& model, const Fields& config) {
  const Fields linear = config.need_table("linear_attn_config");
  const auto kda = static_cast<int>(numbers_of(linear, "kda_layers").size());
  const auto full = static_cast<int>(numbers_of(linear, "full_attn_layers").size());
  check_length(linear, "kda_layers and full_attn_layers", static_cast<std::size_t>(kda + full),
               model.layers);
  AttentionLayers delta;
  delta.kind = Kind::delta;
  delta.layers = kda;
  const int heads = linear.need_integer("num_heads"), width = linear.need_integer("head_dim");
  delta.delta = DeltaRule{
      DeltaGates::kda, linear.need_integer("short_conv_kernel_size"), heads, width, heads, width};
  model.attention_output_gate = config.boolean("mla_use_output_gate", false);
  put(model, delta);
  put(model, layers_of(model.mla ? Kind::latent : Kind::full, full, model));
}

/// Granite: state-space layers, each with an MLP after it.
void read_mamba(ModelDraft& model, const Fields& config) {
  const int mamba = count(layer_types(config, model.layers), "mamba");
  if (mamba == 0) return;
  put(model, mamba_layers(mamba, config));
  put(model, layers_of(Kind::full, model.layers - mamba, model));
}

void read_blocks(ModelDraft& model, const Fields& config) {
  const std::string blocks = blocks_of(config);
  check_length(config, config.first_of({"hybrid_override_pattern", "layers_block_type"}),
               blocks.size(), model.layers);
  const auto of = [&](char letter) {
    return static_cast<int>(std::count(blocks.begin(), blocks.end(), letter));
  };
  if (of('M') + of('*') + of('-') + of('E') != model.layers)
    throw Error(config.where("hybrid_override_pattern"), "expected the letters M, *, - and E");
  if (of('M') > 0) put(model, mamba_layers(of('M'), config));
  put(model, layers_of(Kind::full, of('*'), model));
  if (of('-') > 0) {
    model.mlps.push_back(
        {MlpKind::dense, of('-'), "", model.intermediate_size, model.gated_mlp, std::nullopt});
  }
  if (of('E') > 0) {
    if (!model.moe) throw Error(config.where("n_routed_experts"), "is missing: some blocks are E");
    model.mlps.push_back({MlpKind::moe, of('E'), "", 0, model.gated_mlp, model.moe});
  }
  model.moe.reset();  // its number of layers follows from the kinds
}

}  // namespace hf

std::optional<int> listed_layers(const Fields& config) {
  const std::string blocks = blocks_of(config);
  return blocks.empty() ? std::nullopt : std::optional(static_cast<int>(blocks.size()));
}

}  // namespace rooflua
