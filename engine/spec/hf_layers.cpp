#include "spec/hf_layers.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "spec/read_layers.h"

namespace rooflua {

namespace {

using Kind = AttentionKind;

int count(const std::vector<std::string>& words, std::string_view word) {
  return static_cast<int>(std::count(words.begin(), words.end(), word));
}

void check_length(const Fields& fields, std::string_view key, std::size_t found, int layers) {
  if (found == static_cast<std::size_t>(layers)) return;
  throw Error(fields.where(key), "has " + std::to_string(found) + " entries for " +
                                     std::to_string(layers) + " layers");
}

/// The words of a list with one for each layer; empty if the file has no such list.
std::vector<std::string> words_of(const Fields& fields, std::string_view key, int layers) {
  const std::vector<std::string> words = fields.texts(key);
  if (!words.empty()) check_length(fields, key, words.size(), layers);
  return words;
}

/// The kinds of layers that a file names, of layers whose kind is one of these.
std::vector<std::string> layer_types(const Fields& fields, int layers) {
  const std::vector<std::string> known{"full_attention",   "sliding_attention", "chunked_attention",
                                       "linear_attention", "attention",         "mamba"};
  const std::vector<std::string> types = words_of(fields, "layer_types", layers);
  for (const std::string& type : types) {
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw Error(fields.where("layer_types"), unknown_name("kind of layer", type, known));
  }
  return types;
}

/// The numbers of such a list.
std::vector<int> numbers_of(const Fields& fields, std::string_view key) {
  std::vector<int> out;
  const Json* list = fields.find(key);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& each : list->items()) {
    if (!each.is_number()) throw Error(fields.where(key), "expected a list of numbers");
    out.push_back(static_cast<int>(each.number()));
  }
  return out;
}

/// So many layers with the heads of the model.
AttentionLayers layers_of(Kind kind, int layers, const Model& model) {
  AttentionLayers out;
  out.kind = kind;
  out.layers = layers;
  out.heads = model.heads;
  out.kv_heads = model.kv_heads;
  out.head_dim = model.head_dim;
  out.v_head_dim = model.mla ? model.mla->v_head_dim : model.head_dim;
  out.bias = model.attention_bias;
  out.output_gate = model.attention_output_gate;
  if (kind == Kind::latent || kind == Kind::latent_sparse) out.latent = model.mla;
  return out;
}

void put(Model& model, AttentionLayers kind) {
  if (kind.layers > 0) model.attentions.push_back(std::move(kind));
}

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

void read_windows(Model& model, const Fields& config, std::string_view type) {
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
void read_chunks(Model& model, const Fields& config) {
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

// Recurrent layers --------------------------------------------------------------------------------

HybridAttention linear_figures(const Fields& config) {
  HybridAttention hybrid;
  hybrid.conv_kernel = config.need_integer("linear_conv_kernel_dim");
  hybrid.key_heads = config.need_integer("linear_num_key_heads");
  hybrid.key_head_dim = config.need_integer("linear_key_head_dim");
  hybrid.value_heads = config.need_integer("linear_num_value_heads");
  hybrid.value_head_dim = config.need_integer("linear_value_head_dim");
  return hybrid;
}

/// Gated delta net, at a regular interval or as listed.
void read_hybrid(Model& model, const Fields& config, std::string_view type) {
  const auto stated = config.small_integer("full_attention_interval");
  const int linear = count(layer_types(config, model.layers), "linear_attention");
  if (stated.value_or(0) <= 0 && linear == 0) return;
  HybridAttention hybrid = linear_figures(config);
  // Qwen3-Next always has the gate, without a key for it; Qwen3.5 has the key attn_output_gate.
  model.attention_output_gate = config.boolean("attn_output_gate").value_or(type == "qwen3_next");
  const int full = linear > 0 ? model.layers - linear : model.layers / std::max(1, *stated);
  if (full > 0 && model.layers % full == 0) {
    hybrid.full_attention_interval = stated.value_or(model.layers / full);
    model.hybrid = hybrid;
    return;
  }
  AttentionLayers delta;
  delta.kind = Kind::delta;
  delta.layers = model.layers - full;
  delta.delta = DeltaRule{false,
                          hybrid.conv_kernel,
                          hybrid.key_heads,
                          hybrid.key_head_dim,
                          hybrid.value_heads,
                          hybrid.value_head_dim};
  put(model, delta);
  put(model, layers_of(Kind::full, full, model));
}

/// Kimi-K3: KDA layers, and layers of latent or full attention between them.
void read_kda(Model& model, const Fields& config) {
  const Fields linear = config.need_table("linear_attn_config");
  const auto kda = static_cast<int>(numbers_of(linear, "kda_layers").size());
  const auto full = static_cast<int>(numbers_of(linear, "full_attn_layers").size());
  check_length(linear, "kda_layers and full_attn_layers", static_cast<std::size_t>(kda + full),
               model.layers);
  AttentionLayers delta;
  delta.kind = Kind::delta;
  delta.layers = kda;
  const int heads = linear.need_integer("num_heads"), width = linear.need_integer("head_dim");
  delta.delta =
      DeltaRule{true, linear.need_integer("short_conv_kernel_size"), heads, width, heads, width};
  model.attention_output_gate = config.boolean("mla_use_output_gate").value_or(false);
  put(model, delta);
  put(model, layers_of(model.mla ? Kind::latent : Kind::full, full, model));
}

AttentionLayers mamba_layers(int layers, const Fields& config) {
  const bool granite = config.has("mamba_n_heads");
  const auto figure = [&](const char* nemotron, const char* other) {
    return config.need_integer(granite ? other : nemotron);
  };
  AttentionLayers out;
  out.kind = Kind::mamba2;
  out.layers = layers;
  out.mamba =
      Mamba2{figure("mamba_num_heads", "mamba_n_heads"), figure("mamba_head_dim", "mamba_d_head"),
             figure("n_groups", "mamba_n_groups"), figure("ssm_state_size", "mamba_d_state"),
             figure("conv_kernel", "mamba_d_conv")};
  return out;
}

/// Granite: state-space layers, each with an MLP behind it.
void read_mamba(Model& model, const Fields& config) {
  const int mamba = count(layer_types(config, model.layers), "mamba");
  if (mamba == 0) return;
  put(model, mamba_layers(mamba, config));
  put(model, layers_of(Kind::full, model.layers - mamba, model));
}

/// One letter for each block of Nemotron: M state space, * attention, - MLP, E experts.
std::string blocks_of(const Fields& config) {
  if (const auto pattern = config.text("hybrid_override_pattern")) return *pattern;
  std::string out;
  for (const std::string& word : config.texts("layers_block_type")) {
    const std::size_t at = std::string("mamba attention mlp moe").find(word);
    if (at == std::string::npos)
      throw Error(config.where("layers_block_type"),
                  "unknown kind of block '" + word + "' (known: mamba, attention, mlp, moe)");
    out += word == "moe" ? 'E' : word == "mlp" ? '-' : word == "mamba" ? 'M' : '*';
  }
  return out;
}

void read_blocks(Model& model, const Fields& config) {
  const std::string blocks = blocks_of(config);
  check_length(config, config.first_of({"hybrid_override_pattern", "layers_block_type"}),
               blocks.size(), model.layers);
  const auto of = [&](char letter) {
    return static_cast<int>(std::count(blocks.begin(), blocks.end(), letter));
  };
  if (of('M') + of('*') + of('-') + of('E') != model.layers)
    throw Error(config.where("hybrid_override_pattern"), "expected the letters M, *, - and E");
  model.gated_mlp = config.text("mlp_hidden_act").value_or("") != "relu2";
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

// Sparse attention --------------------------------------------------------------------------------

SparseIndex index_of(const Fields& config) {
  SparseIndex index;
  index.heads = config.need_integer("index_n_heads");
  index.head_dim = config.need_integer("index_head_dim");
  index.topk = config.need_integer("index_topk");
  return index;
}

/// Latent attention to what an index picks; some layers reuse the choice of another.
void read_index(Model& model, const Fields& config) {
  const auto types = words_of(config, "indexer_types", model.layers);
  if (types.empty() && config.small_integer("index_topk_freq").value_or(1) > 1) {
    throw Error(config.where("indexer_types"),
                "is missing: index_topk_freq says that not every layer has an index of its own");
  }
  const int shared = count(types, "shared");
  AttentionLayers own = layers_of(Kind::latent_sparse, model.layers - shared, model);
  own.index = index_of(config);
  AttentionLayers reused = own;
  reused.layers = shared;
  reused.index->own = false;
  put(model, own);
  put(model, reused);
}

/// DeepSeek-V4. Behind the layers of the model the list names those of prediction.
void read_compressed(Model& model, const Fields& config) {
  const std::vector<int> ratios = numbers_of(config, "compress_ratios");
  const std::size_t all = static_cast<std::size_t>(model.layers + model.mtp_layers);
  if (ratios.size() != static_cast<std::size_t>(model.layers))
    check_length(config, "compress_ratios", ratios.size(), static_cast<int>(all));
  std::vector<int> known(ratios.begin(), ratios.begin() + model.layers);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const int ratio : known) {
    const auto layers = std::count(ratios.begin(), ratios.begin() + model.layers, ratio);
    AttentionLayers each = layers_of(Kind::compressed, static_cast<int>(layers), model);
    each.window = config.need_integer("sliding_window");
    Compression compression;
    compression.ratio = ratio;
    compression.q_lora_rank = config.need_integer("q_lora_rank");
    compression.qk_rope_head_dim = config.need_integer("qk_rope_head_dim");
    compression.o_lora_rank = config.need_integer("o_lora_rank");
    compression.o_groups = config.need_integer("o_groups");
    each.compression = compression;
    if (ratio == 4) each.index = index_of(config);  // the long ratio needs no selection
    put(model, each);
  }
}

/// MiniMax-M3: blocks of tokens that an index picks.
void read_block_sparse(Model& model, const Fields& config) {
  const Fields sparse = config.need_table("sparse_attention_config");
  const std::vector<int> freq = numbers_of(sparse, "sparse_attention_freq");
  check_length(sparse, "sparse_attention_freq", freq.size(), model.layers);
  const auto layers = static_cast<int>(std::count(freq.begin(), freq.end(), 1));
  AttentionLayers picked = layers_of(Kind::block_sparse, layers, model);
  SparseIndex index;
  index.heads = sparse.need_integer("sparse_num_index_heads");
  index.head_dim = sparse.need_integer("sparse_index_dim");
  index.block = sparse.need_integer("sparse_block_size");
  index.topk = sparse.need_integer("sparse_topk_blocks");
  picked.index = index;
  put(model, layers_of(Kind::full, model.layers - layers, model));
  put(model, picked);
}

/// The heads of the first kind whose cache grows are those of the model.
void take_heads(Model& model) {
  for (const AttentionLayers& each : model.attentions) {
    if (!each.grows()) continue;
    model.heads = each.heads;
    model.kv_heads = each.kv_heads;
    model.head_dim = each.head_dim;
    return;
  }
}

void read_attention_kinds(Model& model, const Fields& config, std::string_view type) {
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
  read_mamba(model, config);
  if (model.attentions.empty()) read_hybrid(model, config, type);
  if (model.attentions.empty() && !model.hybrid) read_windows(model, config, type);
}

}  // namespace

std::optional<int> listed_layers(const Fields& config) {
  const std::string blocks = blocks_of(config);
  return blocks.empty() ? std::nullopt : std::optional(static_cast<int>(blocks.size()));
}

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

void read_hf_layers(Model& model, const Fields& config, std::string_view type) {
  read_attention_kinds(model, config, type);
  if (config.boolean("enable_moe_block").value_or(false)) {
    if (!model.moe) throw Error(config.where("num_experts"), "is missing: enable_moe_block is set");
    model.mlps.push_back(
        {MlpKind::both, model.layers, "", model.intermediate_size, true, model.moe});
    model.moe.reset();
  }
  take_heads(model);
  complete_layer_kinds(model);
}

}  // namespace rooflua
