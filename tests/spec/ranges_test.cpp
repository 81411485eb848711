#include "spec/ranges.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <set>

#include "base/error.h"
#include "spec/deployment.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// Descriptions of models that together state every figure, each within its range.
const char* const descriptions[] = {
    R"({"layers": 4, "hidden_size": 64, "heads": 4, "kv_heads": 4, "head_dim": 16,
        "intermediate_size": 64, "vocab_size": 1000, "max_model_len": 1000, "mtp_layers": 1,
        "moe": {"experts": 4, "experts_per_token": 2, "intermediate_size": 64,
                "shared_intermediate_size": 64, "dense_layers": 1, "latent_size": 8},
        "hybrid": {"full_attention_interval": 2, "conv_kernel": 4, "key_heads": 4,
                   "key_head_dim": 16, "value_heads": 4, "value_head_dim": 16},
        "notes": [{"text": "a", "beyond_tokens": 5}],
        "sampling": {"temperature": 1, "top_p": 1, "top_k": 5, "min_p": 0,
                     "repetition_penalty": 1},
        "vision": {"parameters": 5, "hidden_size": 8, "intermediate_size": 8, "layers": 2,
                   "heads": 2, "patch_size": 2, "channels": 3, "patch_frames": 1, "window": 4,
                   "whole_layers": 1, "min_pixels": 1, "max_pixels": 9, "edge": 8, "tiles": 2,
                   "projector": [{"inputs": 8, "outputs": 8, "times": 1, "rows": 1}],
                   "stem": [{"inputs": 8, "outputs": 8, "times": 1, "rows": 2}],
                   "patches_per_token": 4, "image_tokens": 9},
        "audio": {"parameters": 5, "hidden_size": 8, "intermediate_size": 8, "layers": 2,
                  "heads": 2, "patch_size": 2, "channels": 3, "patch_frames": 1, "window": 4,
                  "whole_layers": 1, "min_pixels": 1, "max_pixels": 9, "edge": 8, "tiles": 2,
                  "projector": [{"inputs": 8, "outputs": 8, "times": 1, "rows": 1}],
                  "stem": [{"inputs": 8, "outputs": 8, "times": 1, "rows": 2}],
                  "patches_per_token": 4, "image_tokens": 9}})",
    R"({"layers": 4, "hidden_size": 64, "heads": 4, "intermediate_size": 64, "vocab_size": 1000,
        "mla": {"q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8,
                "v_head_dim": 8}})",
    R"({"layers": 9, "hidden_size": 64, "heads": 4, "intermediate_size": 64, "vocab_size": 1000,
        "streams": 2, "ngram_tables": [{"rows": 9, "columns": 8, "rows_per_token": 2}],
        "attention": [
          {"kind": "window", "layers": 1, "visits": 2, "prefill_tail": 5, "window": 9,
           "heads": 4, "kv_heads": 2, "head_dim": 8,
           "v_head_dim": 8},
          {"kind": "latent_sparse", "layers": 1, "q_lora_rank": 8, "kv_lora_rank": 8,
           "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "index_heads": 1,
           "index_head_dim": 8, "index_topk": 9, "index_block": 1},
          {"kind": "compressed", "layers": 1, "window": 9, "ratio": 4, "q_lora_rank": 8,
           "qk_rope_head_dim": 8, "o_lora_rank": 8, "o_groups": 1},
          {"kind": "delta", "layers": 1, "conv_kernel": 4, "key_heads": 4, "key_head_dim": 16,
           "value_heads": 4, "value_head_dim": 16},
          {"kind": "mamba2", "layers": 3, "heads": 4, "head_dim": 8, "groups": 1, "state_size": 8,
           "conv_kernel": 4},
          {"kind": "full", "layers": 2}],
        "mlp": [{"kind": "dense", "layers": 4, "visits": 2, "prefill_tail": 5,
                 "intermediate_size": 64},
                {"kind": "moe", "layers": 4, "experts": 4, "experts_per_token": 2,
                 "intermediate_size": 64, "shared_intermediate_size": 64, "latent_size": 8},
                {"kind": "both", "layers": 1, "experts": 4, "experts_per_token": 2,
                 "intermediate_size": 64, "dense_intermediate_size": 64}]})",
};

/// Calls `change` with each number of a document, its path and a copy in which it may be changed.
void for_each_number(const Json& value, const std::string& path,
                     const std::function<void(const std::string& path, const Json& value)>& call) {
  for (const Json::Member& each : value.members()) {
    const std::string own = path + each.key;
    if (each.value.is_number()) call(own, each.value);
    if (each.value.is_object()) for_each_number(each.value, own + ".", call);
    if (!each.value.is_array()) continue;
    for (std::size_t i = 0; i < each.value.items().size(); ++i)
      for_each_number(each.value.items()[i], own + "#" + std::to_string(i) + ".", call);
  }
}

Json with(const Json& value, const std::string& path, double number) {
  const std::size_t end = path.find_first_of(".#");
  Json out = value;
  const std::string key = path.substr(0, end);
  if (end == std::string::npos) {
    out[key] = number;
  } else if (path[end] == '.') {
    out[key] = with(*value.find(key), path.substr(end + 1), number);
  } else {
    const std::size_t dot = path.find('.', end), i = std::stoul(path.substr(end + 1));
    Json::Array items = value.find(key)->items();
    items[i] = with(items[i], path.substr(dot + 1), number);
    out[key] = Json(std::move(items));
  }
  return out;
}

/// "attention#2.index_topk" as figure_ranges() names it: "model.attention.index_topk".
std::string range_key(std::string path) {
  for (std::size_t at = path.find('#'); at != std::string::npos; at = path.find('#'))
    path.erase(at, path.find('.', at) - at);
  return "model." + path;
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string problem_with(const Json& model) {
  return problem_of([&] { model_from_document(model, "m", "m.toml"); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every figure of a model outside its range is an error that names the key of the file") {
  std::set<std::string> keys;
  for (const char* text : descriptions) {
    const Json model = parse_json(text, "m.toml");
    REQUIRE(problem_with(model) == "");
    for_each_number(model, "", [&](const std::string& path, const Json&) {
      const auto& ranges = figure_ranges();
      const auto range = std::find_if(ranges.begin(), ranges.end(), [&](const FigureRange& each) {
        return each.key == range_key(path);
      });
      INFO(path);
      REQUIRE(range != ranges.end());
      keys.insert(range->key);
      const std::string key = path.substr(path.find_last_of(".#") + 1);
      for (const double wrong : {range->least - 1, -2147483648.0, range->most + 1}) {
        INFO(wrong);
        const std::string problem = problem_with(with(model, path, wrong));
        CHECK(has(problem, key + ": expected "));
      }
    });
  }
  for (const FigureRange& each : figure_ranges())
    CHECK((!each.key.starts_with("model.") || keys.contains(each.key)));
}

TEST_CASE("a model at the upper ends of its ranges has a size, and does not fit") {
  Json model = parse_json(descriptions[0], "m.toml");
  model["hybrid"] = Json();
  for (const char* key : {"layers", "hidden_size", "heads", "kv_heads", "head_dim",
                          "intermediate_size", "vocab_size", "max_model_len"}) {
    for (const FigureRange& range : figure_ranges())
      if (range.key == std::string("model.") + key) model[key] = range.most;
  }
  const Model huge = model_from_document(model, "m", "m.toml");
  CHECK(huge.parameters() > 1e18);
  Hardware hardware;
  hardware.name = "gpu";
  hardware.usable_memory = 80.0 * unit::GiB;
  CHECK(has(problem_of([&] { deploy(huge, hardware, {}); }), "does not fit"));
}

TEST_CASE("a config.json of a thousand million layers with experts is refused at once") {
  const std::string text =
      R"({"model_type": "qwen3_moe", "num_hidden_layers": 1000000000, "hidden_size": 2048,
          "num_attention_heads": 32, "vocab_size": 1000, "num_experts": 8, "num_experts_per_tok": 2,
          "moe_intermediate_size": 768, "torch_dtype": "bfloat16"})";
  const std::clock_t start = std::clock();
  const std::string problem =
      problem_of([&] { model_from_document(parse_json(text, "config.json"), "m", "config.json"); });
  CHECK(has(problem, "config.json: num_hidden_layers: expected 1 to 2000 layers"));
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 0.5);
}

TEST_CASE("every figure of a deployment outside its range is an error that names its key") {
  const Model model = model_from_document(parse_json(descriptions[0], "m"), "m", "m.toml");
  Hardware hardware;
  hardware.usable_memory = 80.0 * unit::GiB;
  const auto problem = [&](const std::function<void(DeploymentOptions&)>& change) {
    DeploymentOptions options;
    options.kv_blocks = 100;
    change(options);
    return problem_of([&] { deploy(model, hardware, options); });
  };
  CHECK(problem([](DeploymentOptions&) {}) == "");
  CHECK(has(problem([](auto& o) { o.tp = 0; }), "deployment.tp: expected 1 to 1024 GPUs, found 0"));
  CHECK(has(problem([](auto& o) { o.tp = 1 << 20; }), "deployment.tp: "));
  CHECK(has(problem([](auto& o) { o.max_num_seqs = 2000000000; }), "deployment.max_num_seqs: "));
  CHECK(has(problem([](auto& o) { o.max_num_batched_tokens = -1; }),
            "deployment.max_num_batched_tokens: "));
  CHECK(has(problem([](auto& o) { o.block_size = 2000000000; }), "deployment.block_size: "));
  CHECK(has(problem([](auto& o) { o.kv_blocks = 5000000000; }), "deployment.kv_blocks: "));
  CHECK(has(problem([](auto& o) { o.memory_utilization = 1.01; }),
            "deployment.memory_utilization: "));
  CHECK(has(problem([](auto& o) { o.memory_utilization = 0.0 / 0.0; }),
            "deployment.memory_utilization: "));
  CHECK(has(problem([](auto& o) { o.activations = 1e300 * unit::byte; }),
            "deployment.activations: "));
}
