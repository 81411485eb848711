#include "spec/model.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/toml.h"
#include "spec/catalogue.h"
#include "spec/ranges.h"
#include "spec/read_layers.h"

namespace rooflua {

namespace fs = std::filesystem;

int Model::full_attention_layers() const {
  if (attentions.empty()) return hybrid ? layers / hybrid->full_attention_interval : layers;
  int growing = 0;
  for (const AttentionLayers& each : attentions) growing += each.grows() ? each.layers : 0;
  return growing;
}

int Model::linear_attention_layers() const {
  if (attentions.empty()) return layers - full_attention_layers();
  int recurrent = 0;
  for (const AttentionLayers& each : attentions)
    recurrent += each.delta || each.mamba ? each.layers : 0;
  return recurrent;
}

int Model::moe_layers() const {
  if (mlps.empty()) return moe ? layers - moe->dense_layers : 0;
  int routed = 0;
  for (const MlpLayers& each : mlps) routed += each.moe ? each.layers : 0;
  return routed;
}

int Model::dense_mlp_layers() const {
  if (mlps.empty()) return layers - moe_layers();
  int dense = 0;
  for (const MlpLayers& each : mlps) dense += each.kind != MlpKind::moe ? each.layers : 0;
  return dense;
}

Bytes Model::kv_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attention_kinds(*this))
    bytes += each.layers * each.growing_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes_per_token(Dtype kv) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions) bytes += each.layers * each.bounded_bytes(kv);
  return bytes * unit::byte;
}

Bytes Model::kv_bounded_bytes(Dtype kv, double tokens) const {
  double bytes = 0;
  for (const AttentionLayers& each : attentions)
    bytes += each.layers * each.bounded_bytes(kv) * std::min(tokens, double(each.window));
  return bytes * unit::byte;
}

Bytes Model::state_bytes_per_request() const {
  double bytes = 0;
  for (const AttentionLayers& each : attention_kinds(*this))
    bytes += each.layers * each.state_bytes();
  return bytes * unit::byte;
}

namespace {

struct Check {
  std::string where;

  void range(int value, const char* key) const {
    check_range("model." + std::string(key), value, where + ": " + key);
  }
  void that(bool ok, const char* key, const std::string& problem) const {
    if (!ok) throw Error(where + ": " + key, problem);
  }
};

void validate_experts(const Model& model, const Check& check) {
  const MixtureOfExperts& moe = *model.moe;
  check.range(moe.experts, "moe.experts");
  check.range(moe.experts_per_token, "moe.experts_per_token");
  check.range(moe.intermediate_size, "moe.intermediate_size");
  check.that(moe.experts_per_token <= moe.experts, "moe.experts_per_token",
             std::to_string(moe.experts_per_token) + " is more than the " +
                 std::to_string(moe.experts) + " experts there are");
  check.range(moe.shared_intermediate_size, "moe.shared_intermediate_size");
  check.that(moe.dense_layers >= 0 && moe.dense_layers <= model.layers, "moe.dense_layers",
             "expected 0 to " + std::to_string(model.layers) + ", found " +
                 std::to_string(moe.dense_layers));
}

void validate_attention(const Model& model, const Check& check) {
  if (model.mla) {
    check.range(model.mla->kv_lora_rank, "mla.kv_lora_rank");
    check.range(model.mla->qk_nope_head_dim, "mla.qk_nope_head_dim");
    check.range(model.mla->qk_rope_head_dim, "mla.qk_rope_head_dim");
    check.range(model.mla->v_head_dim, "mla.v_head_dim");
    check.range(model.mla->q_lora_rank, "mla.q_lora_rank");
  }
  if (model.hybrid) {
    check.range(model.hybrid->full_attention_interval, "hybrid.full_attention_interval");
    check.range(model.hybrid->conv_kernel, "hybrid.conv_kernel");
    check.range(model.hybrid->key_heads, "hybrid.key_heads");
    check.range(model.hybrid->key_head_dim, "hybrid.key_head_dim");
    check.range(model.hybrid->value_heads, "hybrid.value_heads");
    check.range(model.hybrid->value_head_dim, "hybrid.value_head_dim");
    check.that(model.hybrid->full_attention_interval <= model.layers,
               "hybrid.full_attention_interval",
               "is more than the " + std::to_string(model.layers) + " layers there are");
    check.that(!model.mla, "hybrid",
               "latent and linear attention in one model need [[attention]] kinds");
  }
}

}  // namespace

void validate(const Model& model, std::string_view where) {
  const Check check{std::string(where)};
  check.range(model.layers, "layers");
  check.range(model.hidden_size, "hidden_size");
  check.range(model.heads, "heads");
  check.range(model.kv_heads, "kv_heads");
  check.range(model.head_dim, "head_dim");
  check.range(model.vocab_size, "vocab_size");
  check.range(model.intermediate_size, "intermediate_size");
  check.range(model.max_model_len, "max_model_len");
  check.that(model.heads % model.kv_heads == 0, "kv_heads",
             std::to_string(model.heads) + " heads do not divide by " +
                 std::to_string(model.kv_heads) + " KV heads");
  validate_attention(model, check);
  if (model.moe) validate_experts(model, check);
  validate_layer_kinds(model, check.where);
  if (model.mlps.empty() && model.dense_mlp_layers() > 0) {
    check.that(model.intermediate_size > 0, "intermediate_size",
               "expected 1 or more for the dense layers, found 0");
  }
}

namespace {

constexpr std::string_view not_finite[] = {"-Infinity", "Infinity", "NaN"};

/// Python writes these words outside of texts, and JSON does not have them: null.
std::string with_finite_numbers(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    const std::string_view rest = std::string_view(text).substr(i);
    const auto word =
        std::find_if(std::begin(not_finite), std::end(not_finite),
                     [&](std::string_view each) { return !quoted && rest.starts_with(each); });
    if (word == std::end(not_finite)) {
      out += text[i];
    } else {
      out += "null";
      i += word->size() - 1;
    }
  }
  return out;
}

Json read_config(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const bool finite =
      text.find("Infinity") == std::string::npos && text.find("NaN") == std::string::npos;
  return finite ? read_json(path) : parse_json(with_finite_numbers(text), path.string());
}

}  // namespace

Model model_from_config_json(const fs::path& path) {
  const bool anonymous = path.filename() == "config.json";
  const fs::path named = anonymous ? fs::absolute(path).parent_path() : path;
  Json document = read_config(path);
  const fs::path formats = path.parent_path() / "hf_quant_config.json";
  if (anonymous && fs::exists(formats)) document["hf_quant_config"] = read_json(formats);
  return model_from_document(
      document, anonymous ? named.filename().string() : named.stem().string(), path.string());
}

Model model_from_toml(const fs::path& path) {
  return model_from_document(read_toml(path), path.stem().string(), path.string());
}

std::vector<std::string> model_names(const fs::path& home) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(home / "scenarios" / "models", ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Model load_model(const std::string& name_or_path, const fs::path& home) {
  const fs::path path = name_or_path;
  if (path.extension() == ".json") return model_from_config_json(path);
  if (path.extension() == ".toml") return model_from_toml(path);
  if (fs::exists(path / "config.json")) return model_from_config_json(path / "config.json");
  const auto file_of = [&](const std::string& name) {
    return home / "scenarios" / "models" / (name + ".toml");
  };
  const std::vector<std::string> names = model_names(home);
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return model_from_toml(file_of(name_or_path));
  }
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : names)
    entries.push_back({name, model_from_toml(file_of(name)).aliases});
  return model_from_toml(file_of(find_by_name("model", name_or_path, entries)));
}

}  // namespace rooflua
