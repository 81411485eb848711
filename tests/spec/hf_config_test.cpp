#include "spec/hf_config.h"

#include "base/error.h"
#include "spec/layer_kinds.h"
#include "spec/weights.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Model read(const std::string& text) {
  return model_from_hf_config(parse_json(text, "c.json"), "mine", "c.json");
}

/// A dense config of 4 layers, with more keys added.
std::string config(const std::string& more, const std::string& type = "llama") {
  return R"({"model_type": ")" + type +
         R"(", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8,
             "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16")" +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string problem_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Model shared(const std::string& path) {
  return load_model((test::shared_data() / path).string(), test::source_dir());
}

/// The experts of a text.
MixtureOfExperts experts_of(const std::string& text) {
  return short_form(read(text)).moe.value_or(MixtureOfExperts{});
}

}  // namespace

TEST_CASE("KV heads, head dim and dtype are read in every spelling") {
  CHECK(read(config("")).kv_heads == 8);
  CHECK(read(config(R"("num_key_value_heads": 2)")).kv_heads == 2);
  CHECK(read(config(R"("num_kv_heads": 2)")).kv_heads == 2);
  CHECK(read(config(R"("multi_query_group_num": 2)")).kv_heads == 2);
  CHECK(read(config("")).head_dim == 8);
  CHECK(read(config(R"("head_dim": 32)")).head_dim == 32);
  CHECK(read(config(R"("head_dim": null)")).head_dim == 8);
  CHECK(
      read(
          R"({"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "ffn_hidden_size": 9,
                 "vocab_size": 10, "dtype": "float16", "tie_word_embeddings": true})")
          .intermediate_size == 9);
  CHECK(
      read(
          R"({"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "ffn_hidden_size": 9,
                 "vocab_size": 10, "dtype": "float16", "tie_word_embeddings": true})")
          .dtype == Dtype::fp16);
}

TEST_CASE("experts are read in every spelling") {
  for (const char* key :
       {"n_routed_experts", "num_routed_experts", "num_local_experts", "num_experts"}) {
    INFO(key);
    std::string keys = R"("num_experts_per_tok": 2, "moe_intermediate_size": 32, ")";
    keys.append(key).append("\": 16");
    const Model model = read(config(keys));
    const MixtureOfExperts moe = short_form(model).moe.value();
    CHECK(moe.experts == 16);
    CHECK(moe.intermediate_size == 32);
    CHECK(moe.dense_layers == 0);
  }
  CHECK_FALSE(read(config(R"("num_experts": 1, "num_experts_per_tok": 1)")).experts());
  // Mixtral: the expert width is intermediate_size; of other classes it has a key of its own.
  const std::string wide = R"("num_local_experts": 8, "num_experts_per_tok": 2)";
  CHECK(experts_of(config(R"("num_key_value_heads": 8, )" + wide, "mixtral")).intermediate_size ==
        128);
  CHECK(holds(problem_of(config(wide)), "moe_intermediate_size"));
  CHECK(holds(problem_of(config(R"("num_experts": 8)")), "num_experts_per_tok"));
}

TEST_CASE("shared experts are counted in both conventions") {
  const std::string moe =
      R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32)";
  CHECK(experts_of(config(moe + R"(, "n_shared_experts": 2)")).shared_intermediate_size == 64);
  CHECK(experts_of(config(moe + R"(, "num_shared_experts": 1)")).shared_intermediate_size == 32);
  CHECK(experts_of(config(moe + R"(, "shared_expert_intermediate_size": 40)"))
            .shared_intermediate_size == 40);
}

TEST_CASE("layers with a dense MLP are counted in every convention") {
  const auto dense = [](const std::string& more) {
    return experts_of(
               config(
                   R"("num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, )" +
                   more))
        .dense_layers;
  };
  CHECK(dense(R"("first_k_dense_replace": 3)") == 3);
  CHECK(dense(R"("mlp_only_layers": [0, 2])") == 2);
  CHECK(dense(R"("decoder_sparse_step": 2)") == 2);
  CHECK(dense(R"("decoder_sparse_step": 1, "mlp_only_layers": [])") == 0);
  CHECK(dense(R"("moe_layer_freq": 2)") == 2);
  CHECK(dense(R"("interleave_moe_layer_step": 4)") == 3);
  CHECK(dense(R"("moe_layers": [1, 3])") == 2);
}

TEST_CASE("quantised weights are read in every convention") {
  const auto weights = [](const std::string& quantization) {
    return read(config(R"("quantization_config": )" + quantization)).weight_dtype;
  };
  CHECK(weights(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") == Dtype::fp8_block);
  CHECK(weights(R"({"quant_method": "gptq", "bits": 4})") == Dtype::int4);
  CHECK(weights(R"({"quant_method": "awq", "bits": 8})") == Dtype::int8);
  CHECK(weights(R"({"quant_method": "mxfp4"})") == Dtype::mxfp4);
  CHECK(weights(R"({"quant_method": "modelopt", "quant_algo": "NVFP4"})") == Dtype::nvfp4);
  CHECK(weights(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})") == Dtype::int4);
  CHECK(weights(R"({"quant_method": "compressed-tensors", "config_groups":
                   {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}})") == Dtype::fp8);
  CHECK_FALSE(read(config("")).weight_dtype);
  CHECK(
      holds(problem_of(config(R"("quantization_config": {"quant_method": "magic"})")), "'magic'"));
}

TEST_CASE("a nested text_config is laid over the root") {
  const Model model =
      read(R"({"model_type": "x", "tie_word_embeddings": true, "vision_config": {}, "text_config":
    {"model_type": "x_text", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 8,
     "intermediate_size": 128, "vocab_size": 1000, "dtype": "bfloat16"}})");
  CHECK(model.layers == 4);
  CHECK(model.tied_embeddings);
  CHECK(model.notes.size() == 2);
  CHECK(model.notes.at(0).text == "the vision encoder is not counted");
  CHECK(holds(model.notes.at(1).text, "model_type x_text is not known"));
}

TEST_CASE("what a model cannot describe is refused, with the reason") {
  CHECK(holds(problem_of(config(R"("n_embd": 1)")), "n_embd: 1, but hidden_size says 64"));
  CHECK(holds(problem_of(R"({"model_type": "mamba2", "num_hidden_layers": 2})"), "state-space"));
  CHECK(holds(problem_of(R"({"model_type": "t5"})"), "decoder-only"));
  CHECK(holds(problem_of(R"({"model_type": "llama"})"), "num_hidden_layers"));
  CHECK(holds(problem_of(config(R"("torch_dtype": "floaty")")), "torch_dtype"));
}

TEST_CASE("what is left out is noted") {
  CHECK(holds(read(config(R"("use_magic": true)")).notes.at(0).text, "use_magic"));
  CHECK(read(config(R"("sliding_window": 4096, "use_sliding_window": false)")).notes.empty());
  CHECK(read(config("")).notes.empty());
}

TEST_CASE("real configs, as published by InferSim's authors, give the published sizes") {
  if (!test::have_shared("tables/infersim/hf_configs")) return;
  const std::string folder = "tables/infersim/hf_configs/";
  struct Published {
    const char* file;
    double total, active;  // billions, from the model cards
  };
  for (const auto& [file, total, active] : {Published{"deepseek_v3_config.json", 671, 37},
                                            Published{"qwen3-235B-A22B_config.json", 235, 22},
                                            Published{"qwen3-30B-A3B_config.json", 30.5, 3.3},
                                            Published{"qwen3-8B_config.json", 8.19, 8.19}}) {
    INFO(file);
    const Model model = shared(folder + file);
    CHECK(model.parameters() / 1e9 == Approx(total).epsilon(0.005));
    CHECK(model.active_parameters() / 1e9 == Approx(active).epsilon(0.02));
  }
}

TEST_CASE("hybrids have the sizes that their names say, rounded") {
  if (!test::have_shared("tables/infersim/hf_configs")) return;
  struct Named {
    const char* file;
    double total, active;  // billions
  };
  for (const auto& [file, total, active] :
       {Named{"qwen3-next-80B-A3B", 80, 3}, Named{"qwen3.5-122B-A10B", 122, 10},
        Named{"qwen3.5-35B-A3B", 35, 3}}) {
    INFO(file);
    const Model model = shared("tables/infersim/hf_configs/" + std::string(file) + "_config.json");
    REQUIRE(short_form(model).hybrid);
    CHECK(short_form(model).hybrid->full_attention_interval == 4);
    CHECK(model.full_attention_layers() * 4 == model.layers);
    CHECK(model.attention_output_gate);
    CHECK(model.parameters() / 1e9 == Approx(total).epsilon(0.02));
    CHECK(model.active_parameters() / 1e9 == Approx(active).margin(1));
  }
}

TEST_CASE("both spellings of DeepSeek's experts give the same mixture") {
  if (!test::have_shared("tables/infersim/hf_configs")) return;
  const Model v3 = shared("tables/infersim/hf_configs/deepseek_v3_config.json");
  const Model v32 = shared("tables/infersim/hf_configs/deepseek_v3.2_config.json");
  REQUIRE((v3.experts() && v32.experts() && v3.latent() && v32.latent()));
  const double index = 61.0 * (1536 * 64 * 128 + 7168 * (128 + 64));  // queries, keys, weights
  CHECK(v32.parameters() == Approx(v3.parameters() + index).epsilon(1e-12));
  CHECK(short_form(v3).moe->dense_layers == 3);
  CHECK(v3.weight_dtype == Dtype::fp8_block);
  CHECK(v32.notes.size() == 1);  // the prediction layer
  REQUIRE(v32.attentions.size() == 1);
  CHECK(v32.attentions[0].kind == AttentionKind::latent_sparse);
}

TEST_CASE("a shipped model equals the config it was taken from") {
  if (!test::have_shared("golden/blis487_model_configs")) return;
  for (const char* name :
       {"llama-2-7b-hf", "llama-2-70b-hf", "llama-3.1-8b-instruct", "llama-3.1-70b-instruct",
        "codellama-34b-instruct-hf", "yi-34b", "mistral-nemo-instruct-2407", "mixtral-8x7b-v0.1",
        "qwen2.5-1.5b-instruct", "qwen2.5-3b-instruct", "qwen2.5-7b-instruct", "qwen3-14b",
        "qwen3-30b-a3b"}) {
    INFO(name);
    const Model config =
        shared("golden/blis487_model_configs/" + std::string(name) + "/config.json");
    const Model shipped = load_model(name, test::source_dir());
    CHECK(config.name == name);
    CHECK(shipped.parameters() == config.parameters());
    CHECK(shipped.active_parameters() == config.active_parameters());
    CHECK(shipped.kv_bytes_per_token(Dtype::bf16) == config.kv_bytes_per_token(Dtype::bf16));
    CHECK(shipped.attention_bias == config.attention_bias);
    CHECK(shipped.tied_embeddings == config.tied_embeddings);
    CHECK(shipped.dtype == config.dtype);
    CHECK(shipped.max_model_len == config.max_model_len);
  }
}

TEST_CASE(
    "models with latent attention without query compression and with one shared expert are read") {
  if (!test::have_shared("golden/blis487_model_configs")) return;
  const std::string folder = "golden/blis487_model_configs/";
  const Model lite = shared(folder + "deepseek-v2-lite/config.json");
  CHECK(lite.latent()->q_lora_rank == 0);
  CHECK(lite.parameters() / 1e9 == Approx(15.7).epsilon(0.005));  // arXiv 2405.04434: 15.7B
  CHECK(lite.active_parameters() / 1e9 ==
        Approx(2.6).epsilon(0.04));  // as printed there: 2.4B, without embedding
  const Model scout = shared(folder + "llama-4-scout-17b-16e-instruct-fp8-dynamic/config.json");
  CHECK(scout.parameters() / 1e9 ==
        Approx(108).epsilon(0.01));  // model card: 109B with the vision encoder
  CHECK(scout.active_parameters() / 1e9 == Approx(17).epsilon(0.02));
  CHECK(scout.weight_dtype == Dtype::fp8);
  const Model glm = shared(folder + "glm-5.2-fp8/config.json");
  CHECK(glm.head_dim == 256);
  CHECK(short_form(glm).moe->dense_layers == 3);
}
