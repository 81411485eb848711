#include "cost/work/forward_pass.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cost/work/formulas.h"
#include "cost/work/pass_builder.h"
#include "spec/layer_kinds.h"

namespace rooflua {
namespace {

using Kind = AttentionKind;

/// Collects the operations of one forward pass; knows the per-rank shapes.
class ForwardPass : PassBuilder {
 public:
  ForwardPass(const Model& model, const Deployment& deployment) : PassBuilder(model, deployment) {}

  std::vector<LayerOp> collect() && {
    const std::vector<AttentionLayers>& attentions = model_.attentions;
    const std::vector<MlpLayers>& mlps = model_.mlps;
    elementwise("embed", 1, bytes::embedding(1, hidden_, act_));
    if (tp_ > 1) all_reduce("embed_all_reduce", 1, hidden_ * act_);
    ngram_rows();
    const double attending = layers_of(attentions, false), thinking = layers_of(mlps, false);
    const double last_attending = layers_of(attentions, true),
                 last_thinking = layers_of(mlps, true);
    before_blocks("attention_norm", attending, last_attending);
    for (std::size_t i = 0; i < attentions.size(); ++i) {
      begin_kind(i, i == 0 || is_recurrent(attentions[i]) != is_recurrent(attentions[0])
                        ? ""
                        : attentions[i].name);
      if (attentions[i].prefill_tail > 0) rows_ = Rows::tail_tokens;
      take_formats(attentions[i].formats);
      attention(attentions[i]);
      rows_ = Rows::tokens;
    }
    end_kind();
    if (tp_ > 1) {
      if (attending > 0) all_reduce("attention_all_reduce", attending, hidden_ * act_);
      of_tail(last_attending,
              [&] { all_reduce("attention_all_reduce", last_attending, hidden_ * act_); });
    }
    before_blocks("mlp_norm", thinking, last_thinking);
    for (std::size_t i = 0; i < mlps.size(); ++i) {
      begin_kind(i, i == 0 || mlps[i].kind != mlps[0].kind ? "" : mlps[i].name);
      if (mlps[i].prefill_tail > 0) rows_ = Rows::tail_tokens;
      take_formats(mlps[i].formats);
      mlp_layers(mlps[i]);
      rows_ = Rows::tokens;
    }
    end_kind();
    if (widths_.ranks() > 1) {
      if (thinking > 0) mlp_reduction(mlps, thinking);
      of_tail(last_thinking, [&] { all_reduce("mlp_all_reduce", last_thinking, hidden_ * act_); });
    }
    norm("final_norm", 1);
    head();
    return std::move(ops_);
  }

 private:
  /// Visits of layers that see the last tokens of prompts alone, or of all others.
  template <class Kinds>
  static double layers_of(const Kinds& kinds, bool tail) {
    double sum = 0;
    for (const auto& each : kinds)
      if ((each.prefill_tail > 0) == tail) sum += each.layer_visits();
    return sum;
  }
  static bool is_recurrent(const AttentionLayers& each) { return each.is_recurrent(); }

  /// Operations that see the last tokens of prompts alone.
  template <class Add>
  void of_tail(double layers, const Add& add_them) {
    if (layers == 0) return;
    suffix_ = "@tail";
    rows_ = Rows::tail_tokens;
    add_them();
    rows_ = Rows::tokens;
    suffix_.clear();
  }

  /// What stands in front of blocks of a layer, and what mixes residual streams around them: one
  /// input is made of the streams, and the block's output is added to each.
  void before_blocks(const std::string& norm_name, double layers, double of_tail_layers) {
    const auto all = [&](double count) {
      norm(norm_name, count);
      if (model_.streams <= 1) return;
      const double streams = model_.streams;
      elementwise(norm_name + "_streams_in", count, (streams + 1) * hidden_ * act_);
      elementwise(norm_name + "_streams_out", count, (2 * streams + 1) * hidden_ * act_);
    };
    if (layers > 0 || of_tail_layers == 0) all(layers);
    of_tail(of_tail_layers, [&] { all(of_tail_layers); });
  }

  /// Rows of tables of n-grams: a rank reads its share of them, and ranks add them up.
  void ngram_rows() {
    for (const NgramTable& each : model_.ngram_tables) {
      if (each.rows == 0 || each.rows_per_token == 0) continue;
      elementwise(each.on_host ? "ngram_host_rows" : "ngram_rows", 1, each.bytes_per_token() / tp_,
                  each.on_host ? "host_copy" : "");
      if (tp_ > 1)
        all_reduce("ngram_all_reduce", 1, double(each.columns) * each.rows_per_token * act_);
    }
  }

  void attention(const AttentionLayers& each) {
    switch (each.kind) {
      case Kind::declared:
        return declared_layers(*each.by_file, each.layer_visits());
      case Kind::latent:
      case Kind::latent_sparse:
        return latent_attention(each);
      case Kind::compressed:
        return compressed_attention(each);
      case Kind::delta:
        return delta_layers(each);
      case Kind::mamba2:
        return mamba_layers(each);
      default:
        return plain_attention(each);
    }
  }

  /// Full, window, block_sparse.
  void plain_attention(const AttentionLayers& each) {
    const double count = each.layer_visits(), d = each.head_dim, v = each.v_head_dim;
    const double heads = each.heads / tp_, kv_heads = std::max(1.0, each.kv_heads / tp_);
    const double values = each.shared_key_value ? 0 : v;
    const double qkv = heads * d + kv_heads * (d + values);
    const double gate = each.output_gate ? heads * d : 0;
    const Dtype linear = format(WeightClass::attention);
    LayerOp& fused = gemm("qkv", hidden_, qkv + gate, count, linear);
    if (each.bias) fused.weight_bytes += qkv * act_;
    if (model_.qk_norm_across_heads) norm_across_heads(count, (heads + kv_heads) * d);
    elementwise("rope", count, bytes::rope(1, heads, kv_heads, d, act_), "rope");
    const double width = (d + v) / 2;
    const double kv_bytes = bytes::kv(1, kv_heads, width, kv_bytes_of(width));
    elementwise("kv_write", count, bytes::kv(1, kv_heads, width, act_) + kv_bytes);
    index(each, hidden_);
    attend(Op::attention_prefill, Rows::prefill_tokens, count, heads, kv_heads, d, kv_bytes);
    attend(Op::attention_decode, Rows::decode_tokens, count, heads, kv_heads, d, kv_bytes);
    if (gate > 0) elementwise("attention_gate", count, 3 * gate * act_, "silu_mul");
    gemm("o", heads * v, hidden_, count, format(WeightClass::attention_output));
  }

  /// Sums of squares of q and k over all ranks, then the norms.
  void norm_across_heads(double count, double width) {
    if (tp_ > 1) {
      constexpr double two_fp32 = 8;
      elementwise("qk_squares", count, width * act_ + two_fp32);
      all_reduce("qk_all_reduce", count, two_fp32);
    }
    elementwise("qk_norm", count, 2 * width * act_, "norm");
  }

  void latent_attention(const AttentionLayers& each) {
    const LatentAttention& mla = *each.latent;
    const double count = each.layer_visits(), heads = each.heads / tp_;
    const double latent = mla.kv_lora_rank, rope = mla.qk_rope_head_dim;
    const double nope = mla.qk_nope_head_dim, value = mla.v_head_dim;
    const double q = heads * (nope + rope);
    const Dtype linear = format(WeightClass::attention);
    if (mla.q_lora_rank > 0) {  // the first projections are replicated on every rank
      gemm("qkv_a", hidden_, mla.q_lora_rank + latent + rope, count, linear);
      norms_inside(mla.q_lora_rank + latent, count);
      gemm("q_b", mla.q_lora_rank, q, count, linear);
    } else {
      gemm("q", hidden_, q, count, linear);
      gemm("kv_a", hidden_, latent + rope, count, linear);
      norms_inside(latent, count);
    }
    elementwise("rope", count, bytes::rope(1, heads, 1, rope, act_), "rope");
    const double kv_bytes = bytes::latent_kv(1, latent, rope, kv_bytes_of(latent + rope));
    elementwise("kv_write", count, bytes::latent_kv(1, latent, rope, act_) + kv_bytes);
    index(each, mla.q_lora_rank > 0 ? mla.q_lora_rank : hidden_);
    if (each.kind == Kind::latent) {
      gemm("kv_b", latent, heads * (nope + value), count, linear, Rows::prefill_tokens);
      attend(Op::mla_prefill, Rows::prefill_tokens, count, heads, heads, nope + rope, kv_bytes);
    }
    // Absorbed: kv_b's two halves as one small GEMM per head, kept in the model's dtype. Over
    // selected tokens, prompts are absorbed too.
    const Rows rows = each.kind == Kind::latent ? Rows::decode_tokens : Rows::tokens;
    gemm("bmm_q", nope, latent, count, model_.dtype, rows, heads).kernel = "mla_bmm";
    if (each.kind != Kind::latent)
      attend(Op::mla_prefill, Rows::prefill_tokens, count, heads, 1, latent + rope, kv_bytes);
    attend(Op::mla_decode, Rows::decode_tokens, count, heads, 1, latent + rope, kv_bytes);
    gemm("bmm_o", latent, value, count, model_.dtype, rows, heads).kernel = "mla_bmm";
    if (each.output_gate) {
      gemm("gate", hidden_, heads * value, count, linear);
      elementwise("attention_gate", count, 3 * heads * value * act_, "silu_mul");
    }
    gemm("o", heads * value, hidden_, count, format(WeightClass::attention_output));
  }

  /// DeepSeek-V4: one KV vector for all heads, grouped output projections, and the compressor.
  void compressed_attention(const AttentionLayers& each) {
    const Compression& c = *each.compression;
    const double count = each.layer_visits(), heads = each.heads / tp_, d = each.head_dim;
    const double groups = std::max(1.0, c.o_groups / tp_);
    const double kv_bytes = d * kv_bytes_of(d);
    const Dtype linear = format(WeightClass::attention);
    gemm("qkv_a", hidden_, c.q_lora_rank + d, count, linear);
    norms_inside(c.q_lora_rank + d, count);
    gemm("q_b", c.q_lora_rank, heads * d, count, linear);
    elementwise("rope", count, bytes::rope(1, heads, 1, c.qk_rope_head_dim, act_), "rope");
    elementwise("kv_write", count, d * act_ + kv_bytes);
    if (c.ratio > 0) gemm("compressor", hidden_, d * 2 * (each.index ? 2 : 1), count, model_.dtype);
    index(each, c.q_lora_rank);
    attend(Op::attention_prefill, Rows::prefill_tokens, count, heads, 1, d, kv_bytes);
    attend(Op::attention_decode, Rows::decode_tokens, count, heads, 1, d, kv_bytes);
    const Dtype output = format(WeightClass::attention_output);
    gemm("o_a", heads * d / groups, c.o_lora_rank, count, output, Rows::tokens, groups);
    gemm("o", groups * c.o_lora_rank, hidden_, count, output);
  }

  /// Projections of an index; its scores depend on contexts. `from`: width of its query's input.
  void index(const AttentionLayers& each, double from) {
    if (!each.index || !each.index->own) return;
    const double count = each.layer_visits(), wide = each.index->head_dim;
    const Dtype linear = format(WeightClass::index);
    const double keys = each.compression ? 4 * wide : wide;
    const double weights = each.kind == Kind::block_sparse ? 0 : each.index->heads;
    gemm("index_q", from, each.index->heads * wide, count, linear);
    gemm("index_k", hidden_, keys + weights, count, linear);
  }

  void norms_inside(double width, double count) {
    elementwise("latent_norm", count, 2 * width * act_, "norm");
    ops_.back().weight_bytes = width * act_;
  }

  void delta_layers(const AttentionLayers& each) {
    const DeltaRule& delta = *each.delta;
    const double count = each.layer_visits();
    const double keys = delta.key_heads * double(delta.key_head_dim) / tp_;
    const double values = delta.value_heads * double(delta.value_head_dim) / tp_;
    const double value_heads = delta.value_heads / tp_;
    const Dtype linear = format(WeightClass::linear_attention);
    const double in = 2 * keys + 2 * values;
    gemm("gdn_in", hidden_, delta.per_channel() ? in + value_heads : in, count, linear);
    if (!delta.per_channel()) {  // a gate and a decay per head, which no release quantises
      gemm("gdn_gates", hidden_, 2 * value_heads, count, model_.dtype);
      elementwise("gdn_split", count, 2 * (in + 2 * value_heads) * act_);
    }
    LayerOp& core = add("linear_attention", Op::linear_attention, count);
    core.heads = value_heads;
    core.kv_heads = delta.key_heads / tp_;
    core.head_dim = delta.value_head_dim;
    core.flop_per_row =
        flop::gated_delta(1, value_heads, delta.key_head_dim, delta.value_head_dim) +
        flop::short_convolution(1, 2 * keys + values, delta.conv_kernel);
    core.bytes_per_row = (2 * keys + 2 * values) * act_;  // q, k, v in, o out
    core.weight_bytes = (2 * keys + values) * delta.conv_kernel * act_;
    elementwise("gdn_norm", count, 3 * values * act_, "norm");  // o and its gate in, o out
    gemm("gdn_out", values, hidden_, count, linear);
  }

  void mamba_layers(const AttentionLayers& each) {
    const Mamba2& mamba = *each.mamba;
    const double count = each.layer_visits(), heads = mamba.heads / tp_,
                 inner = heads * mamba.head_dim;
    const bool divides = mamba.groups % static_cast<int>(tp_) == 0;
    const double groups = divides ? mamba.groups / tp_ : mamba.groups;
    const double channels = inner + 2 * groups * mamba.state_size;
    const Dtype linear = format(WeightClass::linear_attention);
    gemm("mamba_in", hidden_, 2 * inner + 2 * groups * mamba.state_size + heads, count, linear);
    LayerOp& core = add("linear_attention", Op::linear_attention, count);
    core.heads = heads;
    core.kv_heads = groups;
    core.head_dim = mamba.head_dim;
    core.flop_per_row = flop::state_space(1, heads, mamba.head_dim, mamba.state_size) +
                        flop::short_convolution(1, channels, mamba.conv_kernel);
    core.bytes_per_row = (channels + 2 * inner) * act_;  // x, B, C and gate in, y out
    core.weight_bytes = channels * (mamba.conv_kernel + 1) * act_;
    gemm("mamba_out", inner, hidden_, count, linear);
  }

  void mlp(const std::string& prefix, double width, const MlpLayers& each, Dtype linear) {
    const double count = each.layer_visits();
    if (each.gated) {
      gemm(prefix + "gate_up", hidden_, 2 * width, count, linear);
      elementwise(prefix + "activation", count, bytes::gated_activation(1, width, act_),
                  "silu_mul");
    } else {
      gemm(prefix + "up", hidden_, width, count, linear);
      elementwise(prefix + "activation", count, 2 * width * act_, "silu_mul");
    }
    gemm(prefix + "down", width, hidden_, count, linear);
  }

  void mlp_layers(const MlpLayers& each) {
    if (each.by_file) return declared_layers(*each.by_file, each.layer_visits());
    if (each.intermediate_size > 0)
      mlp("", each.intermediate_size / tp_, each, format(WeightClass::dense_mlp));
    if (each.moe) routed_experts(each);
  }

  void routed_experts(const MlpLayers& each) {
    const MixtureOfExperts& moe = *each.moe;
    const double count = each.layer_visits();
    const double inner = moe.latent_size > 0 ? moe.latent_size : hidden_;
    const double matrices = each.gated ? 3 : 2, local = double(moe.experts) / widths_.ep;
    gemm("router", hidden_, moe.experts, count, format(WeightClass::router));
    const Dtype shared = format(WeightClass::shared), linear = format(WeightClass::experts);
    if (moe.latent_size > 0) gemm("latent_down", hidden_, inner, count, shared);
    LayerOp& experts = add("experts", Op::grouped_gemm, count);
    if (widths_.groups() > 1 || widths_.afd()) experts.rows = Rows::group_tokens;
    experts.rows_per_token = moe.experts_per_token;
    experts.k = inner;
    experts.n = double(moe.intermediate_size) / widths_.moe_tp;
    experts.groups = local;
    experts.dtype = linear;
    experts.flop_per_row = 2 * matrices * inner * experts.n;
    experts.bytes_per_row = (2 * inner + matrices * experts.n) * act_;
    experts.weight_bytes =
        local * bytes::weight(inner, matrices * experts.n, bytes_per_element(linear));
    if (moe.latent_size > 0) gemm("latent_up", inner, hidden_, count, shared);
    if (moe.shared_intermediate_size > 0)
      mlp("shared_", moe.shared_intermediate_size / tp_, each, shared);
  }

  /// One group of ranks has every token and adds the results up, whether experts are whole, divided
  /// or on GPUs of their own. Of several, each gathers the tokens of the others, if not apart.
  void mlp_reduction(const std::vector<MlpLayers>& mlps, double layers) {
    if (widths_.groups() == 1) return all_reduce("mlp_all_reduce", layers, hidden_ * act_);
    double routed = 0;
    for (const MlpLayers& each : mlps)
      routed += each.moe && !widths_.afd() && each.prefill_tail == 0 ? each.layer_visits() : 0;
    if (tp_ > 1 && layers > routed) all_reduce("mlp_all_reduce", layers - routed, hidden_ * act_);
    if (routed == 0) return;
    all_reduce("expert_exchange", routed, hidden_ * act_);
    ops_.back().rows = Rows::group_tokens;
  }

  void head() {
    const double padded = bytes::padded_vocabulary(model_.vocab_size, tp_);
    gemm("lm_head", hidden_, padded / tp_, 1, format(WeightClass::lm_head), Rows::requests);
    if (tp_ == 1) return;
    // An all-gather moves half of what an all-reduce of the same message moves.
    all_reduce("logits_gather", 1, padded * act_ / 2);
    ops_.back().rows = Rows::requests;
  }
};

}  // namespace

std::string_view name(Rows rows) {
  constexpr std::string_view names[] = {"tokens",         "group_tokens",  "requests",
                                        "prefill_tokens", "decode_tokens", "tail_tokens"};
  return names[static_cast<std::size_t>(rows)];
}

std::vector<LayerOp> layers(const Model& model, const Deployment& deployment) {
  for (const AttentionLayers& each : model.attentions) {
    if (deployment.widths.tp >= 1 && each.heads % deployment.widths.tp == 0) continue;
    throw Error("deployment.tp", std::to_string(deployment.widths.tp) + " does not divide the " +
                                     std::to_string(each.heads) + " heads of " + model.name);
  }
  const bool has_tail =
      std::any_of(model.attentions.begin(), model.attentions.end(),
                  [](const AttentionLayers& each) { return each.prefill_tail > 0; }) ||
      std::any_of(model.mlps.begin(), model.mlps.end(),
                  [](const MlpLayers& each) { return each.prefill_tail > 0; });
  if (has_tail && (deployment.widths.groups() > 1 || deployment.widths.afd()))
    throw Error("deployment.dp",
                model.name +
                    " has layers that see the tail of a prompt alone (prefill_tail): "
                    "ranks that share experts, or GPUs of their own, are not modelled");
  return ForwardPass(model, deployment).collect();
}

}  // namespace rooflua
