#include "spec/hf/layers.h"

#include <algorithm>

#include "base/error.h"
#include "spec/hf/kinds.h"

namespace rooflua {

using namespace hf;

namespace {

using Kind = AttentionKind;

// Windows and chunks ------------------------------------------------------------------------------

/// Every n-th layer attends to everything in these models, although no key says so; 0 = no layer.
int full_layer_interval(const Fields& config) {
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    if (const auto stated = config.small_integer(key)) return std::max(0, *stated);
  }
  const std::string type = config.text("model_type").value_or("");
  if (type.starts_with("gemma3")) return 6;
  return type.starts_with("gemma2") || type.starts_with("gpt_oss") ? 2 : 0;
}

/// Gemma 4: full layers have heads of their own, and one projection for keys and values.
void read_global_heads(AttentionLayers& full, const Fields& config) {
  full.head_dim = full.v_head_dim = config.need_integer("global_head_dim");
  if (config.small_integer("hidden_size_per_layer_input").value_or(0) == 0)
    config.allow("vocab_size_per_layer_input");
  full.shared_key_value = config.boolean("attention_k_eq_v").value_or(false);
  if (full.shared_key_value) full.kv_heads = config.need_integer("num_global_key_value_heads");
}

/// MiMo-V2: layers with a window have heads of their own, and values are narrower than keys.
void read_window_heads(AttentionLayers& window, const Fields& config) {
  window.kv_heads = config.need_integer("swa_num_key_value_heads");
  window.head_dim = config.need_integer("swa_head_dim");
  window.v_head_dim = config.need_integer("swa_v_head_dim");
  window.heads = config.small_integer("swa_num_attention_heads").value_or(window.heads);
  config.allow("attention_chunk_size");  // the width of the window again
}

void read_windows(ModelDraft& model, const Fields& config, std::string_view type) {
  const int width = config.small_integer("sliding_window").value_or(0);
  const bool reaches = model.max_model_len == 0 || width < model.max_model_len;
  const bool used = config.boolean("use_sliding_window").value_or(true) && width > 0 && reaches;
  const int windowed = used ? windowed_layers(model, config) : 0;
  const bool own_heads = type.starts_with("gemma4") || config.has("swa_num_key_value_heads");
  // Where every layer has the window no cache grows, which is not supported: a note says so.
  if (windowed == model.layers || (windowed == 0 && !own_heads)) return;
  AttentionLayers window = layers_of(Kind::window, windowed, model);
  AttentionLayers full = layers_of(Kind::full, model.layers - windowed, model);
  window.window = width;
  if (const auto values = config.small_integer("v_head_dim")) full.v_head_dim = *values;
  if (type.starts_with("gemma4")) read_global_heads(full, config);
  if (config.has("hybrid_layer_pattern") || config.has("swa_num_key_value_heads"))
    read_window_heads(window, config);
  put(model, window);
  put(model, full);
}

/// Llama 4: layers with rope attend within chunks, those without to everything.
void read_chunks(ModelDraft& model, const Fields& config) {
  const int chunk = config.small_integer("attention_chunk_size").value_or(0);
  if (chunk <= 0 || (model.max_model_len > 0 && chunk >= model.max_model_len)) return;
  const std::vector<int> rope = numbers_of(config, "no_rope_layers");
  const auto types = layer_types(config, model.layers);
  const int interval = std::max(1, config.small_integer("no_rope_layer_interval").value_or(4));
  int chunked = model.layers - model.layers / interval;
  if (!rope.empty()) {
    check_length(config, "no_rope_layers", rope.size(), model.layers);
    chunked = static_cast<int>(std::count(rope.begin(), rope.end(), 1));
  }
  if (!types.empty()) chunked = count(types, "chunked_attention");
  if (chunked == model.layers) return;
  AttentionLayers chunks = layers_of(Kind::chunk, chunked, model);
  chunks.window = chunk;
  put(model, chunks);
  put(model, layers_of(Kind::full, model.layers - chunked, model));
}

// The whole model ---------------------------------------------------------------------------------

/// The heads of the first kind whose cache grows are those of the model.
void take_heads(ModelDraft& model) {
  for (const AttentionLayers& each : model.attentions) {
    if (!each.grows()) continue;
    model.heads = each.heads;
    model.kv_heads = each.kv_heads;
    model.head_dim = each.head_dim;
    return;
  }
}

/// MiniMax lists a kind for each layer: 1 is full attention, 0 was linear attention in M1.
void check_plain(const Fields& config) {
  for (const int kind : numbers_of(config, "attn_type_list")) {
    if (kind != 1)
      throw Error(config.where("attn_type_list"),
                  "kind " + std::to_string(kind) + " is not supported (known: 1, full)");
  }
}

void read_attention_kinds(ModelDraft& model, const Fields& config, std::string_view type) {
  if (config.has("hybrid_override_pattern") || config.has("layers_block_type"))
    return read_blocks(model, config);
  if (type == "nemotron_h")
    throw Error(config.where("hybrid_override_pattern"), "is missing, and layers_block_type too");
  if (config.has("linear_attn_config")) return read_kda(model, config);
  if (config.has("compress_ratios")) return read_compressed(model, config);
  if (config.has("o_lora_rank") || type == "deepseek_v4")
    throw Error(config.where("compress_ratios"), "is missing");
  if (config.has("sparse_attention_config")) return read_block_sparse(model, config);
  if (model.mla && config.has("index_topk")) return read_index(model, config);
  if (type.starts_with("llama4")) return read_chunks(model, config);
  check_plain(config);
  read_mamba(model, config);
  if (model.attentions.empty()) read_hybrid(model, config, type);
  if (model.attentions.empty() && !model.hybrid) read_windows(model, config, type);
}

}  // namespace

int windowed_layers(const Model& model, const Fields& config) {
  const int most = model.layers;
  if (config.has("hybrid_layer_pattern")) {
    const std::vector<int> pattern = numbers_of(config, "hybrid_layer_pattern");
    check_length(config, "hybrid_layer_pattern", pattern.size(), most);
    return static_cast<int>(std::count(pattern.begin(), pattern.end(), 1));
  }
  const auto types = layer_types(config, most);
  if (!types.empty()) return count(types, "sliding_attention");
  const int first_windowed = config.small_integer("max_window_layers").value_or(0);
  if (config.has("use_sliding_window") && first_windowed > 0)
    return std::max(0, most - first_windowed);
  const int interval = full_layer_interval(config);
  return interval > 0 ? most - most / interval : most;
}

void read_hf_layers(ModelDraft& model, const Fields& config, std::string_view type) {
  read_attention_kinds(model, config, type);
  if (config.boolean("enable_moe_block").value_or(false)) {
    if (!model.moe) throw Error(config.where("num_experts"), "is missing: enable_moe_block is set");
    model.mlps.push_back(
        {MlpKind::both, model.layers, "", model.intermediate_size, true, model.moe});
    model.moe.reset();
  }
  take_heads(model);
  if (!model.attentions.empty() && model.full_attention_layers() == 0)
    throw Error(config.where(""), "no layer has a cache that grows, which is not supported");
  complete_layer_kinds(model);
}

}  // namespace rooflua
