// What a config.json says in other words than most: read right, or refused with the key's name.

#include <fstream>

#include "base/error.h"
#include "spec/hf_config.h"
#include "spec/layer_kinds.h"
#include "spec/model.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

/// A dense model of 12 layers; `more` replaces keys, and null leaves one out.
Json config(const std::string& more = "{}") {
  Json out = parse_json(R"({"model_type": "llama", "num_hidden_layers": 12, "hidden_size": 2048,
      "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128,
      "intermediate_size": 6144, "vocab_size": 64000, "hidden_act": "silu",
      "max_position_embeddings": 32768, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
                        "c.json");
  const Json changes = parse_json(more, "more");
  for (const Json::Member& member : changes.members()) out[member.key] = member.value;
  Json::Object rest;
  for (const Json::Member& member : out.members())
    if (!member.value.is_null()) rest.push_back(member);
  return Json(std::move(rest));
}

Model read(const Json& document) {
  return model_from_document(document, "mine", "c.json");
}
Model of(const std::string& more) {
  return read(config(more));
}

/// The message of the error; "" without one.
std::string problem(const Json& document) {
  try {
    read(document);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void refused(const Json& document, const std::string& part) {
  const std::string found = problem(document);
  INFO(found);
  CHECK(found.find(part) != std::string::npos);
}

Json wrapped(const std::string& word) {
  Json out = parse_json(R"({"model_type": "x", "vision_config": {"num_hidden_layers": 2,
                            "hidden_size": 64}})",
                        "c.json");
  out[word] = config();
  return out;
}

constexpr double plain_parameters = 841'009'152;  // of config()

}  // namespace

TEST_CASE("experts are read under the words of every public family") {
  const std::string words[][3] = {
      {"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"},
      {"num_local_experts", "experts_per_token", "expert_intermediate_size"},
      {"moe_num_experts", "moe_k", "moe_intermediate_size"},
      {"num_experts", "moe_topk", "expert_ffn_hidden_size"},
      {"num_experts", "moe_top_k", "moe_ffn_hidden_size"},
      {"num_moe_experts", "moe_router_topk", "moe_intermediate_size"},
      {"n_experts", "num_selected_experts", "expert_dim"},
  };
  for (const auto& [count, visited, width] : words) {
    INFO(count << " " << visited << " " << width);
    const Model model =
        of("{\"" + count + "\": 8, \"" + visited + "\": 2, \"" + width + "\": 1024}");
    REQUIRE(model.experts() != nullptr);
    CHECK(model.experts()->experts == 8);
    CHECK(model.experts()->experts_per_token == 2);
    CHECK(model.experts()->intermediate_size == 1024);
    refused(config("{\"" + visited + "\": 2}"), visited);
    refused(config("{\"" + count + "\": 8, \"" + width + "\": 1024}"), "num_experts_per_tok");
  }
  refused(config(R"({"num_turtle_experts": 8})"), "num_turtle_experts");
  refused(config(R"({"num_experts": 8, "n_routed_experts": 4, "num_experts_per_tok": 2})"),
          "n_routed_experts says 4");
}

TEST_CASE("dense layers stand where any of the families' words says") {
  const auto dense = [](const std::string& more) {
    const Model model =
        of(R"({"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, )" +
           more + "}");
    return model.layers - model.moe_layers();
  };
  CHECK(dense(R"("moe_layer_start_index": 1, "moe_layer_end_index": 10)") == 2);
  CHECK(dense(R"("moe_layer_start_index": 0, "moe_layer_interval": 2)") == 6);
  CHECK(dense(R"("num_dense_layers": 2)") == 2);
  CHECK(dense(R"("moe_layers_enum": "4,5,6,7")") == 8);
  CHECK(dense(R"("expert_layer_period": 2, "expert_layer_offset": 1)") == 6);
  CHECK(dense(R"("moe_layer_num_skipped": 3)") == 3);
}

TEST_CASE("layers that share a cache are refused") {
  refused(config(R"({"use_cla": true, "cla_share_factor": 2})"), "cla_share_factor: ");
  refused(config(R"({"use_cla": true})"), "use_cla: ");
  refused(config(R"({"num_kv_shared_layers": 6})"), "num_kv_shared_layers: ");
  refused(config(R"({"cross_attention_layers": [3, 8]})"), "cross_attention_layers: ");
  refused(config(R"({"kv_sharing_groups": 3})"), "kv_sharing_groups: ");
  CHECK(
      of(R"({"use_cla": false, "cla_share_factor": 2, "num_kv_shared_layers": 0})").parameters() ==
      plain_parameters);
}

TEST_CASE("KV heads of each layer are read") {
  const Model model = of(R"({"num_key_value_heads": [4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 1, 1]})");
  REQUIRE(model.attentions.size() == 3);
  CHECK(model.kv_bytes_per_token(Dtype::bf16).in_base_units() == (16 + 12 + 2) * 2 * 128 * 2);
  CHECK(of(R"({"num_key_value_heads": [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]})").uniform);
  refused(config(R"({"num_key_value_heads": [4, 4]})"), "num_key_value_heads: has 2 entries");
  refused(config(R"({"moe_topk": [2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4], "num_experts": 8,
                     "moe_intermediate_size": 1024})"),
          "moe_topk: ");
}

TEST_CASE("a gate is told by the class, by the activation, by the type, or asked for") {
  CHECK(of("{}").gated_mlp);
  CHECK(of(R"({"hidden_act": "gelu"})").gated_mlp);  // the class decides
  for (const char* type : {"apertus", "arcee", "opt", "bloom", "falcon"}) {
    INFO(type);
    CHECK_FALSE(of(R"({"model_type": ")" + std::string(type) + "\"}").gated_mlp);
  }
  CHECK_FALSE(of(R"({"model_type": null, "architectures": ["NemotronForCausalLM"]})").gated_mlp);
  CHECK_FALSE(of(R"({"model_type": "mine", "hidden_act": "xielu"})").gated_mlp);
  CHECK_FALSE(of(R"({"model_type": "mine", "hidden_act": "relu2"})").gated_mlp);
  CHECK_FALSE(
      of(R"({"model_type": "mine", "hidden_act": "gelu", "mlp_type": "default"})").gated_mlp);
  CHECK(of(R"({"model_type": "mine", "hidden_act": "gelu", "gated_mlp": true})").gated_mlp);
  CHECK_FALSE(of(R"({"use_glu": false})").gated_mlp);
  CHECK_FALSE(of(R"({"gated": false})").gated_mlp);
  refused(config(R"({"model_type": "mine", "hidden_act": "gelu"})"), "hidden_act: 'gelu'");
  refused(config(R"({"architectures": ["NemotronForCausalLM"]})"), "architectures: ");
}

TEST_CASE("one embedding or two follows from the class where the file does not say") {
  const auto tied = [](const std::string& type) {
    return of(R"({"tie_word_embeddings": null, "model_type": ")" + type + "\"}").tied_embeddings;
  };
  for (const char* type : {"smollm3", "cohere", "gemma", "ernie4_5"}) CHECK(tied(type));
  for (const char* type : {"llama", "mistral", "qwen2"}) CHECK_FALSE(tied(type));
  refused(config(R"({"tie_word_embeddings": null, "model_type": "mine"})"),
          "tie_word_embeddings: is missing");
  const Model small =
      of(R"({"tie_word_embeddings": null, "model_type": "mine", "vocab_size": 4000})");
  CHECK(small.notes.back().text.find("tie_word_embeddings") == 0);
}

TEST_CASE("the language model is found under any word") {
  for (const char* word : {"text_config", "llm_config", "language_config", "language_model", "llm",
                           "decoder_of_turtles"}) {
    INFO(word);
    const Model model = read(wrapped(word));
    CHECK(model.parameters() == plain_parameters);
    CHECK(model.vision);
  }
  Json deep = parse_json(R"({"thinker_config": {"audio_config": {}}, "talker_config": {}})", "c");
  deep["thinker_config"]["text_config"] = config();
  CHECK(read(deep).parameters() == plain_parameters);
  Json two = wrapped("llm_config_a");
  two["llm_config_b"] = config();
  refused(two, "llm_config_a, llm_config_b");
  refused(parse_json(R"({"model_type": "x", "vision_config": {}})", "c"), "num_hidden_layers");
  // LLaVA leaves the sizes to the class.
  const Model llava = read(parse_json(
      R"({"model_type": "llava", "torch_dtype": "float16", "tie_word_embeddings": false,
          "text_config": {"model_type": "llama", "vocab_size": 32064,
                          "max_position_embeddings": 4096}})",
      "c"));
  CHECK(llava.parameters() / 1e9 == Approx(6.739).epsilon(1e-3));
}

TEST_CASE("a change of a nested model reaches the nested table") {
  Json changes = parse_json(R"({"num_hidden_layers": 6})", "changes");
  const auto file = test::scratch() / "nested.json";
  std::ofstream(file) << dump_json(wrapped("text_config"));
  changes["from"] = file.string();
  CHECK(load_changed_model(changes, "here", test::source_dir()).layers == 6);
}

TEST_CASE("blocks of a search have heads and widths of their own, or are left out") {
  Json blocks = Json::array();
  for (int i = 0; i < 12; ++i)
    blocks.push_back(parse_json(
        i % 3 == 0 ? R"({"attention": {"no_op": true}, "ffn": {"ffn_mult": 3.0}})"
                   : R"({"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": 1.5}})",
        "block"));
  Json document = config(R"({"model_type": "nemotron-nas", "num_key_value_heads": null,
                             "intermediate_size": null})");
  document["block_configs"] = blocks;
  const Model model = read(document);
  CHECK(model.full_attention_layers() == 8);
  CHECK(model.kv_bytes_per_token(Dtype::bf16).in_base_units() == 8 * 4 * 2 * 128 * 2);
  REQUIRE(model.mlps.size() == 2);
  CHECK(model.mlps[0].intermediate_size == 4096);
  CHECK(model.mlps[1].intermediate_size == 2048);
  document["block_configs"] =
      parse_json(R"([{"attention": {"replace_with_linear": true}, "ffn": {"no_op": true}}])", "b");
  document["num_hidden_layers"] = 1;
  refused(document, "replace_with_linear");
}

TEST_CASE("words for windows are read, or refused with their key") {
  const auto windowed = [](const std::string& more) {
    for (const AttentionLayers& each : of(more).attentions)
      if (each.kind == AttentionKind::window) return each.layers;
    return 0;
  };
  CHECK(windowed(R"({"sliding_window": 4096, "sliding_window_pattern": "LLLG"})") == 9);
  CHECK(windowed(R"({"sliding_window": 4096, "sliding_window_pattern": "LG"})") == 6);
  CHECK(windowed(R"({"sliding_window": 4096, "sliding_window_pattern": 3})") == 8);
  CHECK(windowed(R"({"attention_window_size": 4096, "sliding_window_pattern": 3})") == 8);
  refused(config(R"({"sliding_window": 4096, "sliding_window_pattern": "LXLG"})"),
          "sliding_window_pattern: ");
  refused(config(R"({"sliding_window": 4096})"), "ignore = {\"sliding_window\"}");
  refused(config(R"({"local_attention_window": 4096})"), "local_attention_window: ");
}

TEST_CASE("float32 is priced as engines cast it") {
  const Model model = of(R"({"torch_dtype": "float32"})");
  CHECK(model.dtype == Dtype::bf16);
  REQUIRE(model.notes.size() == 1);
  CHECK(model.notes[0].text.find("torch_dtype float32 is priced as bf16") == 0);
}

TEST_CASE("keys that nothing reads are refused if they speak of the shape, and can be ignored") {
  for (const char* key : {"num_memory_experts", "kv_compress_rate", "layer_skip_period", "group_kv",
                          "my_window", "hidden_siz", "x_head_dim", "latent_tokens"}) {
    INFO(key);
    const std::string more = "\"" + std::string(key) + "\": 7";
    refused(config("{" + more + "}"), "c.json: " + std::string(key) + ": ");
    refused(config("{" + more + "}"), "ignore = {\"" + std::string(key) + "\"}");
    const Model model = of("{" + more + ", \"ignore\": [\"" + key + "\"]}");
    CHECK(model.parameters() == plain_parameters);
    REQUIRE(model.notes.size() == 1);
    CHECK(model.notes[0].text == "keys of the file that are ignored as asked: " + std::string(key));
  }
  refused(config(R"({"ignore": ["num_turtles"]})"), "num_turtles");
  Json nested = wrapped("text_config");
  nested["text_config"]["num_memory_experts"] = 7;
  refused(nested, "num_memory_experts: ");
  nested["ignore"] = Json::array();
  nested["ignore"].push_back("num_memory_experts");
  CHECK(read(nested).parameters() == plain_parameters);
  Json table = config();
  table["my_settings"] = parse_json(R"({"num_memory_experts": 8})", "t");
  refused(table, "my_settings: ");
}

TEST_CASE("a file without experts that speaks of experts is refused") {
  for (const char* more : {R"("n_shared_experts": 3)", R"("moe_layer_freq": 2)", R"("n_group": 8)",
                           R"("use_moe": true)", R"("first_k_dense_replace": 1)"}) {
    const std::string key = std::string(more).substr(1, std::string(more).find("\":") - 1);
    refused(config("{" + std::string(more) + "}"), "c.json: " + key + ": speaks of experts");
    const Model model = of("{" + std::string(more) + ", \"ignore\": [\"" + key + "\"]}");
    CHECK(model.parameters() == plain_parameters);
  }
  for (const char* off : {R"("n_shared_experts": 0)", R"("use_moe": false)",
                          R"("moe_layer_freq": null)", R"("moe_aux_loss_coeff": 0.01)"})
    CHECK(of("{" + std::string(off) + "}").parameters() == plain_parameters);
}

TEST_CASE("an encoder with its decoder is no decoder, and a pattern of windows needs their width") {
  refused(config(R"({"is_encoder_decoder": true})"), "is_encoder_decoder: ");
  CHECK(of(R"({"is_encoder_decoder": false})").parameters() == plain_parameters);
  refused(config(R"({"sliding_window_pattern": 6})"), "sliding_window: is missing");
  CHECK(of(R"({"sliding_window_pattern": 6, "ignore": ["sliding_window_pattern"]})").parameters() ==
        plain_parameters);
}

TEST_CASE("other files of a release are named") {
  refused(parse_json(R"({"dim": 4096, "n_layers": 32, "n_heads": 32, "vocab_size": 32000})", "p"),
          "is a params.json");
  refused(parse_json(R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "x"})", "p"),
          "is tokenizer_config.json");
  refused(parse_json(R"({"weight_map": {}, "metadata": {}})", "p"), "is an index of weights");
  refused(parse_json(R"({"do_sample": true, "top_p": 0.9})", "p"), "is generation_config.json");
  refused(parse_json(R"({"peft_type": "LORA", "r": 8})", "p"), "is an adapter's config");
  CHECK_THROWS_WITH(load_model("/nowhere/model.gguf", test::source_dir()),
                    ContainsSubstring("is a GGUF file"));
}

TEST_CASE("architectures without a description are refused in a sentence that names the key") {
  for (const char* type : {"mamba2", "falcon_h1", "jamba", "bamba", "zamba2", "recurrent_gemma",
                           "rwkv5", "lfm2", "longcat_flash", "gemma3n_text", "whisper"})
    refused(config("{\"model_type\": \"" + std::string(type) + "\"}"), "c.json: model_type: ");
  refused(config(R"({"model_type": "gemma4_text", "sliding_window": 512, "global_head_dim": 128,
                     "hidden_size_per_layer_input": 256})"),
          "hidden_size_per_layer_input");
}
