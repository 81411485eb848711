#include "cost/work/forward_pass.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/toml.h"
#include "cost/work/formulas.h"
#include "spec/layer_kinds.h"
#include "spec/weights.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Deployment on(const Model& model, int tp, Dtype weights = Dtype::bf16) {
  Deployment deployment;
  deployment.model = model;
  deployment.widths = Widths::of_tp(tp);
  deployment.weight_dtype = weights;
  deployment.formats = weight_formats(model, weights);
  deployment.kv_dtype = model.dtype;
  return deployment;
}

Model shipped(const std::string& name) {
  return load_model(name, test::source_dir());
}

const LayerOp& find(const std::vector<LayerOp>& ops, std::string_view name) {
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const LayerOp& op) { return op.name == name; });
  REQUIRE(found != ops.end());
  return *found;
}

bool has(const std::vector<LayerOp>& ops, const std::string& name) {
  return std::any_of(ops.begin(), ops.end(), [&](const LayerOp& op) { return op.name == name; });
}

/// Weights that one decode step of `tokens` requests reads on one rank. kv_b is not among them:
/// absorbed decode reads its two halves instead.
double weight_bytes_of_decode(const std::vector<LayerOp>& ops, double tokens) {
  double bytes = 0;
  for (const LayerOp& op : ops) {
    if (op.rows == Rows::prefill_tokens) continue;
    const double touched =
        op.op == Op::grouped_gemm
            ? bytes::touched_experts(op.groups, op.rows_per_token, tokens) / op.groups
            : 1;
    bytes += op.count * op.weight_bytes * touched;
  }
  return bytes;
}

double flop_per_token(const std::vector<LayerOp>& ops) {
  double flop = 0;
  for (const LayerOp& op : ops) {
    if (op.rows != Rows::prefill_tokens) flop += op.count * op.flop_per_row * op.rows_per_token;
  }
  return flop;
}

}  // namespace

TEST_CASE("a decoded token of Llama-3.1-8B reads the published 8.03 G weights but the embedding") {
  const auto ops = layers(shipped("llama-3.1-8b"), on(shipped("llama-3.1-8b"), 1));
  const double published = 8030261248.0, embedding = 128256.0 * 4096;
  CHECK(weight_bytes_of_decode(ops, 1) == 2 * (published - embedding));
  CHECK(flop_per_token(ops) == Approx(2 * (published - embedding)).epsilon(1e-4));
}

TEST_CASE("the GEMMs of Llama-3.1-8B are the fused ones that an engine runs") {
  const auto ops = layers(shipped("llama-3.1-8b"), on(shipped("llama-3.1-8b"), 2));
  const LayerOp& qkv = find(ops, "qkv");
  CHECK(qkv.k == 4096);
  CHECK(qkv.n == (16 + 2 * 4) * 128);
  CHECK(qkv.count == 32);
  CHECK(find(ops, "o").k == 2048);
  CHECK(find(ops, "gate_up").n == 14336);
  CHECK(find(ops, "down").k == 7168);
  CHECK(find(ops, "lm_head").n == 64128);
  CHECK(find(ops, "lm_head").rows == Rows::requests);
  CHECK(find(ops, "lm_head").count == 1);
  CHECK(find(ops, "attention_all_reduce").bytes_per_row == 8192);
  CHECK(find(ops, "mlp_all_reduce").count == 32);
  CHECK(find(ops, "attention_decode").bytes_per_row == 2 * 4 * 128 * 2);
  CHECK_FALSE(
      has(layers(shipped("llama-3.1-8b"), on(shipped("llama-3.1-8b"), 1)), "mlp_all_reduce"));
}

TEST_CASE("an operation names the measured kernel that stands for it") {
  const Model dense = shipped("llama-3.1-8b"), latent = shipped("deepseek-v3");
  const auto ops = layers(dense, on(dense, 2, Dtype::fp8)),
             absorbed = layers(latent, on(latent, 8));
  for (const char* each : {"attention_norm", "mlp_norm", "final_norm"})
    CHECK(find(ops, each).kernel == "norm");
  CHECK(find(ops, "quantize_qkv").kernel == "quantize");
  CHECK(find(ops, "rope").kernel == "rope");
  CHECK(find(ops, "activation").kernel == "silu_mul");
  for (const char* each : {"embed", "kv_write", "qkv", "attention_all_reduce"})
    CHECK(find(ops, each).kernel.empty());
  CHECK(find(absorbed, "latent_norm").kernel == "norm");
  CHECK(find(absorbed, "shared_activation").kernel == "silu_mul");
  for (const char* each : {"bmm_q", "bmm_o"}) CHECK(find(absorbed, each).kernel == "mla_bmm");
}

TEST_CASE("KV heads are replicated when there are more ranks than heads") {
  const Model model = shipped("qwen3-30b-a3b");  // 32 query heads, 4 KV heads
  const auto ops = layers(model, on(model, 8));
  CHECK(find(ops, "qkv").n == (4 + 2) * 128);
  CHECK(find(ops, "attention_decode").kv_heads == 1);
  CHECK_THROWS_AS(layers(model, on(model, 3)), Error);
}

TEST_CASE("a decoded token of a mixture of experts reads its active weights, a full batch all") {
  const Model model = shipped("mixtral-8x7b");
  const auto ops = layers(model, on(model, 1));
  const double embedding = double(model.vocab_size) * model.hidden_size;
  CHECK(weight_bytes_of_decode(ops, 1) ==
        Approx(2 * (model.active_parameters() - embedding)).epsilon(1e-3));
  CHECK(weight_bytes_of_decode(ops, 4096) ==
        Approx(2 * (model.parameters() - embedding)).epsilon(1e-3));
  CHECK(flop_per_token(ops) == Approx(2 * (model.active_parameters() - embedding)).epsilon(1e-3));
  const LayerOp& experts = find(ops, "experts");
  CHECK(experts.rows_per_token == 2);
  CHECK(experts.groups == 8);
  CHECK(find(ops, "router").n == 8);
}

TEST_CASE("DeepSeek-V3 runs latent projections replicated, absorbed decode and few dense layers") {
  const Model model = shipped("deepseek-v3");
  const auto ops = layers(model, on(model, 8, Dtype::fp8));
  CHECK(find(ops, "qkv_a").n == 1536 + 512 + 64);
  CHECK(find(ops, "qkv_a").dtype == Dtype::fp8);
  CHECK(find(ops, "q_b").n == 16 * 192);
  CHECK(find(ops, "kv_b").n == 16 * 256);
  CHECK(find(ops, "kv_b").rows == Rows::prefill_tokens);
  CHECK(find(ops, "bmm_q").groups == 16);
  CHECK(find(ops, "bmm_q").dtype == Dtype::bf16);
  CHECK(find(ops, "mla_decode").bytes_per_row == 576 * 2);
  CHECK(find(ops, "o").k == 16 * 128);
  CHECK(find(ops, "gate_up").count == 3);
  CHECK(find(ops, "experts").count == 58);
  CHECK(find(ops, "shared_gate_up").n == 2 * 2048 / 8);
  CHECK(find(ops, "lm_head").dtype == Dtype::bf16);
  CHECK(has(ops, "quantize_o"));
  CHECK_FALSE(has(ops, "attention_decode"));
}

TEST_CASE("a gated delta hybrid runs full attention in every fourth layer only") {
  const Model model = load_changed_model(
      parse_toml("from = 'qwen3-8b'\nlayers = 48\n[hybrid]\nfull_attention_interval = 4\n"
                 "conv_kernel = 4\nkey_heads = 16\nkey_head_dim = 128\nvalue_heads = 32\n"
                 "value_head_dim = 128\n",
                 "t"),
      "t", test::source_dir());
  const auto ops = layers(model, on(model, 2));
  CHECK(find(ops, "qkv").count == 12);
  CHECK(find(ops, "gdn_in").count == 36);
  CHECK(find(ops, "gdn_in").n == (2 * 2048 + 2 * 4096) / 2);
  CHECK(find(ops, "gdn_gates").n == 2 * 32 / 2);
  CHECK(find(ops, "gdn_gates").dtype == Dtype::bf16);
  CHECK(find(ops, "gdn_split").bytes_per_row == 2 * 2 * (2 * 2048 + 2 * 4096 + 2 * 32) / 2);
  CHECK(find(ops, "gdn_norm").bytes_per_row == 3 * 4096 / 2 * 2);
  CHECK(find(ops, "gdn_out").k == 2048);
  CHECK(find(ops, "gate_up").count == 48);
}

TEST_CASE("every shipped model's operations hold exactly the weights that a rank stores") {
  for (const std::string& name : model_names(test::source_dir())) {
    Model model = shipped(name);
    for (AttentionLayers& each : model.attentions) each.visits = 0;  // weights are there once
    for (MlpLayers& each : model.mlps) each.visits = 0;
    for (const int tp : {1, 2, 4}) {
      if (model.heads % tp != 0 || (model.kv_heads % tp != 0 && tp % model.kv_heads != 0)) continue;
      INFO(name << " tp " << tp);
      double bytes = 0;
      for (const LayerOp& op : layers(model, on(model, tp))) {
        if (op.rows != Rows::decode_tokens) bytes += op.count * op.weight_bytes;  // kv_b twice
      }
      WeightParts parts = weights_per_rank(model, tp);
      const double head = bytes::lm_head(model.hidden_size, model.vocab_size, tp, 2);
      const double stored =
          parts.linear() * 2 + (parts.index + parts.router + parts.small) * 2 + head;
      CHECK(bytes == Approx(stored).epsilon(2e-4));
    }
  }
}

TEST_CASE("FP8 weights halve what linear layers read and leave LM head and router alone") {
  const Model model = shipped("mixtral-8x7b");
  const auto wide = layers(model, on(model, 1));
  const auto narrow = layers(model, on(model, 1, Dtype::fp8));
  CHECK(find(narrow, "qkv").weight_bytes == find(wide, "qkv").weight_bytes / 2);
  CHECK(find(narrow, "experts").weight_bytes == find(wide, "experts").weight_bytes / 2);
  CHECK(find(narrow, "lm_head").weight_bytes == find(wide, "lm_head").weight_bytes);
  CHECK(find(narrow, "router").weight_bytes == find(wide, "router").weight_bytes);
  CHECK_FALSE(has(wide, "quantize_qkv"));
  CHECK(find(narrow, "quantize_qkv").bytes_per_row == 3 * 4096);
}
