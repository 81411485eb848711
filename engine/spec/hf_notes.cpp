#include "spec/hf_notes.h"

#include <algorithm>

#include "spec/hf/layers.h"
#include "spec/hf/modules.h"
#include "spec/hf/unknown.h"
#include "spec/quantization.h"

namespace rooflua {

using hf::Ordered;

namespace {

void add(Model& model, const std::string& text, Touched touches = Touched::nothing,
         int beyond_tokens = 0) {
  model.notes.push_back({text, touches, beyond_tokens});
}

void note_parts_without_price(Model& model, const Fields& config) {
  const int predict = model.mtp_layers;
  if (predict > 0)
    add(model, "multi-token prediction layers (" + std::to_string(predict) + ") are not counted");
  if (config.small_integer("hc_mult").value_or(1) > 1)
    add(model, "hyper-connections (hc_mult) are not counted");
  for (const char* key : {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}) {
    if (const auto state = config.text(key); state && *state != "float32") {
      add(model, "the state is priced in fp32; " + std::string(key) + " says " + *state,
          Touched::attention);
    }
  }
  for (const char* encoder : {"vision", "audio"}) {
    const auto& own = encoder == std::string_view("vision") ? model.vision : model.audio;
    const bool priced = own && own->has_price();
    if (!priced && config.has(std::string(encoder) + "_config"))
      add(model, std::string("the ") + encoder + " encoder is not counted");
  }
}

// Quantisation ------------------------------------------------------------------------------------

/// Modules that are 16 bit in every description: a file that leaves them unquantised says nothing
/// new.
bool is_16_bit_anyway(const std::string& module) {
  for (const char* part :
       {"lm_head", "embed", "norm", "router", "vision", "visual", "audio", "multi_modal_projector",
        "mm_projector", "conv1d", "shared_expert_gate", "e_score_correction_bias", "indexers_proj",
        "weights_proj", "eh_proj", "mtp", "k_norm"})
    if (module.find(part) != std::string::npos) return true;
  return module.ends_with(".gate") || module.ends_with(".gate$") || module == "gate" ||
         module.ends_with(".gate.*");
}

/// "model.layers.*.self_attn.q_proj" of "model.layers.12.self_attn.q_proj".
std::string of_every_layer(const std::string& module) {
  std::string out;
  bool number = false;
  for (const char each : module) {
    const bool digit = each >= '0' && each <= '9';
    const bool begins = digit && !number && (out.empty() || out.back() == '.');
    if (begins) out += '*';
    number = begins || (digit && number);
    if (!number) out += each;
  }
  return out;
}

/// What the whole list of modules names, in all and of each layer.
struct Excluded {
  ModuleShares shares{};
  std::vector<ModuleShares> layers;
};

/// Whether the formats of classes, or of layers, say all that the name says: it names modules of
/// classes that the whole list names completely.
bool is_followed(const Model& model, const std::string& name, const Excluded& all,
                 const Ordered& ordered) {
  std::vector<ModuleShares> own_layers;
  const ModuleShares own = named_share(model, {name}, &own_layers);
  bool any = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] == 0) continue;
    any = true;
    if (all.shares[i] >= 1) continue;
    if (!ordered.of(static_cast<WeightClass>(i))) return false;
    for (std::size_t layer = 0; layer < own_layers.size(); ++layer)
      if (own_layers[layer][i] > 0 && all.layers[layer][i] < 1) return false;
  }
  return any;
}

void note_modules(Model& model, const Fields& quantization, const Ordered& ordered) {
  Excluded all;
  all.shares = named_share(model, excluded_modules(quantization), &all.layers);
  for (const char* key : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                          "llm_int8_skip_modules", "modules_in_block_to_quantize"}) {
    const Json* list = quantization.find(key);
    if (list == nullptr || !list->is_array()) continue;
    std::vector<std::string> seen, names;
    for (const Json& each : list->items()) {
      if (!each.is_text() || is_16_bit_anyway(each.text()) ||
          names_a_layer_behind(model, each.text()))
        continue;
      const std::string name = of_every_layer(each.text());
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      if (!is_followed(model, each.text(), all, ordered)) names.push_back(name);
    }
    if (names.empty()) continue;
    add(model,
        std::string(key) +
            " of quantization_config is followed for whole classes of weights only, not "
            "for these modules of a class: " +
            hf::listed(names),
        Touched::linear);
  }
}

void note_kv_cache(Model& model, const Fields& quantization) {
  for (const char* key : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
    if (!quantization.has(key) || model.kv_dtype) continue;
    add(model,
        std::string(key) +
            " of quantization_config is not followed: the KV cache has the format of "
            "deployment.kv, else that of the activations",
        Touched::attention);
  }
}

void note_quantization(Model& model, const Fields& config, const FollowedFormats& followed) {
  const auto stated = quantization_of(config);
  if (!stated || !model.weight_dtype || stated->has("quantized_layers")) return;
  const Fields& quantization = *stated;
  note_modules(model, quantization, followed.layers);
  note_kv_cache(model, quantization);
  const auto groups = quantization.table("config_groups");
  if (groups && groups->object().members().size() > 1 && !followed.config_groups) {
    add(model,
        "all linear layers are priced as " + std::string(name(*model.weight_dtype)) +
            "; the other config_groups of quantization_config are not followed",
        Touched::linear);
  }
}

}  // namespace

void note_what_is_left_out(Model& model, const Fields& config, const FollowedFormats& followed) {
  note_parts_without_price(model, config);
  note_quantization(model, config, followed);
  hf::check_unread(model, config);
}

}  // namespace rooflua
