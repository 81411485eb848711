// Encoders of images as config.json describes them are those of the models that are shipped.

#include "base/error.h"
#include "spec/model.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

/// A config.json with a language model of a few figures, and this encoder.
Model with_vision(const std::string& type, int hidden, const std::string& vision,
                  const std::string& more = "",
                  const std::string& text = R"("model_type": "llama")") {
  return model_from_document(
      parse_json(R"({"model_type": ")" + type + R"(", )" + more + R"("text_config": {)" + text +
                     R"(, "num_hidden_layers": 12, "num_attention_heads": 16,
                     "num_key_value_heads": 16, "head_dim": 64, "intermediate_size": 64,
                     "vocab_size": 64, "hidden_size": )" +
                     std::to_string(hidden) + R"(}, "vision_config": )" + vision + "}",
                 "test"),
      "mine", "config.json");
}

bool has_note(const Model& model, const std::string& part) {
  for (const ModelNote& each : model.notes)
    if (each.text.find(part) != std::string::npos) return true;
  return false;
}

/// Weights, shapes and projector are those of a shipped model.
void check_alike(const Model& mine, const char* shipped, double weights_within) {
  INFO(shipped);
  const Model model = load_model(shipped, home);
  REQUIRE(mine.vision);
  REQUIRE(model.vision);
  const ItemEncoder &a = *mine.vision, &b = *model.vision;
  CHECK(a.has_price());
  CHECK(a.layers == b.layers);
  CHECK(a.heads == b.heads);
  CHECK(a.hidden_size == b.hidden_size);
  CHECK(a.intermediate_size == b.intermediate_size);
  CHECK(a.gated == b.gated);
  CHECK(a.patch_size == b.patch_size);
  CHECK(a.patch_frames == b.patch_frames);
  CHECK(a.patches_per_token == b.patches_per_token);
  CHECK(a.processor == b.processor);
  CHECK(a.parameters == Approx(b.parameters).epsilon(weights_within));
  REQUIRE(a.projector.size() == b.projector.size());
  for (std::size_t i = 0; i < a.projector.size(); ++i) {
    CHECK(a.projector[i].inputs == b.projector[i].inputs);
    CHECK(a.projector[i].outputs == b.projector[i].outputs);
    CHECK(a.projector[i].times == b.projector[i].times);
    CHECK(a.projector[i].per_patch == b.projector[i].per_patch);
  }
  CHECK_FALSE(has_note(mine, "the vision encoder is not counted"));
  CHECK_FALSE(has_note(model, "the vision encoder is not counted"));
}

const std::string qwen =
    R"("model_type": "qwen3_vl_moe", "depth": 27, "hidden_size": 1152, "num_heads": 16,
  "intermediate_size": 4304, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2,
  "in_channels": 3, "num_position_embeddings": 2304, "hidden_act": "gelu_pytorch_tanh")";
const std::string siglip = R"("num_hidden_layers": 27, "hidden_size": 1152,
  "num_attention_heads": 16, "intermediate_size": 4304)";

}  // namespace

TEST_CASE("the encoders of config.json are those of the shipped models") {
  check_alike(with_vision("qwen3_vl_moe", 2048, "{" + qwen + R"(, "out_hidden_size": 2048,
                          "deepstack_visual_indexes": [8, 16, 24]})"),
              "qwen3-vl-30b-a3b", 1e-4);
  check_alike(with_vision("qwen3_5_moe", 4096, "{" + qwen + R"(, "out_hidden_size": 4096,
                          "deepstack_visual_indexes": []})"),
              "qwen3.5-397b-a17b", 0.002);
  check_alike(
      with_vision("gemma3", 5376, "{" + siglip + R"(, "image_size": 896, "patch_size": 14})",
                  R"("mm_tokens_per_image": 256, )",
                  R"("model_type": "gemma3_text", "sliding_window": 1024,
                          "sliding_window_pattern": 6)"),
      "gemma-3-27b", 0.002);
  check_alike(
      with_vision(
          "gemma4", 5376,
          "{" + siglip +
              R"(, "model_type": "gemma4_vision", "patch_size": 16, "pooling_kernel_size": 3,
                          "position_embedding_size": 10240})"),
      "gemma-4-31b", 0.05);
  check_alike(
      with_vision(
          "llama4", 5120,
          R"({"model_type": "llama4_vision_model", "hidden_act": "gelu", "hidden_size": 1408,
      "image_size": 336, "intermediate_size": 5632, "num_attention_heads": 16, "num_channels": 3,
      "num_hidden_layers": 34, "patch_size": 14, "pixel_shuffle_ratio": 0.5,
      "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096})"),
      "llama-4-scout", 0.01);
  check_alike(with_vision("mistral3", 4096,
                          R"({"model_type": "pixtral", "head_dim": 64, "hidden_act": "silu",
      "hidden_size": 1024, "image_size": 1540, "intermediate_size": 4096,
      "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14})",
                          R"("spatial_merge_size": 2, )"),
              "ministral-3-8b", 1e-4);
  check_alike(
      with_vision("kimi_k25", 7168, R"({"vt_hidden_size": 1152, "vt_intermediate_size": 4304,
      "vt_num_attention_heads": 16, "vt_num_hidden_layers": 27, "patch_size": 14,
      "merge_kernel_size": [2, 2], "init_pos_emb_height": 64, "init_pos_emb_width": 64})"),
      "kimi-k2.5", 0.01);
  check_alike(
      with_vision(
          "minimax_m3_vl", 6144,
          R"({"model_type": "minimax_m3_vl_vision", "hidden_size": 1280, "intermediate_size": 5120,
      "num_hidden_layers": 32, "num_attention_heads": 16, "image_size": 2016, "patch_size": 14,
      "temporal_patch_size": 2, "spatial_merge_size": 2, "hidden_act": "gelu"})"),
      "minimax-m3", 1e-4);
}

TEST_CASE("GLM-V and InternVL have projectors of their own") {
  const Model glm = with_vision("glm4v_moe", 4096, R"({"model_type": "glm4v_moe", "depth": 24,
      "hidden_size": 1536, "num_heads": 12, "intermediate_size": 10944, "out_hidden_size": 4096,
      "image_size": 336, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
      "in_channels": 3, "hidden_act": "silu"})");
  REQUIRE(glm.vision);
  CHECK(glm.vision->has_price());
  CHECK(glm.vision->intermediate_size == 4096);
  // GLM-4.5V: 106B parameters with GLM-4.5-Air's; layers, patches, positions, downsampling, merger.
  CHECK(glm.vision->parameters ==
        Approx(24 * (4.0 * 1536 * 1536 + 3.0 * 1536 * 4096) + 3.0 * 14 * 14 * 2 * 1536 +
               576.0 * 1536 + 4.0 * 1536 * 4096 + 4096.0 * 4096 + 3.0 * 4096 * 10944));
  CHECK(glm.vision->embedding_width() == 4096);
  for (const char* sides : {R"("image_size": 448, "patch_size": 14)",
                            R"("image_size": [448, 448], "patch_size": [14, 14])"}) {
    const Model intern =
        with_vision("internvl_chat", 4096,
                    std::string(R"({"model_type": "intern_vit_6b", "hidden_size": 1024,
        "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
        "num_channels": 3, "hidden_act": "gelu", )") +
                        sides + "}",
                    R"("downsample_ratio": 0.5, "max_dynamic_patch": 12, "use_thumbnail": true, )");
    REQUIRE(intern.vision);
    CHECK(intern.vision->processor == "internvl");
    CHECK(intern.vision->patches_per_token == 4);
    CHECK(intern.vision->edge == 448);
    CHECK(intern.vision->tiles == 12);
    CHECK(intern.vision->parameters == Approx(304e6 + 2 * 4096.0 * 4096).epsilon(0.01));
    CHECK_FALSE(has_note(intern, "the vision encoder is not counted"));
  }
}

TEST_CASE("windows of Qwen2.5-VL are patches, and some layers see all") {
  const Model model = with_vision("qwen2_5_vl", 2048,
                                  R"({"model_type": "qwen2_5_vl", "depth": 32, "hidden_size": 1280,
      "num_heads": 16, "intermediate_size": 3420, "out_hidden_size": 2048, "patch_size": 14,
      "spatial_merge_size": 2, "temporal_patch_size": 2, "hidden_act": "silu", "window_size": 112,
      "fullatt_block_indexes": [7, 15, 23, 31]})");
  REQUIRE(model.vision);
  CHECK(model.vision->window == 64);
  CHECK(model.vision->whole_layers == 4);
  CHECK(model.vision->gated);
}

TEST_CASE("an encoder that is not known keeps its memory and its note") {
  const Model model = with_vision("mine_vl", 1024, "{" + siglip + "}");
  REQUIRE(model.vision);
  CHECK_FALSE(model.vision->has_price());
  CHECK(model.vision->parameters > 400e6);
  CHECK(has_note(model, "the vision encoder is not counted"));
}

TEST_CASE("a processor needs the shape of its encoder") {
  Model model = load_model("qwen3-vl-30b-a3b", home);
  const auto problem = [](const Model& each) {
    try {
      validate(each, "test");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(problem(model).empty());
  Model other = model;
  other.vision->heads = 0;
  CHECK(problem(other).find("vision.heads") != std::string::npos);
  other = model;
  other.vision->patches_per_token = 5;
  CHECK(problem(other).find("square") != std::string::npos);
  other = model;
  other.vision->whole_layers = 99;
  CHECK(problem(other).find("vision.whole_layers") != std::string::npos);
}
