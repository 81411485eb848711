// Source of every row: the class's configuration in transformers (models/<type>/configuration_*.py)
// and its MLP in modeling_*.py, or the files of that name which a release carries itself.

#include "spec/hf/classes.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/error.h"
#include "spec/hf/words.h"

namespace rooflua::hf {

namespace {

constexpr unsigned plain = no_gate | fourfold_width;

constexpr Class classes[] = {
    {"afmoe", "Afmoe", 0},
    {"apertus", "Apertus", no_gate},
    {"arcee", "Arcee", no_gate},
    {"arctic", "Arctic", wide_experts},
    {"aquila", "Aquila", 0},
    {"baichuan", "Baichuan", 0},
    {"bailing_moe", "BailingMoe", 0},
    {"bailing_moe_v2", "BailingMoeV2", 0},
    {"bitnet", "BitNet", 0},
    {"bloom", "Bloom", plain | tied},
    {"chatglm", "ChatGLM", 0},
    {"codegen", "CodeGen", plain},
    {"cohere", "Cohere", tied},
    {"cohere2", "Cohere2", tied},
    {"dbrx", "Dbrx", wide_experts},
    {"deepseek", "Deepseek", 0},
    {"deepseek_ref", "DeepseekRef", 0},
    {"deepseek_v2", "DeepseekV2", 0},
    {"deepseek_v3", "DeepseekV3", 0},
    {"deepseek_v32", "DeepseekV32", 0},
    {"deepseek_v4", "DeepseekV4", 0},
    {"diffllama", "DiffLlama", 0},
    {"dots1", "Dots1", 0},
    {"ernie4_5", "Ernie4_5", tied},
    {"ernie4_5_moe", "Ernie4_5_Moe", tied},
    {"exaone", "Exaone", tied},
    {"exaone4", "Exaone4", 0},
    {"falcon", "Falcon", plain | tied | one_kv_head},
    {"flex_olmo", "FlexOlmo", wide_experts},
    {"gemma", "Gemma", tied},
    {"gemma2", "Gemma2", tied},
    {"gemma3", "Gemma3", tied},
    {"gemma3_text", "Gemma3", tied},
    {"gemma3n", "Gemma3n", tied},
    {"gemma3n_text", "Gemma3n", tied},
    {"gemma4", "Gemma4", tied},
    {"gemma4_text", "Gemma4", tied},
    {"glm", "Glm", 0},
    {"glm4", "Glm4", 0},
    {"glm4_moe", "Glm4Moe", 0},
    {"glm_moe_dsa", "GlmMoeDsa", 0},
    {"gpt2", "GPT2", plain | tied | positions},
    {"gpt_bigcode", "GPTBigCode", plain | tied | positions | one_kv_head},
    {"gpt_neo", "GPTNeo", plain | tied | positions},
    {"gpt_neox", "GPTNeoX", plain},
    {"gpt_oss", "GptOss", wide_experts | qkv_bias},
    {"gptj", "GPTJ", plain},
    {"granite", "Granite", 0},
    {"granitemoe", "GraniteMoe", wide_experts},
    {"granitemoeshared", "GraniteMoeShared", wide_experts},
    {"granitemoehybrid", "GraniteMoeHybrid", wide_experts},
    {"grok-1", "Grok1Model", wide_experts | tied},
    {"grok1", "Grok1", wide_experts | tied},
    {"helium", "Helium", 0},
    {"hunyuan", "HunYuan", wide_experts},
    {"hunyuan_v1_dense", "HunYuanDenseV1", 0},
    {"hunyuan_v1_moe", "HunYuanMoEV1", wide_experts},
    {"internlm", "InternLM", qkv_bias},
    {"internlm2", "InternLM2", 0},
    {"internlm3", "InternLM3", 0},
    {"kimi_k2", "KimiK2", 0},
    {"kimi_k25", "KimiK25", 0},
    {"kimi_k3", "KimiK3", 0},
    {"kimi_linear", "KimiLinear", 0},
    {"llama", "Llama", 0},
    {"llama4", "Llama4", wide_experts},
    {"llama4_text", "Llama4", wide_experts},
    {"mimo", "MiMo", qkv_bias},
    {"mimo_v2_flash", "MiMoV2Flash", 0},
    {"minicpm", "MiniCPM", tied | wide_experts},
    {"minicpm3", "MiniCPM3", tied},
    {"minimax_m2", "MiniMaxM2", wide_experts},
    {"minimax_m3", "MiniMaxM3", wide_experts},
    {"minimax_m3_text", "MiniMaxM3", wide_experts},
    {"minimax_m3_vl", "MiniMaxM3", wide_experts},
    {"ministral", "Ministral", 0},
    {"ministral3", "Ministral3", 0},
    {"mistral", "Mistral", 0},
    {"mixformer-sequential", "MixFormerSequential", plain | qkv_bias},
    {"mixtral", "Mixtral", wide_experts},
    {"mpt", "MPT", plain | tied},
    {"nemotron", "Nemotron", no_gate},
    {"nemotron-nas", "DeciLM", 0},
    {"nemotron_h", "NemotronH", no_gate},
    {"olmo", "Olmo", 0},
    {"olmo2", "Olmo2", 0},
    {"olmo3", "Olmo3", 0},
    {"olmoe", "Olmoe", wide_experts},
    {"opt", "OPT", plain | tied | positions | qkv_bias},
    {"orion", "Orion", 0},
    {"persimmon", "Persimmon", plain | qkv_bias},
    {"phi", "Phi", plain | qkv_bias},
    {"phi-msft", "PhiMsft", plain | qkv_bias},
    {"phi3", "Phi3", 0},
    {"phi3_v", "Phi3V", 0},
    {"phi4mm", "Phi4MM", 0},
    {"phimoe", "PhiMoE", wide_experts},
    {"qwen", "QWen", qkv_bias | halved_width},
    {"qwen2", "Qwen2", qkv_bias | window_if_asked},
    {"qwen2_5_vl", "Qwen2_5_VL", qkv_bias | window_if_asked},
    {"qwen2_5_vl_text", "Qwen2_5_VL", qkv_bias | window_if_asked},
    {"qwen2_moe", "Qwen2Moe", qkv_bias | window_if_asked},
    {"qwen2_vl", "Qwen2VL", qkv_bias | window_if_asked},
    {"qwen2_vl_text", "Qwen2VL", qkv_bias | window_if_asked},
    {"qwen3", "Qwen3", window_if_asked},
    {"qwen3_5", "Qwen3_5", window_if_asked},
    {"qwen3_5_moe", "Qwen3_5Moe", window_if_asked},
    {"qwen3_5_moe_text", "Qwen3_5Moe", window_if_asked},
    {"qwen3_5_text", "Qwen3_5", window_if_asked},
    {"qwen3_moe", "Qwen3Moe", window_if_asked},
    {"qwen3_next", "Qwen3Next", window_if_asked},
    {"qwen3_vl", "Qwen3VL", window_if_asked},
    {"qwen3_vl_moe", "Qwen3VLMoe", window_if_asked},
    {"qwen3_vl_moe_text", "Qwen3VLMoe", window_if_asked},
    {"qwen3_vl_text", "Qwen3VL", window_if_asked},
    {"RefinedWeb", "RW", plain | tied},
    {"RefinedWebModel", "RW", plain | tied | one_kv_head},
    {"seed_oss", "SeedOss", 0},
    {"smollm3", "SmolLM3", tied | window_if_asked},
    {"stablelm", "StableLm", 0},
    {"stablelm_epoch", "StableLMEpoch", 0},
    {"starcoder2", "Starcoder2", no_gate | tied},
    {"step3p5", "Step3p5", 0},
    {"step3p7", "Step3p7", 0},
    {"xglm", "XGLM", plain | tied | positions | qkv_bias},
    {"xverse", "Xverse", 0},
};

struct Number {
  std::string_view type, key;
  int value;
};

/// Numbers that files of the class leave out.
constexpr Number default_numbers[] = {
    {"gemma", "head_dim", 256},
    {"gemma2", "head_dim", 256},
    {"gemma3", "head_dim", 256},
    {"gemma3_text", "head_dim", 256},
    {"qwen3", "head_dim", 128},
    {"qwen3_vl_text", "head_dim", 128},
    {"gemma2", "sliding_window_pattern", 2},
    {"gemma3", "sliding_window_pattern", 6},
    {"gemma3_text", "sliding_window_pattern", 6},
    {"gpt_oss", "sliding_window_pattern", 2},
    {"cohere2", "sliding_window_pattern", 4},
};

struct Stated {
  std::string_view type, keys;  // keys: with spaces between them, | between words for one quantity
};

/// Keys without which the class would take a number that belongs to one release of many.
constexpr Stated stated_keys[] = {
    {"bailing_moe", "num_key_value_heads num_shared_experts first_k_dense_replace"},
    {"bailing_moe_v2", "num_key_value_heads num_shared_experts first_k_dense_replace"},
    {"cohere2", "num_key_value_heads sliding_window"},
    {"deepseek", "n_shared_experts first_k_dense_replace"},
    {"deepseek_v2",
     "n_shared_experts|num_shared_experts first_k_dense_replace q_lora_rank kv_lora_rank"},
    {"deepseek_v3",
     "n_shared_experts|num_shared_experts first_k_dense_replace q_lora_rank kv_lora_rank"},
    {"deepseek_v32",
     "n_shared_experts|num_shared_experts first_k_dense_replace|mlp_layer_types q_lora_rank "
     "kv_lora_rank index_topk"},
    {"dots1", "num_key_value_heads n_shared_experts|num_shared_experts first_k_dense_replace"},
    {"ernie4_5_moe", "num_key_value_heads moe_layer_start_index moe_num_shared_experts"},
    {"exaone4", "num_key_value_heads sliding_window"},
    {"gemma2", "num_key_value_heads sliding_window"},
    {"gemma3_text", "num_key_value_heads sliding_window"},
    {"gemma4_text", "num_key_value_heads sliding_window"},
    {"glm4_moe", "num_key_value_heads n_shared_experts|num_shared_experts first_k_dense_replace"},
    {"glm_moe_dsa",
     "n_shared_experts|num_shared_experts first_k_dense_replace|mlp_layer_types q_lora_rank "
     "index_topk"
     " kv_lora_rank"},
    {"gpt_oss", "num_key_value_heads sliding_window head_dim"},
    {"granitemoehybrid", "num_key_value_heads shared_intermediate_size"},
    {"kimi_k2",
     "n_shared_experts|num_shared_experts first_k_dense_replace q_lora_rank kv_lora_rank"},
    {"kimi_linear",
     "num_shared_experts first_k_dense_replace linear_attn_config kv_lora_rank"
     " q_lora_rank"},
    {"minicpm3", "kv_lora_rank q_lora_rank"},
    {"llama4_text",
     "num_key_value_heads interleave_moe_layer_step|moe_layers intermediate_size_mlp"
     " attention_chunk_size"},
    {"mimo_v2_flash", "hybrid_layer_pattern"},
    {"mistral", "num_key_value_heads"},
    {"mixtral", "num_key_value_heads"},
    {"nemotron-nas", "block_configs"},
    {"nemotron_h", "mlp_hidden_act num_key_value_heads"},
    {"qwen2", "num_key_value_heads"},
    {"qwen2_moe", "num_key_value_heads shared_expert_intermediate_size"},
    {"qwen3", "num_key_value_heads"},
    {"qwen3_5_moe_text", "attn_output_gate shared_expert_intermediate_size"},
    {"qwen3_5_text", "attn_output_gate"},
    {"qwen3_moe", "num_key_value_heads head_dim"},
    {"qwen3_next", "num_key_value_heads head_dim shared_expert_intermediate_size"},
    {"qwen3_vl_moe_text", "num_key_value_heads head_dim"},
    {"olmo3", "layer_types"},
    {"smollm3", "num_key_value_heads"},
    {"starcoder2", "num_key_value_heads"},
    {"step3p7", "layer_types first_k_dense_replace|moe_layers_enum"},
};

const Class* of_type(std::string_view type) {
  const auto found = std::find_if(std::begin(classes), std::end(classes),
                                  [&](const Class& each) { return each.type == type; });
  return found == std::end(classes) ? nullptr : found;
}

/// "Qwen2" of "Qwen2ForCausalLM", "GPT2" of "GPT2LMHeadModel".
std::string_view stem(std::string_view architecture) {
  for (const std::string_view end : {"For", "LMHead"}) {
    const std::size_t at = architecture.find(end);
    if (at != std::string_view::npos && at > 0) return architecture.substr(0, at);
  }
  return architecture;
}

const Class* of_architecture(const Fields& config) {
  const Json* list = config.find("architectures");
  if (list == nullptr || !list->is_array() || list->items().empty()) return nullptr;
  const Json& first = list->items().front();
  if (!first.is_text()) return nullptr;
  const std::string_view name = stem(first.text());
  const auto found = std::find_if(std::begin(classes), std::end(classes),
                                  [&](const Class& each) { return each.architecture == name; });
  return found == std::end(classes) ? nullptr : found;
}

bool is_stated(const Fields& config, std::string_view words) {
  for (std::size_t bar = 0; bar != std::string_view::npos;) {
    bar = words.find('|');
    if (config.object().find(words.substr(0, bar)) != nullptr) return true;
    if (bar != std::string_view::npos) words.remove_prefix(bar + 1);
  }
  return false;
}

}  // namespace

const Class* class_of(const Fields& config) {
  const Class* by_type = of_type(config.text("model_type").value_or(""));
  const Class* by_name = of_architecture(config);
  if (by_type == nullptr || by_name == nullptr) return by_type != nullptr ? by_type : by_name;
  if (by_type->traits == by_name->traits) return by_type;
  throw Error(config.where("architectures"),
              "the class of '" + config.find("architectures")->items().front().text() +
                  "' differs from that of model_type '" + std::string(by_type->type) +
                  "'; leave one of them out (ignore)");
}

std::optional<int> class_number(const Class* model_class, std::string_view key) {
  if (model_class == nullptr) return std::nullopt;
  for (const Number& each : default_numbers)
    if (each.type == model_class->type && each.key == key) return each.value;
  return std::nullopt;
}

void check_stated(const Class* model_class, const Fields& config,
                  const std::vector<std::string>& ignored) {
  if (model_class == nullptr) return;
  for (const Stated& each : stated_keys) {
    if (each.type != model_class->type) continue;
    std::string_view rest = each.keys;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      const std::string_view words = rest.substr(0, space);
      rest = space == std::string_view::npos ? "" : rest.substr(space + 1);
      const auto taken_out = std::find(ignored.begin(), ignored.end(), words);
      if (is_stated(config, words) || taken_out != ignored.end()) continue;
      throw Error(config.where(words.substr(0, words.find('|'))),
                  "is missing; every file of model_type " + std::string(each.type) +
                      " states it (null where the model has none)");
    }
  }
}

}  // namespace rooflua::hf
