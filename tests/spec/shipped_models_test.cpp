// The figures of every shipped model that has kinds of layers, against figures that were computed
// without this program.

#include <fstream>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "spec/catalogue.h"
#include "spec/layer_kinds.h"
#include "spec/layers.h"
#include "spec/weights.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

/// A model as its config.json says it: computed by hand from the figures there.
struct Figures {
  const char* name;
  double total, active;  // 1e9 parameters
  double growing;        // bytes of KV cache per token, bf16, index included
  double bounded;        // bytes of KV cache per token below the bound, bf16
  int bound;             // tokens
  double state_mb;       // 1e6 bytes per request
};

// Of an index: 132 bytes for each token and layer that computes its own (128 of FP8, one scale).
constexpr Figures figures[] = {
    {"deepseek-v3", 671.0, 37.6, 70272, 0, 0, 0},
    {"deepseek-v3.2", 671.9, 38.4, 70272 + 8052, 0, 0, 0},
    {"deepseek-v4-flash", 284.3, 13.8, 5872, 44032, 128, 0},
    {"deepseek-v4-pro", 1573.0, 49.8, 8408, 62464, 128, 0},
    // Entries of 584 and 68 bytes: three layers with one for two tokens, one with one for each.
    {"deepseek-v4.1-flash", 748.14, 16.44, 1630, 23360, 128, 0},
    {"glm-5.3-flash", 314.3, 18.37, 11264 + 363, 0, 0, 147.6},
    {"qwen3.8-flash-next", 176.27, 6.63, 24576 + 768, 0, 0, 115.5},
    {"hy4-preview", 769.9, 49.0, 89856 + 2772, 0, 0, 0},
    {"kimi-k2", 1026.4, 32.9, 70272, 0, 0, 0},
    {"kimi-k2.5", 1026.4, 32.9, 70272, 0, 0, 0},
    {"kimi-k3", 2780, 105, 27648, 0, 0, 449},
    {"mistral-large-3", 673.4, 39.9, 70272, 0, 0, 0},
    {"glm-4.5", 352.8, 33.6, 376832, 0, 0, 0},
    {"glm-4.6", 352.8, 33.6, 376832, 0, 0, 0},
    {"glm-4.5-air", 106.9, 13.4, 188416, 0, 0, 0},
    {"hy3", 295.03, 20.68, 327680, 0, 0, 0},
    {"ernie-4.5-21b-a3b", 21.83, 3.35, 57344, 0, 0, 0},
    {"glm-5", 743.9, 41.8, 89856 + 10296, 0, 0, 0},
    {"glm-5.2", 743.4, 41.3, 89856 + 2772, 0, 0, 0},
    {"minimax-m2.5", 228.7, 11.0, 253952, 0, 0, 0},
    {"minimax-m3", 426, 25.7, 122880 + 57 * 132, 0, 0, 0},
    {"gpt-oss-120b", 116.83, 5.71, 36864, 36864, 128, 0},
    {"gpt-oss-20b", 20.92, 4.19, 24576, 24576, 128, 0},
    {"qwen3-next-80b-a3b", 79.7, 3.9, 24576, 0, 0, 77},
    {"qwen3.5-397b-a17b", 396.3, 17.3, 30720, 0, 0, 192},
    {"qwen3.8-2.4t-a95b", 2420, 95.3, 94208, 0, 0, 587},
    {"muse-glimmer-30b", 27.85, 27.85, 13312, 39936, 2048, 0},
    {"inkling-2-mini", 25.85, 2.915, 32768, 163840, 1024, 0},
    {"inkling", 947.02, 41.1, 45056, 450560, 512, 6.355},
    {"inkling-small", 263.65, 12.0, 28672, 143360, 512, 2.58},
    {"qwen3.5-122b-a10b", 122.1, 9.8, 24576, 0, 0, 154},
    {"qwen3.5-35b-a3b", 34.7, 3.5, 20480, 0, 0, 64},
    {"qwen3.5-27b", 26.9, 26.9, 65536, 0, 0, 154},
    {"qwen3.5-4b", 4.2, 4.2, 32768, 0, 0, 51.5},
    {"qwen3.5-9b", 8.95, 8.95, 32768, 0, 0, 51.5},
    {"qwen3-235b-a22b", 235.1, 22.2, 192512, 0, 0, 0},
    {"qwen3-vl-30b-a3b", 30.53, 3.35, 98304, 0, 0, 0},
    {"qwen3-coder-480b-a35b", 480.2, 35.5, 253952, 0, 0, 0},
    {"llama-4-scout", 107.8, 17.2, 49152, 147456, 8192, 0},
    {"llama-4-maverick", 400.7, 17.2, 49152, 147456, 8192, 0},
    {"gemma-3-27b", 27.01, 27.01, 81920, 425984, 1024, 0},
    {"gemma-3-12b", 11.77, 11.77, 65536, 327680, 1024, 0},
    {"gemma-4-12b", 11.91, 11.91, 16384, 327680, 1024, 0},
    {"gemma-4-26b-a4b", 25.2, 3.8, 20480, 204800, 1024, 0},
    {"gemma-4-31b", 30.7, 30.7, 81920, 819200, 1024, 0},
    {"mistral-small-3", 23.57, 23.57, 163840, 0, 0, 0},
    {"ministral-3-8b", 8.49, 8.49, 139264, 0, 0, 0},
    {"phi-4", 14.66, 14.66, 204800, 0, 0, 0},
    {"nemotron-h-56b", 56.3, 56.3, 40960, 0, 0, 913},
    {"nemotron-nano-9b-v2", 8.89, 8.89, 16384, 0, 0, 144},
    {"nemotron-nano-12b-v2", 12.31, 12.31, 24576, 0, 0, 149},
    {"nemotron-3-nano-30b-a3b", 31.6, 3.6, 6144, 0, 0, 49},
    {"nemotron-3.5-lightning-30b-a3b", 31.6, 3.6, 6144, 0, 0, 49},
    {"nemotron-3-super-120b-a12b", 120.7, 12.8, 8192, 0, 0, 170},
    {"nemotron-3-ultra-550b-a55b", 549.3, 56.1, 12288, 0, 0, 408},
    {"granite-4.0-h-small", 32.2, 8.8, 16384, 0, 0, 153},
    {"mimo-v2-flash", 308.8, 15.4, 23040, 199680, 128, 0},
    {"step-3.7-flash", 196.94, 11.97, 49152, 135168, 512, 0},
    {"step-3.5-flash", 196.94, 11.97, 49152, 135168, 512, 0},
    {"laguna-s-2.1", 117.55, 8.44, 49152, 147456, 512, 0},
    {"command-a-plus", 218.25, 24.98, 32768, 98304, 4096, 0},
};

/// GB that a decode step of one request reads at tp 1: every linear layer in the format of the
/// release, of the routed experts those of one token, the LM head, no row of the embedding.
struct StepBytes {
  const char* name;
  double gb;
};
constexpr StepBytes one_decode_step[] = {
    {"deepseek-v3", 37.666},
    {"deepseek-v3.2", 38.518},
    {"deepseek-v4-flash", 10.767},
    {"deepseek-v4-pro", 38.532},
    {"deepseek-v4.1-flash", 12.538},
    {"glm-5.3-flash", 35.462},
    {"qwen3.8-flash-next", 11.975},
    {"hy4-preview", 96.566},
    {"kimi-k2", 33.033},
    {"kimi-k2.5", 32.984},
    {"kimi-k3", 136.593},
    {"mistral-large-3", 51.413},
    {"glm-4.5", 65.708},
    {"glm-4.5-air", 25.605},
    {"hy3", 40.360},
    {"ernie-4.5-21b-a3b", 6.704},
    {"glm-5", 81.664},
    {"glm-5.2", 80.596},
    {"minimax-m2.5", 11.081},
    {"minimax-m3", 49.465},
    {"gpt-oss-120b", 4.999},
    {"gpt-oss-20b", 3.706},
    {"qwen3-next-80b-a3b", 7.125},
    {"qwen3.5-397b-a17b", 32.658},
    {"qwen3.8-2.4t-a95b", 186.48},
    {"muse-glimmer-30b", 53.017},
    {"inkling", 79.629},
    {"inkling-small", 22.341},
    {"inkling-2-mini", 4.904},  // each weight once; a pass visits twelve layers three times
    {"qwen3.5-122b-a10b", 18.012},
    {"qwen3.5-35b-a3b", 5.890},
    {"qwen3.5-27b", 51.244},
    {"qwen3.5-4b", 8.410},
    {"qwen3.5-9b", 15.871},
    {"qwen3-coder-480b-a35b", 69.081},
    {"llama-4-scout", 32.276},
    {"llama-4-maverick", 32.299},
    {"gemma-3-27b", 54.016},
    {"gemma-3-12b", 23.531},
    {"gemma-4-12b", 23.813},
    {"gemma-4-26b-a4b", 7.644},
    {"gemma-4-31b", 61.392},
    {"phi-4", 28.291},
    {"ministral-3-8b", 15.905},
    {"nemotron-h-56b", 110.486},
    {"nemotron-nano-9b-v2", 16.598},
    {"nemotron-nano-12b-v2", 23.273},
    {"nemotron-3-nano-30b-a3b", 6.454},
    {"nemotron-3.5-lightning-30b-a3b", 6.454},
    {"nemotron-3-super-120b-a12b", 24.461},
    {"nemotron-3-ultra-550b-a55b", 109.958},
    {"granite-4.0-h-small", 17.602},
    {"mimo-v2-flash", 15.498},
    {"step-3.7-flash", 22.886},
    {"step-3.5-flash", 22.886},
    {"laguna-s-2.1", 16.262},
    {"command-a-plus", 49.963},
};

double read_by_one_decode(const Model& model) {
  WeightParts parts = weights(model);
  if (const MixtureOfExperts* moe = model.experts())
    parts.routed_experts *= double(moe->experts_per_token) / moe->experts;
  parts.lm_head = double(model.vocab_size) * model.hidden_size;
  parts.embedding = 0;
  parts.small = parts.ngram_bytes = 0;  // of tables a token reads some rows
  return weight_bytes(parts, model, weight_formats(model, std::nullopt)) / unit::byte;
}

double stored(const Model& model, std::optional<Dtype> wanted) {
  return weight_bytes(weights(model), model, weight_formats(model, wanted)) / unit::byte;
}

}  // namespace

TEST_CASE("models have the parameters, caches and states that their figures give") {
  for (const Figures& expected : figures) {
    INFO(expected.name);
    const Model model = load_model(expected.name, home);
    CHECK(model.parameters() / 1e9 == Approx(expected.total).epsilon(0.005));
    CHECK(model.active_parameters() / 1e9 == Approx(expected.active).epsilon(0.05));
    CHECK(model.kv_bytes_per_token(Dtype::bf16) == expected.growing * unit::byte);
    CHECK(model.kv_bounded_bytes_per_token(Dtype::bf16) == expected.bounded * unit::byte);
    CHECK(model.kv_bounded_bytes(Dtype::bf16, 1e9) ==
          expected.bounded * expected.bound * unit::byte);
    CHECK(model.kv_bounded_bytes(Dtype::bf16, 10) == expected.bounded * 10 * unit::byte);
    // The figures of states are rounded to MB: half of one is 1 % of the smallest.
    CHECK(model.state_bytes_per_request() / unit::byte / 1e6 ==
          Approx(expected.state_mb).epsilon(0.01));
  }
}

TEST_CASE("every shipped model with kinds of layers has figures to be held against") {
  std::set<std::string> known;
  for (const Figures& each : figures) known.insert(each.name);
  for (const std::string& name : model_names(home)) {
    const Model model = load_model(name, home);
    if (model.uniform && model.linear_attention_layers() == 0) continue;
    INFO(name);
    CHECK(known.contains(name));
  }
}

TEST_CASE("a decode step reads the weights of one token in the formats of the release") {
  for (const auto& [name, gb] : one_decode_step) {
    INFO(name);
    CHECK(read_by_one_decode(load_model(name, home)) / 1e9 == Approx(gb).epsilon(0.002));
  }
}

TEST_CASE("released formats weigh what their checkpoints weigh") {
  // model card: a checkpoint of 60.8 GiB
  CHECK(stored(load_model("gpt-oss-120b", home), std::nullopt) / 1073741824.0 ==
        Approx(60.8).epsilon(0.01));
  const Model kimi = load_model("kimi-k2.5", home);
  const WeightFormats own = weight_formats(kimi, std::nullopt);
  CHECK(bytes_per_element(own[WeightClass::attention]) == 2);
  CHECK(bytes_per_element(own[WeightClass::experts]) == 0.5625);
  CHECK(bytes_per_element(own[WeightClass::shared]) == 2);
  // 384 * 60 experts of 3 * 7168 * 2048 weights at 9/16 bytes, and 11.7e9 weights in 16 bit.
  const double experts = 384.0 * 60 * 3 * 7168 * 2048;
  CHECK(stored(kimi, std::nullopt) ==
        Approx(experts * 0.5625 + (kimi.parameters() - experts) * 2).epsilon(1e-9));
  CHECK(stored(kimi, Dtype::nvfp4) < stored(kimi, std::nullopt));
}

TEST_CASE("a release says which classes it quantises, and the format of its KV cache") {
  struct Released {
    const char* name;
    Dtype wanted;
    Dtype attention, experts, dense_mlp;
    std::optional<Dtype> kv;
  };
  constexpr auto bf16 = Dtype::bf16, fp8 = Dtype::fp8, block = Dtype::fp8_block,
                 nvfp4 = Dtype::nvfp4;
  const Released released[] = {
      {"deepseek-v3", nvfp4, bf16, nvfp4, nvfp4, fp8},
      {"deepseek-v3", block, block, block, block, std::nullopt},
      {"deepseek-v3.2", nvfp4, bf16, nvfp4, nvfp4, fp8},
      {"deepseek-v4-pro", nvfp4, block, nvfp4, bf16, std::nullopt},
      {"glm-5", block, block, block, block, std::nullopt},
      {"glm-5", nvfp4, bf16, nvfp4, nvfp4, fp8},
      {"glm-5.2", nvfp4, bf16, nvfp4, bf16, fp8},
      {"minimax-m2.5", nvfp4, bf16, nvfp4, bf16, fp8},
      {"minimax-m3", nvfp4, Dtype::mxfp8, nvfp4, Dtype::mxfp8, std::nullopt},
      {"qwen3-235b-a22b", nvfp4, nvfp4, nvfp4, bf16, fp8},
      {"qwen3.5-397b-a17b", nvfp4, bf16, nvfp4, bf16, fp8},
      {"kimi-k2.5", nvfp4, bf16, nvfp4, nvfp4, fp8},
      {"llama-3.1-70b", fp8, fp8, bf16, fp8, std::nullopt},
      {"llama-3.1-70b", nvfp4, nvfp4, bf16, nvfp4, fp8},
      {"qwen3-32b", block, block, bf16, block, std::nullopt},
      {"gemma-4-31b", nvfp4, bf16, bf16, nvfp4, fp8},
      {"nemotron-3-super-120b-a12b", fp8, fp8, fp8, bf16, fp8},
  };
  for (const Released& each : released) {
    INFO(each.name << " " << name(each.wanted));
    const Model model = load_model(each.name, home);
    const WeightFormats formats = weight_formats(model, each.wanted);
    CHECK(formats[WeightClass::attention] == each.attention);
    if (model.experts() != nullptr) CHECK(formats[WeightClass::experts] == each.experts);
    if (model.dense_mlp_layers() > 0) CHECK(formats[WeightClass::dense_mlp] == each.dense_mlp);
    CHECK(formats[WeightClass::router] == bf16);
    CHECK(released_kv(model, each.wanted) == each.kv);
  }
}

TEST_CASE("of attention a release may quantise the output projection alone") {
  const auto output_of = [](const char* name, std::optional<Dtype> wanted) {
    return weight_formats(load_model(name, home), wanted)[WeightClass::attention_output];
  };
  CHECK(output_of("deepseek-v3", Dtype::nvfp4) == Dtype::nvfp4);
  CHECK(output_of("deepseek-v3.2", Dtype::nvfp4) == Dtype::nvfp4);
  CHECK(output_of("deepseek-v3", std::nullopt) == Dtype::fp8_block);
  // Where nothing is said of it, it is as the other projections.
  CHECK(output_of("kimi-k2.5", Dtype::nvfp4) == Dtype::bf16);
  CHECK(output_of("llama-3.1-70b", Dtype::nvfp4) == Dtype::nvfp4);
  const Model model = load_model("deepseek-v3", home);
  const WeightParts parts = weights(model);
  CHECK(parts.attention_output == 61 * 128 * 128.0 * 7168);
  const double bytes = parts.attention * 2 + parts.attention_output * 0.5625;
  WeightParts attention;
  attention.attention = parts.attention;
  attention.attention_output = parts.attention_output;
  CHECK(weight_bytes(attention, model, weight_formats(model, Dtype::nvfp4)) / unit::byte == bytes);
}

TEST_CASE("releases name their source") {
  int releases = 0;
  for (const std::string& name : model_names(home)) {
    for (const Release& each : load_model(name, home).releases) {
      INFO(name);
      CHECK_FALSE(each.source.empty());
      ++releases;
    }
  }
  CHECK(releases >= 30);
}

TEST_CASE("every model of the measured deployments is shipped") {
  if (!test::have_shared("truth/silicon/questions.csv")) return;
  std::ifstream file(test::shared_data() / "truth/silicon/questions.csv");
  std::string line;
  std::getline(file, line);
  REQUIRE(line.starts_with("question,family,"));
  std::set<std::string> families;
  while (std::getline(file, line)) {
    const std::size_t begin = line.find(',') + 1;
    families.insert(line.substr(begin, line.find(',', begin) - begin));
  }
  CHECK(families.size() >= 10);
  for (const std::string& family : families) {
    INFO(family);
    CHECK_NOTHROW(load_model(family, home));
  }
}
