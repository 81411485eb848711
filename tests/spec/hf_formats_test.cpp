// Formats of classes of weights, from the ways in which checkpoints state them.

#include <fstream>

#include "base/error.h"
#include "spec/hf/modules.h"
#include "spec/layer_kinds.h"
#include "spec/model.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

using enum WeightClass;

const auto fixtures = test::source_dir() / "tests" / "fixtures" / "models" / "hf";

/// A shipped model's config with another quantization_config, which may be none.
Json config(const std::string& fixture, const std::string& quantization) {
  Json document = read_json(fixtures / (fixture + ".json"));
  if (document.find("text_config") != nullptr)
    document["text_config"]["quantization_config"] = Json();
  document["quantization_config"] =
      quantization.empty() ? Json() : parse_json(quantization, "quantization_config");
  return document;
}

Model read(const Json& document) {
  return model_from_document(document, "mine", "config.json",
                             {test::source_dir() / "scripts" / "layers"});
}

Model quantised(const std::string& fixture, const std::string& quantization) {
  return read(config(fixture, quantization));
}

std::string_view format(const Model& model, WeightClass each) {
  return name(weight_formats(model, std::nullopt)[each]);
}

/// A folder with a config.json and, beside it, what NVIDIA's tool writes.
Model from_folder(const std::string& folder, const std::string& text, const std::string& beside) {
  const auto path = test::scratch() / folder;
  std::filesystem::create_directories(path);
  std::ofstream(path / "config.json") << text;
  if (!beside.empty()) std::ofstream(path / "hf_quant_config.json") << beside;
  return model_from_config_json(path / "config.json");
}

/// {"model.layers.0.self_attn*", ...} for so many layers.
std::string each_layer(const std::string& prefix, const std::string& module, int layers) {
  std::string out;
  for (int i = 0; i < layers; ++i) {
    if (i > 0) out += ", ";
    out += '"';
    out += prefix + "layers." + std::to_string(i) + "." + module + '"';
  }
  return out;
}

}  // namespace

TEST_CASE("bits, types and groups of weights name a format") {
  const auto attention_of = [](const std::string& quantization) {
    return format(quantised("qwen3-coder-480b-a35b", quantization), attention);
  };
  const auto tensors = [&](const std::string& weights) {
    return attention_of(R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
                           {"weights": {)" +
                        weights + "}}}}");
  };
  CHECK(attention_of("") == "bf16");
  CHECK(tensors(R"("num_bits": 4, "type": "int", "group_size": 32)") == "int4_group32");
  CHECK(tensors(R"("num_bits": 4, "type": "int", "group_size": 128)") == "int4_group128");
  CHECK(tensors(R"("num_bits": 4, "type": "float", "group_size": 16)") == "nvfp4");
  CHECK(tensors(R"("num_bits": 4, "type": "float", "group_size": 32)") == "mxfp4");
  CHECK(tensors(R"("num_bits": 8, "type": "float", "group_size": 32)") == "mxfp8");
  CHECK(tensors(R"("num_bits": 8, "type": "float")") == "fp8");
  CHECK(tensors(R"("num_bits": 8, "type": "float", "strategy": "block")") == "fp8_block");
  CHECK(attention_of(R"({"quant_method": "awq", "bits": 4, "group_size": 128})") ==
        "int4_group128");
  CHECK(attention_of(R"({"quant_method": "gptq", "bits": 4, "group_size": 64})") == "int4");
  CHECK(attention_of(R"({"quant_algo": "W4A16_NVFP4"})") == "nvfp4");
}

TEST_CASE("a class that a checkpoint excludes keeps 16 bit, in the names of its architecture") {
  const auto excluding = [](const std::string& fixture, const std::string& names) {
    return quantised(fixture, R"({"quant_algo": "NVFP4", "exclude_modules": ["lm_head", )" + names +
                                  R"(], "kv_cache_quant_algo": "FP8"})");
  };
  const Model glm =
      excluding("glm-5", each_layer("model.", "self_attn*", 78) + R"(, "model.layers.78*")");
  CHECK(format(glm, attention) == "bf16");
  CHECK(format(glm, WeightClass::index) == "bf16");
  CHECK(format(glm, experts) == "nvfp4");
  CHECK(format(glm, dense_mlp) == "nvfp4");
  CHECK(glm.kv_dtype == Dtype::fp8);
  CHECK(glm.notes.size() == 1);  // the prediction layer
  // The dense layers stand in front.
  const Model front =
      excluding("glm-5", R"("model.layers.0*", "model.layers.1.*", "model.layers.2.*", )" +
                             each_layer("model.", "mlp.shared_experts*", 78));
  CHECK(format(front, dense_mlp) == "bf16");
  CHECK(format(front, shared) == "bf16");
  CHECK(format(front, experts) == "nvfp4");
  // Beside experts, "mlp" is the dense MLP.
  const Model gemma =
      excluding("gemma-4-26b-a4b", each_layer("model.language_model.", "mlp*", 30) + ", " +
                                       each_layer("model.language_model.", "self_attn*", 30));
  CHECK(format(gemma, dense_mlp) == "bf16");
  CHECK(format(gemma, attention) == "bf16");
  CHECK(format(gemma, experts) == "nvfp4");
  const Model qwen =
      excluding("qwen3.5-397b-a17b", R"("*.mlp.shared_expert.*", )" +
                                         each_layer("model.", "linear_attn*", 60) + ", " +
                                         each_layer("model.", "self_attn*", 60));
  CHECK(format(qwen, shared) == "bf16");
  CHECK(format(qwen, linear_attention) == "bf16");
  CHECK(format(qwen, attention) == "bf16");
  CHECK(format(qwen, experts) == "nvfp4");
}

TEST_CASE("a checkpoint of several formats names each class's") {
  const Model m3 = quantised("minimax-m3",
                             R"({"quant_algo": "MIXED_PRECISION", "quantized_layers": {
          "language_model.model.layers.*.self_attn.*": {"quant_algo": "MXFP8"},
          "language_model.model.layers.*.block_sparse_moe.experts.*": {"quant_algo": "NVFP4"},
          "lm_head": {"quant_algo": "W4A16_NVFP4"}}})");
  CHECK(format(m3, attention) == "mxfp8");
  CHECK(format(m3, WeightClass::index) == "mxfp8");
  CHECK(format(m3, experts) == "nvfp4");
  CHECK(format(m3, shared) == "bf16");
  CHECK(format(m3, router) == "bf16");
  CHECK(format(m3, lm_head) == "nvfp4");
  const Model v4 = quantised(
      "deepseek-v4-pro",
      R"({"quant_algo": "MIXED_PRECISION", "quant_method": "fp8", "weight_block_size": [128, 128],
          "quantized_layers": {"layers.*.ffn.experts": {"quant_algo": "NVFP4"}}})");
  CHECK(format(v4, attention) == "fp8_block");
  CHECK(format(v4, shared) == "fp8_block");
  CHECK(format(v4, experts) == "nvfp4");
  CHECK_THROWS_AS(quantised("minimax-m3", R"({"quantized_layers": {"x": {"quant_algo": "?"}}})"),
                  Error);
}

TEST_CASE("a checkpoint of several formats without a list of layers is an error") {
  for (const char* stated : {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})",
                             R"({"quant_method": "modelopt", "quant_algo": "mixed_precision"})",
                             R"({"quant_algo": "MIXED_PRECISION", "quantized_layers": {}})",
                             R"({"quant_method": "modelopt_mixed"})"}) {
    std::string message;
    try {
      quantised("qwen3.5-397b-a17b", stated);
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("quantized_layers is missing") != std::string::npos);
  }
}

TEST_CASE("formats beside a config file count where the file has none") {
  const std::string text = dump_json(config("qwen3.5-397b-a17b", ""));
  const std::string beside = R"({"producer": {"name": "modelopt"}, "quantization": {
      "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8",
      "exclude_modules": ["lm_head", "*.linear_attn.*", "*.self_attn.*"]}})";
  CHECK(format(from_folder("alone", text, ""), experts) == "bf16");
  const Model model = from_folder("beside", text, beside);
  CHECK(format(model, experts) == "nvfp4");
  CHECK(format(model, attention) == "bf16");
  CHECK(format(model, linear_attention) == "bf16");
  CHECK(model.kv_dtype == Dtype::fp8);
  CHECK(model.name == "beside");
}

TEST_CASE("numbers that are not finite are no syntax errors in a config file") {
  std::string text = dump_json(read_json(fixtures / "nemotron-h-56b.json"));
  text.pop_back();
  const Model model = from_folder(
      "infinite", text + R"(, "time_step_limit": [0.0, Infinity], "time_step_max": -Infinity,
                            "name_of_it": "Infinity \" NaN", "time_step_min": NaN})",
      "");
  CHECK(model.layers == 118);
  CHECK_THROWS_AS(from_folder("broken", text + R"(, "time_step_limit": Infinite})", ""), Error);
}
