// 5000 config files of public models with one key taken out or renamed, or one word misspelt, drawn
// with a seed: each gives the same model, the model that the class's default makes of it, or an
// error that names the key.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "spec/layer_kinds.h"
#include "spec/model.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// What decides cost, as one text.
std::string shape_of(const Model& model) {
  std::string out;
  const auto add = [&](double number) { out += json_number(number) + " "; };
  for (const double each :
       {double(model.layers), double(model.hidden_size), double(model.vocab_size),
        double(model.max_model_len), model.parameters(), model.active_parameters(),
        model.kv_bytes_per_token(Dtype::bf16).in_base_units(),
        model.kv_bounded_bytes(Dtype::bf16, 1e9).in_base_units(),
        model.state_bytes_per_request().in_base_units(), double(model.mtp_layers),
        bytes_per_element(model.dtype)})
    add(each);
  for (const AttentionLayers& each : model.attentions) {
    for (const int number : {static_cast<int>(each.kind), each.layers, each.heads, each.kv_heads,
                             each.head_dim, each.v_head_dim, each.window})
      add(number);
  }
  for (const MlpLayers& each : model.mlps) {
    for (const int number : {static_cast<int>(each.kind), each.layers, each.intermediate_size,
                             each.gated ? 1 : 0, each.moe ? each.moe->experts_per_token : 0})
      add(number);
  }
  return out;
}

struct Outcome {
  std::string shape, error;
};

Outcome outcome(const Json& config) {
  try {
    return {shape_of(model_from_document(config, "mine", "config.json",
                                         {test::source_dir() / "scripts" / "layers"})),
            ""};
  } catch (const Error& error) {
    return {"", error.what()};
  }
}

/// The table without the key, or with the key under another name.
Json changed(const Json& table, const std::string& key, const std::string& name) {
  Json::Object out;
  for (Json::Member member : table.members()) {
    if (member.key == key) {
      if (name.empty()) continue;
      member.key = name;
    }
    out.push_back(std::move(member));
  }
  return Json(std::move(out));
}

/// Misspelt, pluralised, prefixed, or the word of another library.
std::string renamed(const std::string& key, std::uint64_t draw) {
  switch (draw % 5) {
    case 0:
      return key.back() == 's' ? key.substr(0, key.size() - 1) : key + "s";
    case 1:
      return "model_" + key;
    case 2: {
      std::string out = key;
      std::swap(out[out.size() / 2 - 1], out[out.size() / 2]);
      return out == key ? key + "_" : out;
    }
    case 3:
      return key + "_v2";
    default: {
      std::string out = key;
      out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
      return out == key ? key + "x" : out;
    }
  }
}

/// Keys whose absence the class turns into another model, as transformers has it, and why.
const std::map<std::string, std::string> defaults{
    {"tie_word_embeddings", "the default of the class"},
    {"num_key_value_heads", "as many as num_attention_heads, in classes that say so"},
    {"num_kv_heads", "as many as num_attention_heads"},
    {"head_dim", "hidden_size / heads, or the number of the class"},
    {"attention_head_dim", "hidden_size / heads"},
    {"torch_dtype", "bf16 is assumed, with a note that touches every operation"},
    {"dtype", "bf16 is assumed, with a note that touches every operation"},
    {"num_nextn_predict_layers", "no prediction layers"},
    {"mtp_num_hidden_layers", "no prediction layers"},
    {"num_mtp_modules", "no prediction layers"},
    {"max_position_embeddings", "no longest request"},
    {"seq_length", "no longest request"},
    {"model_max_length", "the next word for it, or no longest request"},
    {"max_seq_len", "no longest request"},
    {"n_positions", "the next word for it, or no longest request"},
    {"max_sequence_length", "no longest request"},
    {"attention_bias", "biases of the class"},
    {"add_qkv_bias", "no biases"},
    {"use_qkv_bias", "no biases"},
    {"use_qk_norm", "norms are 0.0001 of the weights"},
    {"qk_norm_type", "norms are 0.0001 of the weights"},
    {"multi_query", "the default of the class"},
    {"new_decoder_architecture", "the default of the class"},
    {"n_inner", "four times n_embd"},
    {"ffn_hidden_size", "four times hidden_size"},
    {"sliding_window", "without it every layer attends to everything"},
    {"sliding_window_pattern", "the default of the class"},
    {"layer_types", "the pattern of the class"},
    {"use_sliding_window", "the default of the class"},
    {"mlp_only_layers", "every layer has experts"},
    {"decoder_sparse_step", "every layer has experts"},
    {"moe_layer_end_index", "the last layer"},
    {"moe_layer_freq", "every layer behind the dense ones has experts"},
    {"text_config", "the root describes the model"},
};

struct Counts {
  int same = 0, defaults = 0, errors = 0;
};

}  // namespace

TEST_CASE("a config without one key, or with one misspelt, is never another model in silence") {
  const auto file = test::source_dir() / "tests" / "fixtures" / "models" / "public_configs.json";
  const Json rows = read_json(file);
  std::mt19937_64 random(20261126);
  Counts counts;
  for (int i = 0; i < 5000; ++i) {
    const Json& row = rows.items()[random() % rows.items().size()];
    const Json& config = *row.find("config");
    std::string nested;
    for (const Json::Member& member : config.members())
      if (member.value.is_object() && member.value.members().size() > 4) nested = member.key;
    const bool inside = !nested.empty() && random() % 4 != 0;
    const Json& table = inside ? *config.find(nested) : config;
    const std::string key = table.members()[random() % table.members().size()].key;
    const bool reworded = table.find(key)->is_text() && random() % 2 == 0;
    const bool removed = !reworded && random() % 2 == 0;
    const std::string name = removed ? "" : renamed(key, random());
    Json other = reworded ? table : changed(table, key, name);
    if (reworded) other[key] = renamed(table.find(key)->text(), random());
    if (inside) {
      Json whole = config;
      whole[nested] = std::move(other);
      other = std::move(whole);
    }
    const Outcome before = outcome(config), after = outcome(other);
    INFO(row.find("name")->text() << ": " << key << " -> " << name << "\n" << after.error);
    REQUIRE(before.error.empty());
    if (!after.error.empty()) {
      ++counts.errors;
      const bool names_it = after.error.find(key) != std::string::npos ||
                            (!name.empty() && after.error.find(name) != std::string::npos);
      CHECK(names_it);
    } else if (after.shape == before.shape) {
      ++counts.same;
    } else {
      ++counts.defaults;
      CHECK(removed);
      CHECK(defaults.contains(key));
    }
  }
  std::printf("5000 changes: %d the same model, %d by a class's default, %d errors\n", counts.same,
              counts.defaults, counts.errors);
  CHECK(counts.errors > 2000);
}
