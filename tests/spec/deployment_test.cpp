#include "spec/deployment.h"

#include <cmath>

#include "base/csv.h"
#include "base/error.h"
#include "base/toml.h"
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

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("everything that is requested is given to something, to within two blocks") {
  for (const int tp : {1, 2, 4, 8}) {
    const Deployment d = deployed("llama-3.1-8b", "h200-sxm", {.tp = tp});
    const Bytes used = d.weight_bytes + d.activation_bytes + d.runtime_bytes + d.kv_capacity;
    const Bytes requested = d.hardware.usable_memory * d.options.memory_utilization;
    CHECK(used <= requested);
    CHECK(requested - used < 2.0 * d.kv_bytes_per_block + Bytes(1));
    CHECK(d.kv_capacity == double(d.kv_blocks) * d.kv_bytes_per_block);
  }
}

TEST_CASE("Llama-3.1-8B on an 80 GB GPU gets about 28.7 thousand blocks") {
  const Deployment d = deployed("llama-3.1-8b", "h100-sxm", {.max_num_seqs = 1024});
  CHECK(d.kv_bytes_per_block == 2 * unit::MiB);
  CHECK(double(d.kv_blocks) == Approx(28700).epsilon(0.02));
}

TEST_CASE("the blocks that vLLM found on H100s are met within 2 percent") {
  if (!test::have_shared("truth/blis_training16/index.csv")) return;
  const CsvFile index = read_csv(test::shared_data() / "truth/blis_training16/index.csv");
  for (const CsvRow& row : index.rows) {
    const auto text = [&](const char* column) { return index.text(row, index.require(column)); };
    const auto whole = [&](const char* column) {
      return int(index.integer(row, index.require(column)));
    };
    INFO(text("experiment"));
    const Deployment d = deploy(load_model(text("model"), home), load_hardware(text("gpu"), home),
                                {.tp = whole("tp"),
                                 .memory_utilization = 0.9,
                                 .max_num_seqs = whole("max_num_seqs"),
                                 .max_num_batched_tokens = whole("max_num_batched_tokens")});
    CHECK(double(d.kv_blocks) == Approx(whole("kv_blocks")).epsilon(0.02));
  }
}

TEST_CASE("an fp8 cache has twice the blocks, and latent attention one copy per rank") {
  const Deployment bf16 = deployed("llama-3.1-8b", "h200-sxm", {});
  const Deployment fp8 = deployed("llama-3.1-8b", "h200-sxm", {.kv = Dtype::fp8});
  CHECK(2.0 * fp8.kv_bytes_per_block == bf16.kv_bytes_per_block);
  CHECK(std::abs(fp8.kv_blocks - 2 * bf16.kv_blocks) <= 2);
  const Deployment eight = deployed("deepseek-v3", "h200-sxm", {.tp = 8});
  CHECK(eight.weight_dtype == Dtype::fp8_block);
  CHECK(eight.kv_bytes_per_block == 16.0 * 576 * 2 * 61 * unit::byte);
}

TEST_CASE("KV heads are halved over two ranks and replicated over more ranks than heads") {
  const Bytes one = deployed("qwen2.5-1.5b", "h200-sxm", {}).kv_bytes_per_block;  // 2 KV heads
  CHECK(deployed("qwen2.5-1.5b", "h200-sxm", {.tp = 2}).kv_bytes_per_block == one / 2);
  CHECK(deployed("qwen2.5-1.5b", "h200-sxm", {.tp = 4}).kv_bytes_per_block == one / 2);
}

TEST_CASE("what does not fit says by how much, and what would") {
  const std::string problem = problem_of("llama-3.1-70b", "h100-sxm", {});
  INFO(problem);
  CHECK(holds(problem, "deployment: llama-3.1-70b does not fit on h100-sxm with tp = 1: "));
  CHECK(holds(problem, "GiB too much"));
  CHECK(holds(problem, "131.4 GiB of bf16 weights"));
  CHECK(holds(problem, "it fits with tp = 2, or with weights = \"fp8\""));
  CHECK(holds(problem_of("deepseek-v3", "l40s", {.weights = Dtype::fp4}), "it fits with tp = 16"));
  CHECK(holds(problem_of("qwen3-32b", "l40s", {}), "or with weights = \"fp8\""));
  CHECK_NOTHROW(deployed("qwen3-32b", "l40s", {.weights = Dtype::fp8}));
  CHECK_NOTHROW(deployed("llama-3.1-70b", "h100-sxm", {.tp = 2}));
}

TEST_CASE("given blocks are taken as they are, even where nothing fits") {
  const Deployment d = deployed("llama-3.1-70b", "h100-sxm", {.kv_blocks = 1000});
  CHECK(d.kv_blocks == 1000);
  CHECK(d.kv_capacity == 1000.0 * d.kv_bytes_per_block);
}

TEST_CASE("a bigger budget leaves fewer blocks") {
  const auto blocks = [](int tokens, int requests) {
    return deployed("llama-3.1-8b", "h200-sxm",
                    {.max_num_seqs = requests, .max_num_batched_tokens = tokens})
        .kv_blocks;
  };
  CHECK(blocks(2048, 128) > blocks(16384, 128));
  CHECK(blocks(2048, 128) > blocks(2048, 2048));
  CHECK(deployed("llama-3.1-8b", "h200-sxm", {.activations = Bytes(0)}).kv_blocks >
        blocks(8192, 256));
}

TEST_CASE("options outside their range are refused by key") {
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.tp = 0}), "deployment.tp: "));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.tp = 3}), "do not divide by tp = 3"));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.memory_utilization = 1.5}),
              "memory_utilization"));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.memory_utilization = NAN}),
              "memory_utilization"));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.max_num_seqs = -1}), "max_num_seqs"));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.block_size = 0}), "block_size"));
  CHECK(holds(problem_of("llama-3.1-8b", "h200-sxm", {.kv_blocks = 0}), "kv_blocks"));
}

TEST_CASE("nothing is reserved for windows and states: each request takes blocks for its own") {
  const Model model = load_changed_model(
      parse_toml("from = 'qwen3-8b'\n[hybrid]\nfull_attention_interval = 4\nconv_kernel = 4\n"
                 "key_heads = 16\nkey_head_dim = 128\nvalue_heads = 32\nvalue_head_dim = 128\n",
                 "t"),
      "t", home);
  const Hardware gpu = load_hardware("h200-sxm", home);
  const Deployment few = deploy(model, gpu, {.max_num_seqs = 16});
  const Deployment many = deploy(model, gpu, {.max_num_seqs = 256});
  CHECK(few.kv_blocks == many.kv_blocks);
  CHECK(few.kv_bytes_per_block == 9.0 * 16 * 2 * 8 * 128 * 2 * unit::byte);
  CHECK(few.seat_bytes == model.state_bytes_per_request());
  CHECK(double(few.seat_blocks) == std::ceil(few.seat_bytes / few.kv_bytes_per_block));
  CHECK(few.seat_blocks > 1);
  CHECK(deployed("qwen3-8b", "h200-sxm", {}).seat_blocks == 0);
}

// 52 layers keep 1024 + 16 tokens, 10 keep all: 5.2 times 65 blocks.
TEST_CASE("Gemma-3-27B has 256 seats on an H100, and each holds 338 blocks for its windows") {
  const Deployment d = deployed("gemma-3-27b", "h100-sxm", {.max_num_seqs = 256});
  CHECK(d.seat_blocks == 338);
  CHECK(d.kv_blocks > d.seat_blocks + 1);
}

TEST_CASE("a window that no request outgrows costs what full attention costs, but for a block") {
  Model full = load_model("gemma-3-27b", home);
  for (const int layers : {1, 10, 31, 52}) {
    for (const int length : {16, 1000, 1024, 40000}) {
      CAPTURE(layers, length);
      Model mixed = full;
      mixed.max_model_len = full.max_model_len = length;
      mixed.attentions[0].layers = layers;
      mixed.attentions[1].layers = 62 - layers;
      mixed.attentions[0].window = length;
      full.attentions = {mixed.attentions[1]};
      full.attentions[0].layers = 62;
      const Hardware gpu = load_hardware("h200-sxm", home);
      const Deployment a = deploy(full, gpu, {}), b = deploy(mixed, gpu, {});
      CHECK(a.seat_blocks == 0);
      const double blocks = std::ceil(length / 16.0);
      const double of_full = blocks * (a.kv_bytes_per_block / unit::byte);
      const double of_mixed =
          (blocks + double(b.seat_blocks)) * (b.kv_bytes_per_block / unit::byte);
      CHECK(of_mixed <= of_full + b.kv_bytes_per_block / unit::byte);
      CHECK(of_mixed > of_full - a.kv_bytes_per_block / unit::byte);
      full = load_model("gemma-3-27b", home);
    }
  }
}

TEST_CASE(
    "a request must fit with its windows, and a model without growing layers says what to do") {
  Model model = load_model("gemma-3-27b", home);
  model.attentions[0].window = 131072;
  model.attentions[0].layers = 61;
  model.attentions[1].layers = 1;
  const Hardware gpu = load_hardware("h100-sxm", home);
  const auto problem = [&](const DeploymentOptions& options) -> std::string {
    try {
      deploy(model, gpu, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  INFO(problem({}));
  CHECK(holds(problem({}), "GiB for windows and states of one request"));
  CHECK(holds(problem({}), "it fits with tp = 2"));
  model.attentions.pop_back();
  model.attentions[0].layers = 62;
  CHECK(holds(problem({}), "no layer whose KV cache grows"));
  CHECK(holds(problem({}), "give kv_blocks"));
  CHECK(deploy(model, gpu, {.kv_blocks = 100}).seat_blocks == 0);
}
