// Config files of released models, cut down to the keys that decide cost: each gives the model that
// is shipped under its name, and every one of its keys matters.

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "spec/hf/modules.h"
#include "spec/layer_kinds.h"
#include "spec/layers.h"
#include "spec/model.h"
#include "spec/weights.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();
const auto folder = home / "tests" / "fixtures" / "models" / "hf";

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Text {
 public:
  Text& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  Text& operator<<(double number) {
    text_ += " " + json_number(number);
    return *this;
  }
  const std::string& get() const { return text_; }

 private:
  std::string text_;
};

std::string described(const AttentionLayers& each) {
  Text out;
  out << attention_words[static_cast<std::size_t>(each.kind)].name << each.layers << each.heads
      << each.kv_heads << each.head_dim << each.v_head_dim << each.bias << each.output_gate
      << each.shared_key_value << each.window;
  if (const auto& mla = each.latent)
    out << " latent" << mla->q_lora_rank << mla->kv_lora_rank << mla->qk_nope_head_dim
        << mla->qk_rope_head_dim << mla->v_head_dim;
  if (const auto& index = each.index)
    out << " index" << index->heads << index->head_dim << index->topk << index->block << index->own;
  if (const auto& c = each.compression)
    out << " ratio" << c->ratio << c->q_lora_rank << c->qk_rope_head_dim << c->o_lora_rank
        << c->o_groups;
  if (const auto& delta = each.delta)
    out << " delta" << delta->per_channel() << delta->conv_kernel << delta->key_heads
        << delta->key_head_dim << delta->value_heads << delta->value_head_dim;
  if (const auto& mamba = each.mamba)
    out << " mamba" << mamba->heads << mamba->head_dim << mamba->groups << mamba->state_size
        << mamba->conv_kernel;
  return out.get();
}

std::string described(const MlpLayers& each) {
  Text out;
  out << mlp_words[static_cast<std::size_t>(each.kind)].name << each.layers
      << each.intermediate_size << each.gated;
  if (const auto& moe = each.moe)
    out << " experts" << moe->experts << moe->experts_per_token << moe->intermediate_size
        << moe->shared_intermediate_size << moe->latent_size;
  return out.get();
}

/// All that decides cost, a line each; kinds in the order of their text.
std::string described(const Model& model) {
  std::vector<std::string> kinds;
  for (const AttentionLayers& each : model.attentions) kinds.push_back(described(each));
  for (const MlpLayers& each : model.mlps) kinds.push_back(described(each));
  std::sort(kinds.begin(), kinds.end());
  Text out;
  out << "layers" << model.layers << " hidden" << model.hidden_size << " heads" << model.heads
      << model.kv_heads << model.head_dim << " vocabulary" << model.vocab_size << " context"
      << model.max_model_len << " tied" << model.tied_embeddings << " prediction"
      << model.mtp_layers << " dtype " << name(model.dtype);
  for (const std::string& each : kinds) out << "\n" << each;
  const WeightFormats formats = weight_formats(model, std::nullopt);
  for (std::size_t i = 0; i < weight_classes; ++i) {
    if (has_class(model, static_cast<WeightClass>(i)))
      out << "\n" << weight_class_words[i].name << " " << name(formats.of[i]);
  }
  if (model.kv_dtype) out << "\nkv " << name(*model.kv_dtype);
  return out.get();
}

Model read(const Json& document) {
  return model_from_document(document, "mine", "config.json",
                             {test::source_dir() / "scripts" / "layers"});
}

/// The text of the model, or of the error.
std::string outcome(const Json& document) {
  try {
    return described(read(document));
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

/// Keys whose absence changes nothing in these files, and why.
const std::map<std::string, std::string> without_effect{
    {"vision_config", "what is not counted is a note"},
    {"attention_bias", "gpt_oss is known to have it"},
    {"hc_mult", "what is not counted is a note"},
    {"num_hash_layers", "routing by hash moves no bytes"},
    {"model_type", "only some architectures are known by it"},
    {"torch_dtype", "bf16 is assumed, with a note"},
    {"tie_word_embeddings", "false is the default"},
    {"sliding_window_pattern", "gemma3 is known to have 6"},
    {"no_rope_layers", "absent it is every 4th"},
    {"index_topk_freq", "indexer_types says which layers"},
    {"moe_layer_freq", "1 is the default; a list is tested below"},
    {"layer_types", "gpt_oss is known to alternate"},
    {"attention_chunk_size", "MiMo has the key and no chunks"},
    {"add_swa_attention_sink_bias", "sinks cost nothing"},
    {"swa_num_attention_heads", "as many as in the other layers"},
    {"mla_use_nope", "rope moves no bytes of weights or cache"},
    {"mamba_expand", "the heads and their width are stated"},
    {"mamba_ssm_dtype", "fp32 is the default"},
    {"mamba_ssm_cache_dtype", "fp32 is the default"},
    {"intermediate_size", "where every layer has experts of another width"},
    {"head_dim", "hidden_size / heads, or latent attention"},
    {"num_key_value_heads", "latent attention"},
    {"attention_head_dim", "hidden_size / heads"},
    {"use_qk_norm", "norms of q and k are 0.0001 of the weights"},
    {"n_shared_experts", "their width is stated"},
    {"moe_intermediate_size", "where intermediate_size is the same"},
    {"shared_expert_intermediate_size", "0 is the default"},
    {"shared_intermediate_size", "MiniMax-M3: as many as n_shared_experts says"},
    {"share_expert_dim", "as many as n_shared_experts says"},
    {"num_hidden_layers", "the pattern of blocks has their number"},
};

Json without_key(const Json& table, const std::string& key) {
  Json::Object rest;
  for (const Json::Member& member : table.members())
    if (member.key != key) rest.push_back(member);
  return Json(std::move(rest));
}

template <class See>
void for_every_removal(const Json& document, const See& see) {
  for (const Json::Member& member : document.members()) {
    see(member.key, without_key(document, member.key));
  }
  const Json* nested = document.find("text_config");
  if (nested == nullptr) return;
  for (const Json::Member& member : nested->members()) {
    Json without = document;
    without["text_config"] = without_key(*nested, member.key);
    see(member.key, without);
  }
}

Json fixture(const std::string& name) {
  return read_json(folder / (name + ".json"));
}

}  // namespace

TEST_CASE("a config file gives the model that is shipped under its name") {
  CHECK(fixtures().size() >= 24);
  for (const std::string& name : fixtures()) {
    INFO(name);
    const Model shipped = load_model(name, home);
    const Model config = read(fixture(name));
    CHECK(described(config) == described(shipped));
    CHECK(config.parameters() == Approx(shipped.parameters()).epsilon(1e-4));
    CHECK(config.active_parameters() == Approx(shipped.active_parameters()).epsilon(1e-4));
    CHECK(config.kv_bytes_per_token(Dtype::bf16) == shipped.kv_bytes_per_token(Dtype::bf16));
    CHECK(config.kv_bounded_bytes(Dtype::bf16, 1e9) == shipped.kv_bounded_bytes(Dtype::bf16, 1e9));
    CHECK(config.state_bytes_per_request() == shipped.state_bytes_per_request());
  }
}

TEST_CASE("no key of a config file is unknown") {
  for (const std::string& name : fixtures()) {
    for (const ModelNote& note : read(fixture(name)).notes) {
      INFO(name << ": " << note.text);
      CHECK(note.touches == Touched::nothing);
      CHECK(note.text.find("not followed") == std::string::npos);
    }
  }
}

TEST_CASE("a config file without one of its keys gives another model or an error") {
  std::set<std::string> idle;
  for (const std::string& name : fixtures()) {
    const Json document = fixture(name);
    const std::string whole = outcome(document);
    CHECK(whole.find("error: ") == std::string::npos);
    for_every_removal(document, [&](const std::string& key, const Json& without) {
      if (outcome(without) != whole) return;
      INFO(name << " without " << key);
      CHECK(without_effect.contains(key));
      idle.insert(key);
    });
  }
  for (const auto& [key, reason] : without_effect) {
    INFO(key << " is listed as without effect: " << reason);
    CHECK(idle.contains(key));
  }
}

TEST_CASE("keys that were once misread in silence are never without effect") {
  const std::pair<const char*, std::vector<const char*>> keys[] = {
      {"mimo-v2-flash",
       {"hybrid_layer_pattern", "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim",
        "v_head_dim", "moe_layer_freq"}},
      {"gemma-4-26b-a4b",
       {"global_head_dim", "num_global_key_value_heads", "attention_k_eq_v", "enable_moe_block",
        "top_k_experts", "num_experts", "moe_intermediate_size"}},
      {"minimax-m3",
       {"dense_intermediate_size", "moe_layer_freq", "sparse_attention_config",
        "num_experts_per_tok"}},
      {"deepseek-v4-flash",
       {"compress_ratios", "o_lora_rank", "o_groups", "expert_dtype", "sliding_window",
        "index_topk"}},
      {"glm-5.2", {"indexer_types", "mlp_layer_types"}},
      {"kimi-k3", {"linear_attn_config", "routed_expert_hidden_size", "mla_use_output_gate"}},
      {"llama-4-maverick",
       {"attention_chunk_size", "interleave_moe_layer_step", "intermediate_size_mlp"}},
      {"nemotron-3-super-120b-a12b",
       {"hybrid_override_pattern", "moe_latent_size", "mlp_hidden_act",
        "moe_shared_expert_intermediate_size"}},
  };
  for (const auto& [name, list] : keys) {
    const Json document = fixture(name);
    const std::string whole = outcome(document);
    for (const char* key : list) {
      INFO(name << " without " << key);
      const Json* nested = document.find("text_config");
      REQUIRE((nested ? *nested : document).find(key) != nullptr);
      Json without = nested ? document : without_key(document, key);
      if (nested) without["text_config"] = without_key(*nested, key);
      CHECK(outcome(without) != whole);
    }
  }
}

TEST_CASE("a list that does not fit the layers is an error that names it") {
  const std::pair<const char*, const char*> lists[] = {
      {"gpt-oss-120b", "layer_types"},        {"mimo-v2-flash", "hybrid_layer_pattern"},
      {"mimo-v2-flash", "moe_layer_freq"},    {"glm-5.2", "indexer_types"},
      {"glm-5.2", "mlp_layer_types"},         {"deepseek-v4-pro", "compress_ratios"},
      {"granite-4.0-h-small", "layer_types"}, {"nemotron-h-56b", "hybrid_override_pattern"},
      {"llama-4-maverick", "no_rope_layers"},
  };
  for (const auto& [name, key] : lists) {
    INFO(name << ": " << key);
    Json document = fixture(name);
    Json& holder = document.find("text_config") ? document["text_config"] : document;
    REQUIRE(holder.find(key) != nullptr);
    if (holder.find(key)->is_text()) {
      holder[key] = Json(holder.find(key)->text() + "*");
    } else {
      Json::Array items = holder.find(key)->items();
      items.push_back(items.back());
      items.push_back(items.back());
      holder[key] = Json(items);
    }
    const std::string found = outcome(document);
    CHECK(found.find("error: ") == 0);
    CHECK(found.find(key) != std::string::npos);
  }
}

TEST_CASE("a model none of whose caches grows is refused") {
  Json document = fixture("granite-4.0-h-small");
  document["layer_types"] = Json(Json::Array(40, Json("mamba")));
  CHECK(outcome(document).find("no layer has a cache that grows") != std::string::npos);
}

TEST_CASE("words and numbers that no reader knows are errors") {
  const auto with = [](const char* name, const char* key, Json value) {
    Json document = fixture(name);
    document[key] = std::move(value);
    return outcome(document);
  };
  CHECK(with("granite-4.0-h-small", "layer_types", Json(Json::Array(40, Json("turtle"))))
            .find("unknown kind of layer 'turtle'") != std::string::npos);
  CHECK(with("nemotron-h-56b", "hybrid_override_pattern", Json(std::string(118, 'x')))
            .find("expected the letters") != std::string::npos);
  CHECK(with("nemotron-3-ultra-550b-a55b", "layers_block_type",
             Json(Json::Array(108, Json("turtle"))))
            .find("unknown kind of block 'turtle'") != std::string::npos);
  CHECK(with("mimo-v2-flash", "hybrid_layer_pattern", Json(Json::Array(48, Json(1e300))))
            .find("expected a list of numbers") != std::string::npos);
  CHECK(with("minimax-m2.5", "attn_type_list", Json(Json::Array(62, Json(0))))
            .find("attn_type_list") != std::string::npos);
  CHECK(with("minimax-m2.5", "attn_type_list", Json(Json::Array(62, Json(1)))).find("error") ==
        std::string::npos);
}
