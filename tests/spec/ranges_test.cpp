#include "spec/ranges.h"

#include <algorithm>
#include <ctime>
#include <functional>

#include "base/error.h"
#include "spec/deployment.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// Every figure that a model file can state, each within its range.
Json full_model(const std::string& second) {
  Json out = Json::object();
  out["layers"] = 4, out["hidden_size"] = 64, out["heads"] = 4, out["kv_heads"] = 4;
  out["head_dim"] = 16, out["intermediate_size"] = 64, out["vocab_size"] = 1000;
  out["max_model_len"] = 1000;
  Json& moe = out["moe"];
  moe["experts"] = 4, moe["experts_per_token"] = 2, moe["intermediate_size"] = 64;
  moe["shared_intermediate_size"] = 64, moe["dense_layers"] = 1;
  if (second == "mla") {
    Json& mla = out["mla"];
    mla["q_lora_rank"] = 8, mla["kv_lora_rank"] = 8, mla["qk_nope_head_dim"] = 8;
    mla["qk_rope_head_dim"] = 8, mla["v_head_dim"] = 8;
  }
  if (second == "hybrid") {
    Json& hybrid = out["hybrid"];
    hybrid["full_attention_interval"] = 2, hybrid["conv_kernel"] = 4, hybrid["key_heads"] = 4;
    hybrid["key_head_dim"] = 16, hybrid["value_heads"] = 4, hybrid["value_head_dim"] = 16;
  }
  return out;
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string problem_with(Json model, const std::string& path, double value) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) {
    model[path] = value;
  } else {
    model[path.substr(0, dot)][path.substr(dot + 1)] = value;
  }
  return problem_of([&] { model_from_document(model, "m", "m.toml"); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every figure of a model outside its range is an error that names file and key") {
  int keys = 0;
  // Keys of lists of kinds have the kind in their paths, and `sampling` is read elsewhere.
  const std::vector<std::string> elsewhere = {"window", "index.",          "compression.",
                                              "mamba.", "moe.latent_size", "sampling."};
  for (const FigureRange& range : figure_ranges()) {
    if (!range.key.starts_with("model.")) continue;
    const std::string path(range.key.substr(6));
    if (std::any_of(elsewhere.begin(), elsewhere.end(),
                    [&](const std::string& each) { return path.starts_with(each); }))
      continue;
    const std::string second = path.starts_with("hybrid.") ? "hybrid" : "mla";
    // Latent attention has head dimensions of its own.
    const Json model = full_model(path == "head_dim" || path == "kv_heads" ? "" : second);
    REQUIRE(problem_of([&] { model_from_document(model, "m", "m.toml"); }) == "");
    for (const double wrong : {range.least - 1, -2147483648.0, range.most + 1, 2147483647.0}) {
      INFO(path << " = " << wrong);
      const std::string problem = problem_with(model, path, wrong);
      // The sum of both parts of a head may be out of range first.
      const bool sum = path.starts_with("mla.qk_") && has(problem, "m.toml: head_dim: expected ");
      CHECK((sum || has(problem, "m.toml: " + path + ": expected ")));
    }
    ++keys;
  }
  CHECK(keys == 24);
}

TEST_CASE("a model at the upper ends of its ranges has a size, and does not fit") {
  Json model = full_model("");
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
  const Model model = model_from_document(full_model(""), "m", "m.toml");
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
