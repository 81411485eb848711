#include "spec/hf/refused.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace rooflua::hf {

namespace {

struct Refused {
  std::string_view type, reason;  // of every model_type that begins so
};

constexpr std::string_view state_space =
    "has state-space layers of a kind that is not supported (supported: nemotron_h, "
    "granitemoehybrid)";
constexpr std::string_view not_a_decoder =
    "is not a decoder-only transformer, which is what is simulated";
constexpr Refused refused[] = {
    {"mamba", state_space},
    {"falcon_mamba", state_space},
    {"falcon_h1", state_space},
    {"jamba", state_space},
    {"bamba", state_space},
    {"zamba", state_space},
    {"plamo2", state_space},
    {"recurrent_gemma", "has recurrent layers (RG-LRU), which are not supported"},
    {"rwkv", "has recurrent layers (RWKV), which are not supported"},
    {"minimax_text", "has layers of lightning attention, which are not supported"},
    {"minimax_m1", "has layers of lightning attention, which are not supported"},
    {"MiniMaxText01", "has layers of lightning attention, which are not supported"},
    {"MiniMaxM1", "has layers of lightning attention, which are not supported"},
    {"lfm2", "has layers of short convolutions, which are not supported"},
    {"longcat", "has two attentions and MLPs in each layer, which is not supported"},
    {"gemma3n",
     "has layers that share a KV cache, and embeddings per layer, which are not supported"},
    {"step3_", "has attention with a shared projection of queries, which is not supported"},
    {"mllama", "has layers of cross attention, which are not supported"},
    {"openelm", "has heads and widths of their own in each layer, which are not supported"},
    {"t5", not_a_decoder},
    {"mt5", not_a_decoder},
    {"bart", not_a_decoder},
    {"mbart", not_a_decoder},
    {"whisper", not_a_decoder},
    {"pegasus", not_a_decoder},
    {"marian", not_a_decoder},
    {"bert", not_a_decoder},
    {"roberta", not_a_decoder},
    {"modernbert", not_a_decoder},
};

}  // namespace

std::string skeleton_of(const Fields& fields) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"num_hidden_layers", "layers"},  {"hidden_size", "hidden_size"},
      {"num_attention_heads", "heads"}, {"num_key_value_heads", "kv_heads"},
      {"head_dim", "head_dim"},         {"intermediate_size", "intermediate_size"},
      {"vocab_size", "vocab_size"},     {"max_position_embeddings", "max_model_len"}};
  std::string out, layers = "1";
  for (const auto& [theirs, own] : words) {
    const Json* value = fields.object().find(theirs);
    if (value == nullptr || !value->is_integer()) continue;
    if (own == "layers") layers = dump_json(*value);
    out += std::string(own) + " = " + dump_json(*value) + "\n";
  }
  return ". A .toml of your own can say it (docs/LAYERS.md); to begin with:\n\n" + out +
         "\n[[attention]]  # full, window, ..., or layers/attention/mine.lua beside the file\n"
         "kind = \"mine\"\nlayers = " +
         layers + "\n";
}

namespace {

/// Refuses layers that a description of one's own could have.
[[noreturn]] void refuse(const Fields& fields, std::string_view key, const std::string& problem) {
  throw Error(fields.where(key), problem + skeleton_of(fields));
}

void refuse_type(const Fields& fields, std::string_view type) {
  for (const Refused& each : refused) {
    if (!type.starts_with(each.type)) continue;
    const std::string problem = "'" + std::string(type) + "' " + std::string(each.reason);
    if (each.reason == not_a_decoder) throw Error(fields.where("model_type"), problem);
    refuse(fields, "model_type", problem);
  }
  if (fields.boolean("is_encoder_decoder", false))
    throw Error(fields.where("is_encoder_decoder"), "this model " + std::string(not_a_decoder));
}

}  // namespace

void refuse_what_a_model_cannot_describe(const Fields& fields, std::string_view type) {
  refuse_type(fields, type);
  // Of MiniMax, whose later models have full attention under the same word.
  if (type == "minimax" && fields.has("layer_types"))
    refuse(fields, "layer_types",
           "linear_attention of minimax is lightning attention, which is not supported");
  for (const char* key : {"num_kv_shared_layers", "cla_share_factor"}) {
    const double layers = fields.number(key).value_or(0);
    const bool on = std::string_view(key) != "cla_share_factor" ||
                    (fields.boolean("use_cla", true) && layers > 1);
    if (layers > 0 && on)
      refuse(fields, key,
             "layers that use the KV cache of another layer are not supported" +
                 std::string(key[0] == 'c' ? " (use_cla = false switches it off)" : ""));
  }
  if (fields.number("hidden_size_per_layer_input").value_or(0) > 0)
    refuse(fields, "hidden_size_per_layer_input",
           "an embedding of its own in each layer is not supported");
  if (fields.boolean("use_cla", false) && !fields.has("cla_share_factor"))
    refuse(fields, "use_cla", "layers that use the KV cache of another layer are not supported");
}

}  // namespace rooflua::hf
