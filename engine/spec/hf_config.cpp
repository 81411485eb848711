#include "spec/hf_config.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/fields.h"
#include "spec/figures/model.h"
#include "spec/hf/audio.h"
#include "spec/hf/classes.h"
#include "spec/hf/document.h"
#include "spec/hf/experts.h"
#include "spec/hf/layers.h"
#include "spec/hf/mlps.h"
#include "spec/hf/refused.h"
#include "spec/hf/vision.h"
#include "spec/hf/words.h"
#include "spec/hf_notes.h"
#include "spec/quantization.h"

namespace rooflua {

using namespace hf;

namespace {

void read_latent_attention(ModelDraft& model, const Fields& fields) {
  if (!fields.has("kv_lora_rank")) {
    for (const char* key : {"q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}) {
      const Json* stated = fields.object().find(key);
      if (stated != nullptr && stated->is_number() && stated->number() == 0) fields.allow(key);
    }
    return;
  }
  LatentAttention mla;
  read_figures(fields, mla);  // by the same names
  model.head_dim = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
  model.kv_heads = model.heads;
  model.mla = mla;
}

/// torch_dtype (that of text_config comes first); bf16 if there is none. Engines cast weights of 32
/// bit to 16 (vLLM and SGLang: dtype "auto").
Dtype stated_dtype(const Fields& fields, Model& model) {
  const std::string_view key = spelling(fields, {"torch_dtype", "dtype"});
  if (!key.empty()) {
    const Dtype dtype = require_dtype(*fields.text(key), fields.where(key));
    if (dtype != Dtype::fp32) return dtype;
    model.notes.push_back({std::string(key) + " float32 is priced as bf16, to which engines cast"});
    return Dtype::bf16;
  }
  model.notes.push_back({"the file names no dtype; bf16 is assumed", Touched::everything});
  return Dtype::bf16;
}

/// What the LM head and the embedding together make of the weights where the file does not say
/// whether they are one, and the class is not known.
void check_tied(Model& model, const Fields& fields) {
  const double head = double(model.vocab_size) * model.hidden_size;
  const double part = head / model.parameters();
  constexpr double most = 0.02;
  const std::string what =
      "is missing, and the defaults of the class are not known; the LM head is " +
      json_number(std::round(1000 * part) / 10) + " % of the weights";
  if (part > most)
    throw Error(fields.where("tie_word_embeddings"), what + "; add tie_word_embeddings");
  model.notes.push_back({"tie_word_embeddings " + what + ", counted apart from the embedding"});
}

void note_asked(Model& model, const std::string& what, const std::vector<std::string>& keys) {
  if (!keys.empty())
    model.notes.push_back(
        {"keys of the file that are " + what + " as asked: " + joined(keys, ", ")});
}

/// A learned table of positions is memory that no operation but a lookup reads.
void note_positions(Model& model, const Class* model_class) {
  if (model_class == nullptr || !model_class->has(positions) || model.max_model_len == 0) return;
  model.notes.push_back({"the learned table of " + std::to_string(model.max_model_len) +
                         " positions is not counted"});
}

/// Of falcon and gpt_bigcode: one KV head, unless the file says otherwise.
int kv_heads_left_out(const Model& model, const Fields& fields, const Class* model_class) {
  const bool one = model_class != nullptr && model_class->has(one_kv_head);
  const std::string kind = fields.text("attn_type").value_or("");
  const bool multi_query = fields.boolean("multi_query", one || kind == "multiquery_attention");
  const bool grouped = fields.boolean("new_decoder_architecture", false);
  if (fields.boolean("multi_query_attention", false))
    throw Error(fields.where("multi_query_group_num"), "is missing beside multi_query_attention");
  return multi_query && !grouped ? 1 : model.heads;
}

int kv_heads_of(const Model& model, const Fields& fields, const Class* model_class) {
  fields.allow("multi_query_attention");
  const std::string_view key =
      spelling(fields, {"num_key_value_heads", "num_kv_heads", "multi_query_group_num", "n_head_kv",
                        "num_attention_groups", "n_kv_heads", "kv_n_heads"});
  if (key.empty() || fields.find(key)->is_array())
    return kv_heads_left_out(model, fields, model_class);
  const int stated = fields.need_integer(key);
  // Falcon states num_kv_heads also where multi_query makes it one.
  const bool ignored = model_class != nullptr && model_class->has(one_kv_head) &&
                       kv_heads_left_out(model, fields, model_class) == 1;
  return ignored ? 1 : stated;
}

/// @throws Error for a file whose tables describe no language model, and for a dense layer without
/// a width
void check_whole(const Model& model, const Fields& fields) {
  if (!model.uniform || model.intermediate_size > 0 || model.dense_mlp_layers() == 0) return;
  throw Error(fields.where("intermediate_size"),
              "is missing for the dense layers; expected one of: intermediate_size, "
              "ffn_hidden_size, ffn_dim, n_inner");
}

/// Of latent attention every head has a cache entry of its own, whatever the file says.
void check_heads(const ModelDraft& model, const Fields& fields) {
  if (model.mla || model.kv_heads < 1 || model.heads % model.kv_heads == 0) return;
  const std::string heads(
      fields.first_of({"num_attention_heads", "n_heads", "n_head", "attention_heads"}));
  const std::string_view own =
      fields.first_of({"num_key_value_heads", "num_kv_heads", "kv_n_heads", "multi_query_group_num",
                       "num_attention_groups", "n_head_kv", "n_kv_heads"});
  throw Error(fields.where(own), std::to_string(model.heads) + " heads (" + heads +
                                     ") do not divide by " + std::to_string(model.kv_heads) +
                                     " KV heads");
}

void read_shape(Model& model, const Fields& fields, const Class* model_class) {
  const auto listed = listed_layers(fields);
  const bool any =
      listed ||
      !fields.first_of({"num_hidden_layers", "num_layers", "n_layers", "n_layer"}).empty();
  if (!any)
    throw Error(fields.where("num_hidden_layers"),
                "is missing; expected num_hidden_layers, num_layers, n_layers or n_layer, here or "
                "in a table of the language model (text_config, llm_config, ...)");
  model.layers =
      listed && !fields.has("num_hidden_layers")
          ? *listed
          : need_first(fields, {"num_hidden_layers", "num_layers", "n_layers", "n_layer"});
  check_range(row_named(figures<Model>(), "layers"), model.layers,
              fields.where("num_hidden_layers"));
  model.hidden_size = need_first(fields, {"hidden_size", "d_model", "n_embd", "n_embed"});
  model.heads = need_first(fields, {"num_attention_heads", "n_heads", "n_head", "attention_heads"});
  model.kv_heads = kv_heads_of(model, fields, model_class);
  const int divided = model.heads > 0 ? model.hidden_size / model.heads : 0;
  model.head_dim = first_or(fields, {"head_dim", "kv_channels", "attention_head_dim", "head_size"},
                            class_number(model_class, "head_dim").value_or(divided));
  model.vocab_size = need_first(fields, {"padded_vocab_size", "vocab_size"});
  // OPT: an embedding narrower than the model.
  if (const int own = fields.small_integer("word_embed_proj_dim").value_or(model.hidden_size);
      own != model.hidden_size)
    throw Error(fields.where("word_embed_proj_dim"),
                std::to_string(own) + " beside a hidden_size of " +
                    std::to_string(model.hidden_size) +
                    ": an embedding of another width than the model's is not supported");
  for (const char* key : {"max_position_embeddings", "seq_length", "max_sequence_length",
                          "n_positions", "max_seq_len", "model_max_length", "n_ctx"}) {
    const int stated = fields.small_integer(key).value_or(0);
    if (model.max_model_len == 0) model.max_model_len = stated;
  }
}

void read_defaults(Model& model, const Fields& fields, const Class* model_class) {
  const auto by_class = [&](unsigned trait) {
    return model_class != nullptr && model_class->has(trait);
  };
  model.tied_embeddings = fields.boolean("tie_word_embeddings", by_class(tied));
  model.attention_bias = by_class(qkv_bias);
  for (const char* key : {"attention_bias", "add_qkv_bias", "qkv_bias", "use_qkv_bias"})
    model.attention_bias = fields.boolean(key, model.attention_bias);
  const std::string norms = fields.text("qk_norm_type").value_or("per_head");
  if (!one_of(norms, {"per_head", "per_layer"}))
    throw Error(fields.where("qk_norm_type"),
                "expected per_head or per_layer, found '" + norms + "'");
  model.qk_norm_across_heads = norms == "per_layer";
  model.gated_mlp = has_gate(fields, model_class);
  model.intermediate_size = mlp_width(model, fields, model_class);
  model.dtype = stated_dtype(fields, model);
  for (const char* key : {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    if (model.mtp_layers == 0)
      model.mtp_layers = std::max(0, fields.small_integer(key).value_or(0));
    fields.allow(key);
  }
}

/// The file's own word where the class is listed under it, else that of the class.
std::string family_of(const Fields& fields, const Class* model_class) {
  return model_class != nullptr ? std::string(model_class->type)
                                : fields.text("model_type").value_or("");
}

/// Lists of equal numbers as numbers.
void join_lists(Json& config, const std::string& origin) {
  for (const char* key : {"num_hidden_layers", "num_layers", "n_layers"}) {
    const Json* layers = config.find(key);
    if (layers == nullptr || !layers->is_integer() || layers->integer() > 100000) continue;
    return join_equal_lists(config, static_cast<int>(layers->integer()), origin);
  }
}

/// A class that is not listed is read by the words of its file alone.
void note_unknown_class(Model& model, const Fields& fields) {
  if (const auto type = fields.text("model_type"))
    model.notes.push_back({"model_type " + *type +
                           " is not known; the model is read by the words of its file alone"});
}

}  // namespace

Model model_from_hf_config(const Json& document, const std::string& name, const std::string& origin,
                           const declared::Folders& folders) {
  Json config = language_model(document, origin);
  const auto ignored = take_out_ignored(config, origin);
  const auto read_as = take_other_words(config, origin);
  join_lists(config, origin);
  const Fields fields(config, origin);
  const Class* model_class = class_of(fields);
  ModelDraft model;
  model.folders = folders;
  model.name = name;
  model.origin = origin;
  model.family = family_of(fields, model_class);
  refuse_what_a_model_cannot_describe(fields, model.family);
  read_shape(model, fields, model_class);
  check_stated(model_class, fields, ignored);
  read_defaults(model, fields, model_class);
  model.vision = vision_encoder(fields, model.family, model.hidden_size);
  model.audio = audio_encoder(fields, model.hidden_size);
  read_latent_attention(model, fields);
  check_heads(model, fields);
  read_experts(model, fields, model_class);
  read_hf_layers(model, fields, model_class);
  const FollowedFormats followed = read_hf_formats(model, fields);
  if (const auto generation = fields.table("generation_config")) {
    read_figures(*generation, model.sampling.emplace());  // by the same names
    model.sampling->source = "generation_config.json beside " + origin;
  }
  note_what_is_left_out(model, fields, followed);
  if (model_class == nullptr) note_unknown_class(model, fields);
  note_positions(model, model_class);
  note_asked(model, "ignored", ignored);
  note_asked(model, "read as others", read_as);
  check_whole(model, fields);
  validate(model, origin);
  if (model_class == nullptr && !fields.has("tie_word_embeddings")) check_tied(model, fields);
  return model;
}

}  // namespace rooflua
