#include "spec/hf/mlps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "spec/hf/kinds.h"
#include "spec/hf/words.h"

namespace rooflua::hf {

using Kind = AttentionKind;

namespace {

/// Of classes that are not listed. Models of these activations have a gate:
constexpr auto gated_activations = {"silu",  "swish", "swiglu",   "geglu",
                                    "reglu", "glu",   "swigluoai"};
/// ... and these have none.
constexpr auto plain_activations = {"relu",  "relu2",    "squared_relu", "relu_squared",
                                    "xielu", "gelu_new", "gelu_fast",    "quick_gelu"};

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::optional<bool> stated_gate(const Fields& config) {
  for (const char* key : {"gated_mlp", "use_gated_activation", "use_gated_mlp", "mlp_gated",
                          "use_glu", "ffn_with_glu", "glu", "gated"})
    if (const auto own = config.boolean(key)) return own;
  const auto type = config.find("mlp_type");
  if (type == nullptr || !type->is_text()) return std::nullopt;
  if (type->text() == "gated") return true;
  if (type->text() == "default") return false;
  throw Error(config.where("mlp_type"), "expected gated or default, found '" + type->text() + "'");
}

// Figures by layer --------------------------------------------------------------------------------

/// The numbers of a list with one for each layer; empty if the file has no such list.
std::vector<int> per_layer(const Fields& config, std::string_view key, int layers) {
  const std::vector<int> numbers = numbers_of(config, key);
  if (!numbers.empty()) check_length(config, key, numbers.size(), layers);
  return numbers;
}

/// One kind of full attention for each number of KV heads.
void put_by_kv_heads(ModelDraft& model, const std::vector<int>& kv_heads) {
  std::map<int, int, std::greater<>> layers;
  for (const int each : kv_heads) ++layers[each];
  for (const auto& [heads, count] : layers) {
    AttentionLayers kind = layers_of(Kind::full, count, model);
    kind.kv_heads = heads;
    put(model, kind);
  }
}

void put_by_width(ModelDraft& model, const std::vector<int>& widths) {
  std::map<int, int, std::greater<>> layers;
  for (const int each : widths) ++layers[each];
  for (const auto& [width, count] : layers)
    model.mlps.push_back({MlpKind::dense, count, "", width, model.gated_mlp, std::nullopt});
}

/// Width of an MLP of block_configs: two thirds of so many times the model's, rounded up to 256.
int width_of(double multiple, int hidden) {
  const double width = std::floor(2 * multiple * hidden / 3);
  return static_cast<int>(std::ceil(width / 256) * 256);
}

/// @throws Error for what stands in place of attention or an MLP
bool is_left_out(const Fields& part) {
  for (const char* key : {"replace_with_linear", "sparsify", "window_length", "num_sink_tokens"}) {
    const Json* value = part.find(key);
    if (value != nullptr && !(value->is_boolean() && !value->boolean()))
      throw Error(part.where(key), "is not supported; describe the model in a .toml");
  }
  return part.boolean("no_op", false);
}

Fields part_of(const Json& block, const char* part, const Fields& config) {
  const Json* found = block.find(part);
  if (found == nullptr || !found->is_object())
    throw Error(config.where("block_configs"), std::string("a block has no table ") + part);
  return {*found, config.where("block_configs"), part};
}

/// Nemotron NAS: each block has its own number of KV heads and width, or goes without one of both.
void read_blocks_of_search(ModelDraft& model, const Fields& config) {
  const Json& blocks = *config.find("block_configs");
  if (!blocks.is_array()) throw Error(config.where("block_configs"), "expected a list of blocks");
  check_length(config, "block_configs", blocks.items().size(), model.layers);
  std::vector<int> kv_heads, widths;
  for (const Json& block : blocks.items()) {
    const Fields attention = part_of(block, "attention", config);
    const Fields mlp = part_of(block, "ffn", config);
    if (is_left_out(attention)) {
      ++model.left_out_blocks;
    } else {
      const int group = attention.need_integer("n_heads_in_group");
      if (group < 1 || model.heads % group != 0)
        throw Error(attention.where("n_heads_in_group"),
                    std::to_string(group) + " does not divide the " + std::to_string(model.heads) +
                        " heads");
      kv_heads.push_back(model.heads / group);
    }
    if (is_left_out(mlp)) {
      ++model.left_out_blocks;
    } else {
      const auto stated = mlp.small_integer("intermediate_size");
      widths.push_back(stated ? *stated : width_of(mlp.need_number("ffn_mult"), model.hidden_size));
    }
  }
  put_by_kv_heads(model, kv_heads);
  put_by_width(model, widths);
}

}  // namespace

bool has_gate(const Fields& config, const Class* model_class) {
  const std::string_view key =
      config.first_of({"hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act",
                       "activation", "activation_type"});
  if (const auto stated = stated_gate(config)) return *stated;
  if (model_class != nullptr) return !model_class->has(no_gate);
  const Json* found = key.empty() ? nullptr : config.find(key);
  if (found == nullptr || !found->is_text()) return true;
  const std::string& word = found->text();
  if (holds(gated_activations, word)) return true;
  if (holds(plain_activations, word)) return false;
  throw Error(config.where(key), "'" + word +
                                     "' does not say whether the MLP has a gate, and the class of "
                                     "the model is not known; add gated_mlp = true or false");
}

int mlp_width(const Model& model, const Fields& config, const Class* model_class) {
  const std::string_view key =
      spelling(config, {"intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"});
  if (!key.empty() && config.find(key)->is_array()) return 0;
  const bool fourfold = model_class != nullptr && model_class->has(fourfold_width);
  int width = key.empty() ? (fourfold ? 4 * model.hidden_size : 0) : config.need_integer(key);
  if (const auto ratio = config.number("expansion_ratio"); ratio && key.empty())
    width = static_cast<int>(std::min(1e9, *ratio * model.hidden_size));
  return model_class != nullptr && model_class->has(halved_width) ? width / 2 : width;
}

void read_layer_figures(ModelDraft& model, const Fields& config) {
  if (config.has("block_configs")) return read_blocks_of_search(model, config);
  std::vector<int> kv_heads;
  for (const char* key : {"num_key_value_heads_per_layer", "num_key_value_heads", "num_kv_heads"})
    if (kv_heads.empty()) kv_heads = per_layer(config, key, model.layers);
  const std::vector<int> widths = per_layer(config, "intermediate_size", model.layers);
  if (kv_heads.empty() && widths.empty()) return;
  const bool mixed = model.moe || model.mla || config.has("sliding_window");
  if (mixed || config.has("layer_types"))
    throw Error(config.where(widths.empty() ? "num_key_value_heads" : "intermediate_size"),
                "a list with a number for each layer is supported only where all layers attend to "
                "everything and none has experts");
  if (!kv_heads.empty()) put_by_kv_heads(model, kv_heads);
  if (!widths.empty()) put_by_width(model, widths);
}

}  // namespace rooflua::hf
