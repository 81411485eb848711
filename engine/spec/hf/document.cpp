#include "spec/hf/document.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/fields.h"

namespace rooflua::hf {

namespace {

bool has_any(const Json& table, std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    const Json* found = table.find(key);
    return found != nullptr && !found->is_null();
  });
}

bool has_layers(const Json& table) {
  return has_any(table, {"num_hidden_layers", "num_layers", "n_layers", "n_layer",
                         "layers_block_type", "hybrid_override_pattern"});
}

bool has_width(const Json& table) {
  return has_any(table, {"hidden_size", "d_model", "n_embd", "n_embed"});
}

/// Words under which the language model stands even where it leaves its figures to its class.
constexpr std::string_view wrappers[] = {"text_config", "llm_config", "language_config",
                                         "language_model_config"};

/// Parts of multi-modal models that are no language model, and tables of other subjects.
bool is_another_part(std::string_view key) {
  for (const std::string_view part :
       {"vision",  "visual",     "vit",       "image",   "video", "audio",
        "speech",  "sound",      "talker",    "wav",     "codec", "encoder",
        "project", "perceiver",  "resampler", "qformer", "draft", "speculat",
        "quant",   "generation", "rope",      "mtp",     "tower", "adapter"}) {
    if (key.find(part) != std::string_view::npos) return true;
  }
  return false;
}

struct Table {
  std::string path;
  const Json* value;
};

/// The tables inside of `document` that have layers and a width, without looking into them.
std::vector<Table> nested_models(const Json& document, const std::string& path = "") {
  std::vector<Table> out;
  if (!document.is_object()) return out;
  for (const Json::Member& member : document.members()) {
    if (!member.value.is_object() || is_another_part(member.key)) continue;
    const std::string own = path.empty() ? member.key : path + "." + member.key;
    if (has_layers(member.value) && has_width(member.value)) {
      out.push_back({own, &member.value});
      continue;
    }
    for (Table& inner : nested_models(member.value, own)) out.push_back(std::move(inner));
  }
  return out;
}

/// "" if the document has no table under such a word.
std::string_view known_wrapper(const Json& document) {
  for (const std::string_view name : wrappers) {
    const Json* found = document.find(name);
    if (found != nullptr && found->is_object()) return name;
  }
  return "";
}

/// Sizes of LlamaConfig, which a wrapper's table leaves out where they are the class's own.
constexpr std::pair<std::string_view, int> llama_sizes[] = {{"num_hidden_layers", 32},
                                                            {"hidden_size", 4096},
                                                            {"num_attention_heads", 32},
                                                            {"intermediate_size", 11008},
                                                            {"vocab_size", 32000}};

bool is_left_to_class(const Json& table) {
  const Json* type = table.find("model_type");
  return type != nullptr && type->is_text() && type->text() == "llama" && !has_layers(table) &&
         !has_width(table);
}

Json with_llama_sizes(const Json& document) {
  Json out = document;
  for (const auto& [key, value] : llama_sizes) out[key] = Json(value);
  return out;
}

/// The nested table over the root. The keys of the root that have a place in the nested one count
/// there only.
Json laid_over(const Json& document, const Json& nested) {
  Json out = document;
  for (const Json::Member& member : nested.members()) {
    if (!member.value.is_null() || document.find(member.key) == nullptr)
      out[member.key] = member.value;
  }
  return out;
}

Json without(const Json& table, std::string_view key) {
  Json::Object out;
  for (const Json::Member& member : table.members())
    if (member.key != key) out.push_back(member);
  return Json(std::move(out));
}

std::string names_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& each : tables) out += (out.empty() ? "" : ", ") + each.path;
  return out;
}

constexpr std::string_view scalars[] = {"num_key_value_heads",
                                        "num_kv_heads",
                                        "num_attention_heads",
                                        "intermediate_size",
                                        "ffn_hidden_size",
                                        "head_dim",
                                        "num_experts",
                                        "n_routed_experts",
                                        "num_local_experts",
                                        "moe_num_experts",
                                        "num_experts_per_tok",
                                        "moe_topk",
                                        "moe_k",
                                        "moe_top_k",
                                        "moe_intermediate_size",
                                        "num_shared_expert",
                                        "num_shared_experts",
                                        "n_shared_experts",
                                        "moe_num_shared_experts",
                                        "shared_expert_intermediate_size"};

/// Tables of one subject, which MPT and DBRX use: their figures count as those of the root.
Json lifted(const Json& document) {
  Json out = document;
  for (const char* table : {"attn_config", "ffn_config"}) {
    const Json* found = document.find(table);
    if (found == nullptr || !found->is_object()) continue;
    out = without(out, table);
    for (const Json::Member& member : found->members()) {
      if (!member.value.is_object() && member.key != "model_type" &&
          out.find(member.key) == nullptr)
        out[member.key] = member.value;
    }
  }
  return out;
}

struct OtherFile {
  std::string_view key, file;
};
constexpr OtherFile others[] = {
    {"added_tokens_decoder", "tokenizer_config.json"},
    {"chat_template", "tokenizer_config.json"},
    {"tokenizer_class", "tokenizer_config.json"},
    {"added_tokens", "tokenizer.json"},
    {"weight_map", "an index of weights (model.safetensors.index.json)"},
    {"peft_type", "an adapter's config (adapter_config.json)"},
    {"image_processor_type", "preprocessor_config.json"},
    {"_diffusers_version", "a config of a diffusion model"},
    {"producer", "hf_quant_config.json"},
    {"do_sample", "generation_config.json"},
    {"pretrained_config", "a config of TensorRT-LLM"},
};

Json chosen(const Json& document, const std::string& origin) {
  const std::string_view name = known_wrapper(document);
  if (!name.empty()) {
    const Json& known = *document.find(name);
    if (is_left_to_class(known) && !has_layers(document))
      return without(laid_over(with_llama_sizes(document), known), name);
    if (has_layers(known) || has_layers(document)) return without(laid_over(document, known), name);
  }
  if (has_layers(document)) return document;
  const std::vector<Table> tables = nested_models(document);
  if (tables.size() == 1) {
    const std::string outer = tables[0].path.substr(0, tables[0].path.find('.'));
    Json out = without(laid_over(document, *tables[0].value), outer);
    // Encoders beside a nested model: thinker_config has text_config and audio_config.
    for (const char* encoder : {"vision_config", "audio_config"}) {
      const Json* found = document.find(outer)->find(encoder);
      if (found != nullptr && out.find(encoder) == nullptr) out[encoder] = *found;
    }
    return out;
  }
  if (tables.empty()) return document;
  throw Error(origin, "several tables describe a language model (" + names_of(tables) +
                          "); leave the others out (ignore)");
}

}  // namespace

Json language_model(const Json& document, const std::string& origin) {
  return lifted(chosen(document, origin));
}

bool is_config(const Json& document) {
  return has_any(document, {"model_type", "architectures", "text_config", "num_hidden_layers"}) ||
         !nested_models(document).empty();
}

std::vector<std::string> take_out_ignored(Json& config, const std::string& origin) {
  const Fields fields(config, origin);
  const std::vector<std::string> ignored = fields.texts("ignore");
  if (!fields.has("ignore")) return {};
  std::vector<std::string> known;
  for (const Json::Member& member : config.members())
    if (member.key != "ignore") known.push_back(member.key);
  for (const std::string& each : ignored) {
    if (std::find(known.begin(), known.end(), each) == known.end())
      throw Error(fields.where("ignore"), unknown_name("key of the file", each, known));
  }
  Json rest = without(config, "ignore");
  for (const std::string& each : ignored) rest = without(rest, each);
  config = std::move(rest);
  return ignored;
}

namespace {

/// Keys of published files that mean what another key means everywhere else.
struct OtherWord {
  std::string_view theirs, known, source;
};
constexpr OtherWord other_words[] = {
    {"expert_hidden_dim", "moe_intermediate_size", "tencent/Hy3-preview-Base: config.json"},
    {"num_mtp_layers", "num_nextn_predict_layers", "InklingForConditionalGeneration: config.json"},
};

/// Puts the value of one key under another. @throws Error if that has another value
void read_as(Json& config, const std::string& theirs, const std::string& known,
             const Fields& fields) {
  const Json value = *config.find(theirs);
  const Json* there = config.find(known);
  if (there != nullptr && !there->is_null() && !value.is_null() &&
      dump_json(*there) != dump_json(value))
    throw Error(fields.where(theirs), "is read as " + known + ", which is " + dump_json(*there) +
                                          ", not " + dump_json(value));
  Json rest = without(config, theirs);
  if (!value.is_null()) rest[known] = value;
  config = std::move(rest);
}

}  // namespace

std::vector<std::string> take_other_words(Json& config, const std::string& origin) {
  const Json before = config;
  const Fields fields(before, origin);
  std::vector<std::string> asked;
  if (const auto words = fields.table("read_as")) {
    config = without(config, "read_as");
    std::vector<std::string> known;
    for (const Json::Member& member : config.members()) known.push_back(member.key);
    for (const Json::Member& each : words->object().members()) {
      if (config.find(each.key) == nullptr)
        throw Error(words->where(each.key), unknown_name("key of the file", each.key, known));
      const std::string as = words->need_text(each.key);
      read_as(config, each.key, as, fields);
      asked.push_back(each.key + " as " + as);
    }
  }
  for (const OtherWord& each : other_words)
    if (config.find(each.theirs) != nullptr)
      read_as(config, std::string(each.theirs), std::string(each.known), fields);
  return asked;
}

void join_equal_lists(Json& config, int layers, const std::string& origin) {
  for (const std::string_view key : scalars) {
    const Json* list = config.find(key);
    if (list == nullptr || !list->is_array() || list->items().empty()) continue;
    const Json first = list->items().front();
    const auto same = [&](const Json& each) {
      return each.is_number() && first.is_number() && each.number() == first.number();
    };
    if (list->items().size() != static_cast<std::size_t>(layers))
      throw Error(origin + ": " + std::string(key), "has " + std::to_string(list->items().size()) +
                                                        " entries for " + std::to_string(layers) +
                                                        " layers");
    if (std::all_of(list->items().begin(), list->items().end(), same)) config[key] = first;
  }
}

void refuse_other_files(const Json& document, const std::string& origin) {
  if (!document.is_object() || is_config(document) || document.find("layers") != nullptr) return;
  const std::string instead = "; a model is read from its config.json, or from a .toml";
  if (document.find("dim") != nullptr && document.find("n_layers") != nullptr)
    throw Error(origin,
                "is a params.json (keys dim, n_layers, n_heads), which is not read" + instead);
  for (const OtherFile& other : others) {
    if (document.find(other.key) == nullptr) continue;
    throw Error(origin, "is " + std::string(other.file) + " (key " + std::string(other.key) +
                            "), not the description of a model" + instead);
  }
}

}  // namespace rooflua::hf
