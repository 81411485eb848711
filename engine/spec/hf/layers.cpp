#include "spec/hf/layers.h"

#include <algorithm>

#include "base/error.h"
#include "spec/hf/kinds.h"
#include "spec/hf/mlps.h"
#include "spec/hf/unknown.h"
#include "spec/layer_kinds.h"
#include "spec/read_layers.h"

namespace rooflua {

using namespace hf;

namespace {

using Kind = AttentionKind;

// Windows and chunks ------------------------------------------------------------------------------

constexpr auto window_words = {"sliding_window", "sliding_window_size", "attention_window_size",
                               "window_size"};

/// The window's width; 0 where the file has none, or says that it is not used.
int window_width(const Fields& config, const Class* model_class) {
  int width = 0;
  for (const char* key : window_words) {
    const int stated = config.small_integer(key).value_or(0);
    if (width == 0) width = stated;
  }
  const bool by_default = model_class == nullptr || !model_class->has(window_if_asked);
  return config.boolean("use_sliding_window", by_default) ? std::max(0, width) : 0;
}

/// One letter for each layer of a period, again and again: L has a window, G does not. The last
/// layer of the model has none.
int windowed_by_letters(const std::string& letters, int layers, const Fields& config) {
  if (letters.empty() || letters.find_first_not_of("LG") != std::string::npos)
    throw Error(config.where("sliding_window_pattern"),
                "expected a number or the letters L and G, found '" + letters + "'");
  int windowed = 0;
  for (int layer = 0; layer + 1 < layers; ++layer)
    windowed += letters[static_cast<std::size_t>(layer) % letters.size()] == 'L' ? 1 : 0;
  return windowed;
}

/// Every n-th layer attends to everything in these models; 0 = no layer.
int full_layer_interval(const Fields& config, const Class* model_class) {
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    if (const auto stated = config.small_integer(key)) return std::max(0, *stated);
  }
  return class_number(model_class, "sliding_window_pattern").value_or(0);
}

/// The number of layers whose attention has a window.
int windowed_layers(const Model& model, const Fields& config, const Class* model_class) {
  const int most = model.layers;
  if (config.has("hybrid_layer_pattern")) {
    const std::vector<int> pattern = numbers_of(config, "hybrid_layer_pattern");
    check_length(config, "hybrid_layer_pattern", pattern.size(), most);
    return static_cast<int>(std::count(pattern.begin(), pattern.end(), 1));
  }
  config.allow("sliding_window_pattern");
  const auto types = layer_types(config, most);
  if (!types.empty()) return count(types, "sliding_attention");
  if (const Json* word = config.find("sliding_window_pattern"); word != nullptr && word->is_text())
    return windowed_by_letters(word->text(), most, config);
  if (const auto listed = config.find("sliding_window_layers"); listed != nullptr) {
    return static_cast<int>(numbers_of(config, "sliding_window_layers").size());
  }
  const int first_windowed = config.small_integer("max_window_layers").value_or(0);
  if (config.has("use_sliding_window") && first_windowed > 0)
    return std::max(0, most - first_windowed);
  const int interval = full_layer_interval(config, model_class);
  return interval > 0 ? most - most / interval : most;
}

/// Gemma 4: full layers have heads of their own, and one projection for keys and values.
void read_global_heads(AttentionLayers& full, const Fields& config) {
  full.head_dim = full.v_head_dim = config.need_integer("global_head_dim");
  if (config.small_integer("hidden_size_per_layer_input").value_or(0) == 0)
    config.allow("vocab_size_per_layer_input");
  full.shared_key_value = config.boolean("attention_k_eq_v", false);
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

/// Step 3.5 and 3.7: layers with a window have heads of their own, in a table.
void read_other_heads(AttentionLayers& window, const Fields& other) {
  other.allow("true_head_dim");
  if (other.text("attention_type").value_or("sliding_attention") != "sliding_attention") return;
  window.heads = other.small_integer("num_attention_heads").value_or(window.heads);
  window.kv_heads = other.small_integer("num_attention_groups").value_or(window.kv_heads);
  if (const auto width = other.small_integer("head_dim"))
    window.head_dim = window.v_head_dim = *width;
  other.finish();
}

/// A cache that no request grows has no price here.
void refuse_windows_alone(const Model& model, const Fields& config, int width) {
  const std::string key(config.first_of(
      {"sliding_window", "sliding_window_size", "attention_window_size", "window_size"}));
  throw Error(
      config.where(key),
      "all " + std::to_string(model.layers) + " layers attend to the last " +
          std::to_string(width) +
          " tokens only (by layer_types, sliding_window_pattern, max_position_embeddings), "
          "and a model without a layer that attends to everything is not supported; ignore = {\"" +
          key +
          "\"} reads it with full attention, which is the same for requests of up to "
          "so many tokens");
}

/// Refuses windows that are listed without a width.
void check_width(const Model& model, const Fields& config, int width) {
  if (width > 0 || config.has("use_sliding_window")) return;
  if (count(layer_types(config, model.layers), "sliding_attention") > 0)
    throw Error(config.where("sliding_window"),
                "is missing: layer_types lists layers with sliding_attention");
  if (config.has("sliding_window_pattern") && !config.has("sliding_window"))
    throw Error(config.where("sliding_window"),
                "is missing: sliding_window_pattern says which layers have a window; " +
                    how_to_go_on_without("sliding_window_pattern"));
}

void read_windows(ModelDraft& model, const Fields& config, const Class* model_class) {
  const std::string& type = model.family;
  const int width = window_width(config, model_class);
  check_width(model, config, width);
  const bool reaches = model.max_model_len == 0 || width < model.max_model_len;
  const int windowed = width > 0 && reaches ? windowed_layers(model, config, model_class) : 0;
  if (width <= 0 || !reaches) windowed_layers(model, config, model_class);
  const bool own_heads = type.starts_with("gemma4") || config.has("swa_num_key_value_heads");
  if (windowed == model.layers) refuse_windows_alone(model, config, width);
  if (windowed == 0 && !own_heads) return;
  AttentionLayers window = layers_of(Kind::window, windowed, model);
  AttentionLayers full = layers_of(Kind::full, model.layers - windowed, model);
  window.window = width;
  if (const auto values = config.small_integer("v_head_dim")) full.v_head_dim = *values;
  if (type.starts_with("gemma4")) read_global_heads(full, config);
  if (config.has("hybrid_layer_pattern") || config.has("swa_num_key_value_heads"))
    read_window_heads(window, config);
  if (const auto other = config.table("attention_other_setting")) read_other_heads(window, *other);
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
  if (chunked > 0) put(model, layers_of_file("chunk", chunked, "chunk", chunk, model));
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

/// Refuses chunks and indexes of models that do not read them.
void check_reach(const Model& model, const Fields& config) {
  const int chunk = config.small_integer("attention_chunk_size").value_or(0);
  if (model.attentions.empty() && chunk > 0 &&
      (model.max_model_len == 0 || chunk < model.max_model_len))
    throw Error(config.where("attention_chunk_size"),
                "attention within chunks is supported for llama4 only");
  if (!config.has("index_topk")) return;
  for (const AttentionLayers& each : model.attentions)
    if (each.index) return;
  throw Error(
      config.where("index_topk"),
      "attention to what an index picks is not supported without latent attention (kv_lora_rank)");
}

void read_attention_kinds(ModelDraft& model, const Fields& config, const Class* model_class) {
  const std::string& type = model.family;
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
  if (model.attentions.empty() && !model.hybrid) {
    read_layer_figures(model, config);
    if (model.attentions.empty()) read_windows(model, config, model_class);
  }
}

/// Arctic: beside the experts of each layer stands an MLP as wide as the model.
void read_dense_residual(ModelDraft& model, const Fields& config) {
  const std::string& type = model.family;
  const bool residual = config.boolean("parallel_attn_mlp_res", type == "arctic") &&
                        config.boolean("use_residual", true);
  if (!model.moe || !residual || type != "arctic") return;
  const int routed = model.layers - model.moe->dense_layers;
  model.mlps.push_back({MlpKind::both, routed, "", model.hidden_size, model.gated_mlp, model.moe});
  if (model.moe->dense_layers > 0)
    model.mlps.push_back({MlpKind::dense, model.moe->dense_layers, "", model.intermediate_size,
                          model.gated_mlp, std::nullopt});
  model.moe.reset();
}

}  // namespace

void read_hf_layers(ModelDraft& model, const Fields& config, const Class* model_class) {
  read_attention_kinds(model, config, model_class);
  check_reach(model, config);
  read_dense_residual(model, config);
  if (config.boolean("enable_moe_block", false)) {
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
