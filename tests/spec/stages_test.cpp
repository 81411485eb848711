#include "spec/pipeline/stages.h"

#include <numeric>

#include "base/error.h"
#include "spec/deployment.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

Deployment deployed(const char* model, const char* gpu, const DeploymentOptions& options) {
  return deploy(load_model(model, home), load_hardware(gpu, home), options);
}

std::string problem_of(const char* model, const char* gpu, const DeploymentOptions& options) {
  try {
    deployed(model, gpu, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("layers are dealt as vLLM deals them") {
  const Model v3 = load_model("deepseek-v3", home);  // 61 layers
  CHECK(stage_layers(v3, 1) == std::vector<int>{61});
  CHECK(stage_layers(v3, 2) == std::vector<int>{31, 30});
  CHECK(stage_layers(v3, 4) == std::vector<int>{15, 15, 16, 15});
  CHECK(stage_layers(v3, 7) == std::vector<int>{8, 9, 9, 9, 9, 9, 8});
  CHECK(stage_layers(v3, 61) == std::vector<int>(61, 1));
  CHECK_THROWS_WITH(stage_layers(v3, 62), ContainsSubstring("62 stages for the 61 layers"));
}

TEST_CASE("the stages together hold the model once, and a tied head twice") {
  for (const char* name : {"llama-3.1-70b", "deepseek-v3", "qwen3-30b-a3b", "gemma-3-27b"}) {
    for (const int pp : {1, 2, 3, 4}) {
      CAPTURE(name, pp);
      const Model model = load_model(name, home);
      const WeightParts rank = weights_per_rank(model, 2);
      const std::vector<int> layers = stage_layers(model, pp);
      double held = 0;
      for (std::size_t stage = 0; stage < layers.size(); ++stage)
        held += weights_of_stage(rank, model, layers, stage).total();
      const double again = model.tied_embeddings ? rank.embedding : 0;
      CHECK(held == Approx(rank.total() + again).epsilon(1e-12));
    }
  }
}

TEST_CASE("shares sum to 1; the last stage has the head, the others go with their layers") {
  const Model model = load_model("llama-3.1-70b", home);
  for (const int pp : {2, 3, 4, 8}) {
    CAPTURE(pp);
    const std::vector<int> layers = stage_layers(model, pp);
    const std::vector<double> shares = stage_shares(model, layers);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1).epsilon(1e-14));
    for (std::size_t i = 0; i + 1 < shares.size(); ++i)
      CHECK(shares[i] / layers[i] == Approx(shares[0] / layers[0]));
    CHECK(shares.back() / layers.back() > shares[0] / layers[0]);
  }
}

TEST_CASE("the stage with the fewest blocks decides, and one stage is as before") {
  const Deployment one = deployed("llama-3.1-70b", "h100-sxm", {.tp = 4});
  CHECK(one.stage_layers == std::vector<int>{80});
  CHECK(one.stage_shares == std::vector<double>{1});
  const Deployment two = deployed("llama-3.1-70b", "h100-sxm", {.tp = 4, .pp = 2});
  CHECK(two.kv_bytes_per_block * 2.0 == one.kv_bytes_per_block);
  // Half of the weights and half of each block: more than twice the blocks.
  CHECK(two.kv_blocks > 2 * one.kv_blocks);
  CHECK(two.weight_bytes < 0.52 * one.weight_bytes);
  const Deployment uneven = deployed("llama-3.1-70b", "h100-sxm", {.tp = 4, .pp = 3});
  CHECK(uneven.stage_layers == std::vector<int>{27, 27, 26});
  CHECK(uneven.stage == 0);
  const Bytes used =
      uneven.weight_bytes + uneven.activation_bytes + uneven.runtime_bytes + uneven.kv_capacity;
  const Bytes requested = uneven.hardware.usable_memory * uneven.options.memory_utilization;
  CHECK(used <= requested);
  CHECK(requested - used < 2.0 * uneven.kv_bytes_per_block + Bytes(1));
}

TEST_CASE("a model that fits no single node fits two of them in stages") {
  CHECK_THAT(problem_of("mixtral-8x22b", "h100-sxm", {.tp = 2}), ContainsSubstring("does not fit"));
  CHECK(deployed("mixtral-8x22b", "h100-sxm", {.tp = 2, .pp = 2}).kv_blocks > 0);
  CHECK_THAT(problem_of("llama-3.1-70b", "h100-sxm", {.tp = 1, .pp = 2, .max_num_seqs = 8192}),
             ContainsSubstring("with tp = 1 and pp = 2"));
}

TEST_CASE("activations take the link inside of a node and the network beyond it") {
  const Model model = load_model("llama-3.1-70b", home);
  const Hardware h100 = load_hardware("h100-sxm", home);
  const double bytes = 2 * 8192 * 2;
  CHECK(stage_seconds_per_token(model, h100, 8, 2) == std::vector<double>{bytes / 50e9});
  CHECK(stage_seconds_per_token(model, h100, 4, 4) ==
        std::vector<double>{bytes / 450e9, bytes / 50e9, bytes / 450e9});
  CHECK(stage_seconds_per_token(model, load_hardware("gb200", home), 8, 2).front() ==
        Approx(bytes / 900e9));
  CHECK_THAT(problem_of("llama-3.1-70b", "l40s", {.tp = 8, .pp = 2}),
             ContainsSubstring("deployment.pp: stages 1 and 2 lie in different nodes of 8 GPUs"));
}

TEST_CASE("stages and ranks that step together are refused together") {
  CHECK_THAT(problem_of("deepseek-v3", "h200-sxm", {.tp = 4, .dp = 2, .ep = 8, .pp = 2}),
             ContainsSubstring("deployment.pp: with dp > 1"));
  CHECK_THAT(problem_of("llama-3.1-8b", "h200-sxm", {.pp = 0}),
             ContainsSubstring("deployment.pp: expected 1"));
}
