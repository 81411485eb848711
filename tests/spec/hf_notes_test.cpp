#include "spec/hf_notes.h"

#include "base/error.h"
#include "spec/harmless_keys.h"
#include "spec/hf_config.h"
#include "spec/layer_kinds.h"
#include "spec/layers.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// A dense config of 12 layers with more keys.
Model of(const std::string& more, const std::string& type = "llama") {
  const std::string text =
      R"({"model_type": ")" + type +
      R"(", "num_hidden_layers": 12, "hidden_size": 64, "num_attention_heads": 8,
          "num_key_value_heads": 8, "intermediate_size": 128, "vocab_size": 1000,
          "torch_dtype": "bfloat16", "max_position_embeddings": 65536)" +
      (more.empty() ? "" : ", " + more) + "}";
  return model_from_hf_config(parse_json(text, "c.json"), "mine", "c.json");
}

std::vector<ModelNote> notes(const std::string& more, const std::string& type = "llama") {
  return of(more, type).notes;
}

void expect(const std::vector<ModelNote>& found, const std::string& part, Touched touches,
            int beyond_tokens = 0) {
  REQUIRE(found.size() == 1);
  INFO(found[0].text);
  CHECK(found[0].text.find(part) != std::string::npos);
  CHECK(found[0].touches == touches);
  CHECK(found[0].beyond_tokens == beyond_tokens);
}

}  // namespace

TEST_CASE("a window or chunk in every layer is refused unless no request is longer") {
  CHECK_THROWS_WITH(notes(R"("sliding_window": 4096)"),
                    ContainsSubstring("c.json: sliding_window: "));
  CHECK_THROWS_WITH(notes(R"("attention_chunk_size": 8192)"),
                    ContainsSubstring("c.json: attention_chunk_size: "));
  CHECK(notes(R"("sliding_window": 65536)").empty());
  CHECK(notes(R"("sliding_window": 4096)", "qwen2").empty());  // where use_sliding_window asks
}

TEST_CASE("windows of some layers are kinds of layers, not notes") {
  const auto windowed = [](const std::string& more, const std::string& type = "llama") {
    const Model model = of(more, type);
    CHECK(model.notes.empty());
    for (const AttentionLayers& each : model.attentions) {
      if (each.kind == AttentionKind::window) return each.layers;
    }
    return 0;
  };
  const auto types = [](int windows) {
    std::string list = "[";
    for (int i = 0; i < 12; ++i)
      list += std::string(i > 0 ? ", " : "") +
              (i < windows ? R"("sliding_attention")" : R"("full_attention")");
    return R"("sliding_window": 128, "layer_types": )" + list + "]";
  };
  CHECK(windowed(R"("sliding_window": 1024, "sliding_window_pattern": 6)", "gemma3_text") == 10);
  CHECK(windowed(R"("sliding_window": 1024)", "gemma3_text") == 10);
  CHECK(windowed(R"("sliding_window": 1024)", "gemma2") == 6);
  CHECK(windowed(types(1)) == 1);
  CHECK(windowed(types(11)) == 11);
  CHECK(windowed(types(0)) == 0);
  CHECK(windowed(R"("sliding_window": 128, "use_sliding_window": true, "max_window_layers": 8)") ==
        4);
}

TEST_CASE("what a checkpoint does not quantise is a class of its own, or touches linear layers") {
  const auto quantised = [](const std::string& more) {
    return of(R"("quantization_config": {"quant_method": "fp8")" + more + "}");
  };
  const auto format = [](const Model& model, WeightClass each) {
    return weight_formats(model, std::nullopt)[each];
  };
  CHECK(quantised("").notes.empty());
  CHECK(quantised(R"(, "modules_to_not_convert": ["lm_head", "model.layers.3.mlp.gate"])")
            .notes.empty());
  const Model ends = quantised(R"(, "modules_to_not_convert": ["lm_head",
      "model.layers.0.self_attn.o_proj", "model.layers.11.self_attn.o_proj"])");
  CHECK(ends.notes.empty());
  REQUIRE(ends.attentions.size() == 2);
  CHECK(ends.attentions[1].layers == 2);
  CHECK(formats_of(ends.attentions[1].formats,
                   weight_formats(ends, std::nullopt))[WeightClass::attention_output] ==
        Dtype::bf16);
  expect(quantised(R"(, "ignore": ["model.layers.0.mlp.down_proj"])").notes, "ignore",
         Touched::linear);
  expect(quantised(R"(, "ignore": ["model.layers.0.mixing.turtle"])").notes, "turtle",
         Touched::linear);
  for (const char* list :
       {R"(["re:.*self_attn.*"])", R"(["model.layers.*.self_attn"])", R"(["self_attn"])",
        R"(["*.self_attn.*"])", R"(["re:.*self_attn\\.(q|k|v|o)_proj$"])"}) {
    INFO(list);
    const Model model = quantised(std::string(R"(, "ignore": )") + list);
    CHECK(model.notes.empty());
    CHECK(format(model, WeightClass::attention) == Dtype::bf16);
    CHECK(format(model, WeightClass::attention_output) == Dtype::bf16);
    CHECK(format(model, WeightClass::dense_mlp) == Dtype::fp8);
  }
  const Model output = quantised(R"(, "ignore": ["model.layers.*.self_attn.o_proj"])");
  CHECK(output.notes.empty());
  CHECK(format(output, WeightClass::attention) == Dtype::fp8);
  CHECK(format(output, WeightClass::attention_output) == Dtype::bf16);
  const Model most =
      quantised(R"(, "ignore": ["re:.*self_attn.[qkv]_proj", "re:.*self_attn.(q|k|v)_proj"])");
  CHECK(format(most, WeightClass::attention) == Dtype::bf16);
  CHECK(format(most, WeightClass::attention_output) == Dtype::fp8);
  CHECK(most.notes.size() == 1);
}

TEST_CASE("a checkpoint states the format of its KV cache") {
  const auto kv = [](const std::string& scheme) {
    return of(R"("quantization_config": {"quant_method": "fp8", )" + scheme + "}");
  };
  CHECK(kv(R"("kv_cache_scheme": {"num_bits": 8, "type": "float"})").kv_dtype == Dtype::fp8);
  CHECK(kv(R"("kv_cache_quant_algo": "FP8")").kv_dtype == Dtype::fp8);
  CHECK(kv(R"("kv_cache_scheme": {"num_bits": 8, "type": "float"})").notes.empty());
  CHECK_FALSE(kv(R"("kv_cache_scheme": null)").kv_dtype);
  expect(kv(R"("kv_cache_scheme": {"num_bits": 8, "type": "int"})").notes, "kv_cache_scheme",
         Touched::attention);
}

TEST_CASE("a file without a dtype makes every price doubtful") {
  const Model model = model_from_hf_config(parse_json(R"({"num_hidden_layers": 1, "hidden_size": 8,
      "num_attention_heads": 2, "intermediate_size": 9, "vocab_size": 10,
      "tie_word_embeddings": false})",
                                                      "c.json"),
                                           "mine", "c.json");
  expect(model.notes, "names no dtype", Touched::everything);
}

TEST_CASE("every key is followed, known to be harmless, switched off, or told") {
  expect(notes(R"("turtles": 4, "use_magic": true)"), "not known: turtles, use_magic",
         Touched::nothing);
  CHECK(notes(R"("use_magic": false, "magic_size": 0, "magic": null, "spells": [])").empty());
  CHECK(notes(R"("rope_theta": 10000, "bos_token_id": 1, "_name_or_path": "x")").empty());
  CHECK(is_harmless("transformers_version"));
  CHECK_FALSE(is_harmless("kv_lora_rank"));
  CHECK_FALSE(is_harmless("attention_chunk_size"));
}

TEST_CASE("published configs have the notes that they need and no other") {
  if (!test::have_shared("tables/infersim/hf_configs")) return;
  const auto of = [](const std::string& file) {
    return model_from_config_json(test::shared_data() / "tables/infersim/hf_configs" / file).notes;
  };
  CHECK(of("qwen3-8B_config.json").empty());
  CHECK(of("qwen3-30B-A3B_config.json").empty());
  CHECK(of("deepseek_v3_config.json").size() == 1);  // prediction layers
  CHECK(of("deepseek_v3.2_config.json").size() == 1);
}
