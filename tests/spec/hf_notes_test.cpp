#include "spec/hf_notes.h"

#include "base/error.h"
#include "spec/harmless_keys.h"
#include "spec/hf_config.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// The notes of a dense config of 12 layers with more keys.
std::vector<ModelNote> notes(const std::string& more, const std::string& type = "llama") {
  const std::string text =
      R"({"model_type": ")" + type +
      R"(", "num_hidden_layers": 12, "hidden_size": 64, "num_attention_heads": 8,
          "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16",
          "max_position_embeddings": 65536)" +
      (more.empty() ? "" : ", " + more) + "}";
  return model_from_hf_config(parse_json(text, "c.json"), "mine", "c.json").notes;
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

TEST_CASE("windows and chunks touch the attention of batches beyond them") {
  expect(notes(R"("sliding_window": 4096)"), "sliding window of 4096", Touched::attention, 4096);
  expect(notes(R"("sliding_window": 1024, "sliding_window_pattern": 6)", "gemma3_text"),
         "10 of 12 layers have a sliding window", Touched::attention, 1024);
  expect(notes(R"("sliding_window": 1024)", "gemma3_text"), "10 of 12 layers", Touched::attention,
         1024);
  expect(notes(R"("sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"])"),
         "1 of 12 layers", Touched::attention, 128);
  expect(notes(R"("sliding_window": 128, "use_sliding_window": true, "max_window_layers": 8)"),
         "4 of 12 layers", Touched::attention, 128);
  expect(notes(R"("attention_chunk_size": 8192)"), "attention_chunk_size", Touched::attention,
         8192);
  CHECK(notes(R"("sliding_window": 65536)").empty());  // no request is longer
  CHECK(notes(R"("sliding_window": 128, "layer_types": ["full_attention"])").empty());
}

TEST_CASE("what a checkpoint does not quantise touches its linear layers") {
  const auto quantised = [](const std::string& more) {
    return notes(R"("quantization_config": {"quant_method": "fp8")" + more + "}");
  };
  CHECK(quantised("").empty());
  CHECK(quantised(R"(, "modules_to_not_convert": ["lm_head", "model.layers.3.mlp.gate"])").empty());
  expect(quantised(R"(, "modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.o_proj",
                                                   "model.layers.11.self_attn.o_proj"])"),
         "not followed: model.layers.*.self_attn.o_proj", Touched::linear);
  expect(quantised(R"(, "ignore": ["model.layers.0.mlp.down_proj"])"), "ignore", Touched::linear);
  expect(quantised(R"(, "kv_cache_scheme": {"num_bits": 8})"), "kv_cache_scheme",
         Touched::attention);
}

TEST_CASE("a file without a dtype makes every price doubtful") {
  const Model model = model_from_hf_config(parse_json(R"({"num_hidden_layers": 1, "hidden_size": 8,
      "num_attention_heads": 2, "intermediate_size": 9, "vocab_size": 10})",
                                                      "c.json"),
                                           "mine", "c.json");
  expect(model.notes, "names no dtype", Touched::everything);
}

TEST_CASE("every key is followed, known to be harmless, switched off, or told") {
  expect(notes(R"("layer_of_turtles": 4, "use_magic": true)"),
         "not known: layer_of_turtles, use_magic", Touched::nothing);
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
  CHECK(of("deepseek_v3.2_config.json").size() == 2);
  CHECK(of("deepseek_v3.2_config.json").front().touches == Touched::attention);
}
