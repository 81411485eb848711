#include "spec/hf_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/fields.h"
#include "spec/figures/model.h"
#include "spec/hf/layers.h"
#include "spec/hf/vision.h"
#include "spec/hf_notes.h"
#include "spec/quantization.h"
#include "spec/ranges.h"

namespace rooflua {

namespace {

/// The root with the members of text_config in place of its own: multi-modal models describe the
/// language model in text_config.
Json merged(const Json& document) {
  const Json* nested = document.find("text_config");
  if (nested == nullptr || !nested->is_object()) return document;
  Json out = document;
  for (const Json::Member& member : nested->members()) {
    if (!member.value.is_null()) out[member.key] = member.value;
  }
  return out;
}

/// The first spelling that is present; the others count as read.
std::string_view spelling(const Fields& fields, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) fields.allow(key);
  return fields.first_of(keys);
}

int need_first(const Fields& fields, std::initializer_list<std::string_view> keys) {
  const std::string_view key = spelling(fields, keys);
  if (!key.empty()) return fields.need_integer(key);
  std::string all;
  for (const std::string_view one : keys) all += (all.empty() ? "" : ", ") + std::string(one);
  throw Error(fields.where(""), "is missing; expected one of: " + all);
}

int first_or(const Fields& fields, std::initializer_list<std::string_view> keys, int otherwise) {
  const std::string_view key = spelling(fields, keys);
  return key.empty() ? otherwise : fields.need_integer(key);
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

void refuse_what_a_model_cannot_describe(const Fields& fields, std::string_view type) {
  if (one_of(type, {"gpt2", "gpt_neo", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon",
                    "mpt", "phi", "codegen", "xglm", "starcoder2", "nemotron", "RefinedWeb",
                    "RefinedWebModel"}) ||
      fields.has("n_embd")) {
    throw Error(fields.where("model_type"),
                "'" + std::string(type) +
                    "' has an MLP without gate, which reading from config.json does not "
                    "support; describe the model in a .toml with gated_mlp = false");
  }
  if (one_of(type, {"mamba", "mamba2", "falcon_mamba", "jamba", "bamba", "zamba", "zamba2",
                    "falcon_h1", "rwkv", "recurrent_gemma"})) {
    throw Error(
        fields.where("model_type"),
        "'" + std::string(type) +
            "' has state-space layers, which are supported for nemotron_h and granitemoehybrid "
            "only");
  }
  if (one_of(type, {"t5", "bart", "whisper", "mt5", "pegasus", "marian", "bert", "roberta"})) {
    throw Error(fields.where("model_type"),
                "'" + std::string(type) +
                    "' is not a decoder-only transformer, which is what is simulated");
  }
}

void read_latent_attention(ModelDraft& model, const Fields& fields) {
  if (!fields.has("kv_lora_rank")) return;
  LatentAttention mla;
  read_figures(fields, mla);  // by the same names
  model.head_dim = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
  model.kv_heads = model.heads;
  model.mla = mla;
}

/// The layers that a list of the file names; nothing where it has no such list.
std::optional<std::set<double>> listed(const Fields& fields, const char* key) {
  const Json* list = fields.find(key);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::set<double> out;
  for (const Json& item : list->items()) {
    if (item.is_number()) out.insert(item.number());
  }
  return out;
}

using Layers = std::optional<std::set<double>>;

/// Whether a list with one entry for each layer says that this one has experts; nothing without
/// such a list.
std::optional<bool> listed_as_moe(const Fields& fields, const Model& model, int layer) {
  for (const char* key : {"moe_layer_freq", "mlp_layer_types"}) {
    const Json* list = fields.find(key);
    if (list == nullptr || !list->is_array() || list->items().empty()) continue;
    if (list->items().size() != static_cast<std::size_t>(model.layers)) {
      throw Error(fields.where(key), "has " + std::to_string(list->items().size()) +
                                         " entries for " + std::to_string(model.layers) +
                                         " layers");
    }
    const Json& entry = list->items()[static_cast<std::size_t>(layer)];
    return entry.is_text() ? entry.text() == "sparse" : entry.is_number() && entry.number() != 0;
  }
  return std::nullopt;
}

bool is_moe_layer(const Fields& fields, const Model& model, int layer, const Layers& dense,
                  const Layers& routed) {
  if (const auto stated = listed_as_moe(fields, model, layer)) return *stated;
  if (layer < fields.small_integer("first_k_dense_replace").value_or(0)) return false;
  if (dense && dense->contains(layer)) return false;
  if (routed) return routed->contains(layer);
  const auto every = [&](const char* key) {
    return std::max(1, fields.small_integer(key).value_or(1));
  };
  if (fields.find("moe_layer_freq") != nullptr && fields.find("moe_layer_freq")->is_number() &&
      layer % every("moe_layer_freq") != 0) {
    return false;
  }
  return (layer + 1) % every("decoder_sparse_step") == 0 &&
         (layer + 1) % every("interleave_moe_layer_step") == 0;
}

/// Of two figures of the file.
int product(int a, int b, const std::string& where) {
  const double out = double(a) * b;
  check_range("model.moe.shared_intermediate_size", out, where);
  return static_cast<int>(out);
}

/// Total width of the shared experts: stated, or as many routed ones.
int shared_width(const Fields& fields, const MixtureOfExperts& moe, std::string_view type) {
  const int count =
      first_or(fields, {"n_shared_experts", "num_shared_experts"}, type.starts_with("llama4"));
  const int each = first_or(fields, {"moe_shared_expert_intermediate_size"}, moe.intermediate_size);
  return first_or(
      fields, {"shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"},
      product(count, each, fields.where("n_shared_experts")));
}

void read_experts(ModelDraft& model, const Fields& fields, std::string_view type) {
  const int experts = first_or(
      fields, {"n_routed_experts", "num_routed_experts", "num_local_experts", "num_experts"}, 0);
  if (experts <= 1) {
    // Granite without experts: what the others share is the MLP.
    if (type == "granitemoehybrid")
      model.intermediate_size =
          first_or(fields, {"shared_intermediate_size"}, model.intermediate_size);
    return;
  }
  MixtureOfExperts moe;
  moe.experts = experts;
  moe.experts_per_token =
      need_first(fields, {"num_experts_per_tok", "experts_per_token", "moe_topk",
                          "num_experts_per_token", "top_k_experts"});
  moe.intermediate_size = need_first(fields, {"moe_intermediate_size", "intermediate_size"});
  moe.shared_intermediate_size = shared_width(fields, moe, type);
  moe.latent_size = first_or(fields, {"routed_expert_hidden_size", "moe_latent_size"}, 0);
  model.intermediate_size = first_or(fields, {"dense_intermediate_size", "intermediate_size_mlp"},
                                     model.intermediate_size);
  const Layers dense = listed(fields, "mlp_only_layers"), routed = listed(fields, "moe_layers");
  for (int layer = 0; layer < model.layers; ++layer)
    moe.dense_layers += is_moe_layer(fields, model, layer, dense, routed) ? 0 : 1;
  model.moe = moe;
}

/// torch_dtype (that of text_config comes first); bf16 if there is none.
Dtype stated_dtype(const Fields& fields, Model& model) {
  const std::string_view key = spelling(fields, {"torch_dtype", "dtype"});
  if (!key.empty()) return require_dtype(*fields.text(key), fields.where(key));
  model.notes.push_back({"the file names no dtype; bf16 is assumed", Touched::everything});
  return Dtype::bf16;
}

}  // namespace

Model model_from_hf_config(const Json& document, const std::string& name,
                           const std::string& origin) {
  const Json config = merged(document);
  const Fields fields(config, origin);
  const std::string type = fields.text("model_type").value_or("");
  refuse_what_a_model_cannot_describe(fields, type);
  ModelDraft model;
  model.name = name;
  model.origin = origin;
  model.family = type;
  const auto listed = listed_layers(fields);
  model.layers = listed && !fields.has("num_hidden_layers")
                     ? *listed
                     : need_first(fields, {"num_hidden_layers", "num_layers", "n_layers"});
  check_range("model.layers", model.layers, fields.where("num_hidden_layers"));
  model.hidden_size = need_first(fields, {"hidden_size", "d_model"});
  model.heads = need_first(fields, {"num_attention_heads", "n_heads"});
  model.kv_heads = first_or(
      fields, {"num_key_value_heads", "num_kv_heads", "multi_query_group_num"}, model.heads);
  model.head_dim = first_or(fields, {"head_dim", "kv_channels", "attention_head_dim"},
                            model.heads > 0 ? model.hidden_size / model.heads : 0);
  model.intermediate_size = first_or(fields, {"intermediate_size", "ffn_hidden_size"}, 0);
  model.vocab_size = need_first(fields, {"padded_vocab_size", "vocab_size"});
  model.max_model_len =
      first_or(fields, {"max_position_embeddings", "seq_length", "max_sequence_length"}, 0);
  model.tied_embeddings = fields.boolean("tie_word_embeddings").value_or(type.starts_with("gemma"));
  model.attention_bias =
      fields.boolean("attention_bias")
          .value_or(
              fields.boolean("add_qkv_bias").value_or(type == "qwen2" || type == "qwen2_moe"));
  model.qk_norm_across_heads = fields.text("qk_norm_type").value_or("") == "per_layer";
  model.dtype = stated_dtype(fields, model);
  const int predicting =
      first_or(fields, {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}, 0);
  model.mtp_layers = std::max(0, predicting);
  model.vision = hf::vision_encoder(fields, model.hidden_size);
  read_latent_attention(model, fields);
  read_experts(model, fields, type);
  read_hf_layers(model, fields, type);
  read_hf_formats(model, fields);
  if (const auto generation = fields.table("generation_config")) {
    read_figures(*generation, model.sampling.emplace());  // by the same names
    model.sampling->source = "generation_config.json beside " + origin;
  }
  note_what_is_left_out(model, fields);
  validate(model, origin);
  return model;
}

}  // namespace rooflua
