#include "spec/weights.h"

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

}  // namespace

TEST_CASE("the parts add up to the model") {
  for (const std::string& name : model_names(home)) {
    INFO(name);
    const Model model = load_model(name, home);
    CHECK(weights(model).total() == model.parameters());
  }
}

TEST_CASE("ranks together hold the model, and what is replicated once more") {
  const Model model = load_model("llama-3.1-70b", home);  // 64 heads, 8 KV heads
  const WeightParts whole = weights(model), four = weights_per_rank(model, 4);
  CHECK(4 * four.attention == whole.attention);
  CHECK(4 * four.dense_mlp == whole.dense_mlp);
  CHECK(four.small == whole.small);
  CHECK(4 * four.embedding == whole.embedding);  // 128256 = 64 * 4 * 501
}

TEST_CASE("KV heads are replicated when there are more ranks than heads") {
  const Model model = load_model("qwen3-30b-a3b", home);  // 32 heads, 4 KV heads of 128
  const double per_head = 2048.0 * 128 * 48;
  const WeightParts eight = weights_per_rank(model, 8);
  CHECK(eight.attention == per_head * (4 + 2 * 1));
  CHECK(eight.attention_output == per_head * 4);
  CHECK(8 * eight.attention > weights(model).attention);
}

TEST_CASE("the vocabulary is padded to 64 rows per rank") {
  const Model model = load_model("llama-2-7b", home);  // 32000 = 64 * 500
  CHECK(weights_per_rank(model, 1).embedding == 32000.0 * 4096);
  CHECK(weights_per_rank(model, 8).lm_head == 64.0 * 63 * 4096);  // 500 / 8 = 62.5
}

TEST_CASE("the down projections of latent attention are on every rank") {
  const Model model = load_model("deepseek-v3", home);
  const double down = 61 * 7168.0 * (1536 + 576);
  const double whole = weights(model).attention;
  CHECK(weights_per_rank(model, 8).attention == Approx(down + (whole - down) / 8).epsilon(1e-14));
}

TEST_CASE("tied embeddings are stored once") {
  CHECK(weights(load_model("qwen2.5-1.5b", home)).lm_head == 0);
}

TEST_CASE("quantisation shrinks linear layers and nothing else") {
  const Model model = load_model("llama-3.1-8b", home);
  const WeightParts parts = weights(model);
  CHECK(weight_bytes(parts, model, Dtype::fp8) / unit::byte ==
        parts.linear() + 2 * parts.unquantised());
  CHECK(weight_bytes(parts, model, Dtype::int4) / unit::byte ==
        parts.linear() / 2 + 2 * parts.unquantised());
}

TEST_CASE("a tp that does not divide the heads or the MLP is an error that says so") {
  CHECK_THROWS_WITH(weights_per_rank(load_model("yi-34b", home), 16),
                    "deployment.tp: 56 attention heads of yi-34b do not divide by tp = 16");
  CHECK_THROWS_AS(weights_per_rank(load_model("qwen2.5-7b", home), 8), Error);  // 28 heads
  CHECK_THROWS_AS(weights_per_rank(load_model("llama-2-7b", home), 0), Error);
  CHECK_THROWS_AS(weights_per_rank(load_model("llama-2-7b", home), -2), Error);
}
