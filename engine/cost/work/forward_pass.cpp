#include "cost/work/forward_pass.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/formulas.h"

namespace rooflua {
namespace {

/// Collects the operations of one forward pass; knows the per-rank shapes.
class ForwardPass {
 public:
  ForwardPass(const Model& model, const Deployment& deployment)
      : model_(model),
        tp_(deployment.tp),
        hidden_(model.hidden_size),
        heads_(model.heads / tp_),
        kv_heads_(std::max(1.0, model.kv_heads / tp_)),
        act_(bytes_per_element(model.dtype)),
        kv_(bytes_per_element(deployment.kv_dtype)),
        linear_(deployment.weight_dtype) {}

  std::vector<LayerOp> collect() && {
    elementwise("embed", 1, bytes::embedding(1, hidden_, act_));
    if (tp_ > 1) all_reduce("embed_all_reduce", 1, hidden_ * act_);
    norm("attention_norm", model_.layers);
    if (model_.mla)
      latent_attention();
    else
      attention();
    if (model_.hybrid) gated_delta_layers();
    if (tp_ > 1) all_reduce("attention_all_reduce", model_.layers, hidden_ * act_);
    norm("mlp_norm", model_.layers);
    mlps();
    if (tp_ > 1) all_reduce("mlp_all_reduce", model_.layers, hidden_ * act_);
    norm("final_norm", 1);
    head();
    return std::move(ops_);
  }

 private:
  LayerOp& add(std::string name, Op op, double count) {
    LayerOp& added = ops_.emplace_back();
    added.name = std::move(name);
    added.op = op;
    added.count = count;
    added.dtype = model_.dtype;
    return added;
  }

  LayerOp& gemm(std::string name, double k, double n, double count, Dtype dtype,
                Rows rows = Rows::tokens, double groups = 1) {
    const double weight_element = bytes_per_element(dtype);
    if (format_of(dtype).quantizes_input) {
      elementwise("quantize_" + name, count, bytes::quantize(1, k * groups, act_));
      ops_.back().rows = rows;
      ops_.back().k = k * groups;
    }
    LayerOp& added = add(std::move(name), Op::gemm, count);
    added.rows = rows;
    added.k = k;
    added.n = n;
    added.groups = groups;
    added.dtype = dtype;
    added.flop_per_row = flop::gemm(1, k, n) * groups;
    added.bytes_per_row = (std::min(weight_element, act_) * k + act_ * n) * groups;
    added.weight_bytes = bytes::weight(k, n, weight_element) * groups;
    return added;
  }

  void elementwise(std::string name, double count, double bytes_per_row) {
    add(std::move(name), Op::elementwise, count).bytes_per_row = bytes_per_row;
  }

  void norm(std::string name, double count) {
    LayerOp& added = add(std::move(name), Op::elementwise, count);
    added.bytes_per_row = bytes::add_norm(1, hidden_, act_);
    added.weight_bytes = hidden_ * act_;
  }

  void all_reduce(std::string name, double count, double bytes_per_row) {
    add(std::move(name), Op::all_reduce, count).bytes_per_row = bytes_per_row;
  }

  void attend(Op op, Rows rows, double count, double kv_heads, double head_dim, double kv_bytes) {
    LayerOp& added = add(std::string(name(op)), op, count);
    added.rows = rows;
    added.heads = heads_;
    added.kv_heads = kv_heads;
    added.head_dim = head_dim;
    added.bytes_per_row = kv_bytes;
  }

  void attention() {
    const double count = model_.full_attention_layers();
    const double d = model_.head_dim;
    const double qkv = (heads_ + 2 * kv_heads_) * d;
    const double gate = model_.attention_output_gate ? heads_ * d : 0;
    LayerOp& fused = gemm("qkv", hidden_, qkv + gate, count, linear_);
    if (model_.attention_bias) fused.weight_bytes += qkv * act_;
    elementwise("rope", count, bytes::rope(1, heads_, kv_heads_, d, act_));
    elementwise("kv_write", count,
                bytes::kv(1, kv_heads_, d, act_) + bytes::kv(1, kv_heads_, d, kv_));
    const double kv_bytes = bytes::kv(1, kv_heads_, d, kv_);
    attend(Op::attention_prefill, Rows::prefill_tokens, count, kv_heads_, d, kv_bytes);
    attend(Op::attention_decode, Rows::decode_tokens, count, kv_heads_, d, kv_bytes);
    if (gate > 0) elementwise("attention_gate", count, 3 * gate * act_);
    gemm("o", heads_ * d, hidden_, count, linear_);
  }

  void latent_attention() {
    const LatentAttention& mla = *model_.mla;
    const double count = model_.full_attention_layers();
    const double latent = mla.kv_lora_rank, rope = mla.qk_rope_head_dim;
    const double nope = mla.qk_nope_head_dim, value = mla.v_head_dim;
    const double q = heads_ * (nope + rope);
    if (mla.q_lora_rank > 0) {  // the first projections are replicated on every rank
      gemm("qkv_a", hidden_, mla.q_lora_rank + latent + rope, count, linear_);
      norms_inside(mla.q_lora_rank + latent, count);
      gemm("q_b", mla.q_lora_rank, q, count, linear_);
    } else {
      gemm("q", hidden_, q, count, linear_);
      gemm("kv_a", hidden_, latent + rope, count, linear_);
      norms_inside(latent, count);
    }
    elementwise("rope", count, bytes::rope(1, heads_, 1, rope, act_));
    elementwise("kv_write", count,
                bytes::latent_kv(1, latent, rope, act_) + bytes::latent_kv(1, latent, rope, kv_));
    gemm("kv_b", latent, heads_ * (nope + value), count, linear_, Rows::prefill_tokens);
    const double kv_bytes = bytes::latent_kv(1, latent, rope, kv_);
    attend(Op::mla_prefill, Rows::prefill_tokens, count, heads_, nope + rope, kv_bytes);
    // Absorbed decode: kv_b's two halves as one small GEMM per head, kept in the model's dtype.
    gemm("bmm_q", nope, latent, count, model_.dtype, Rows::decode_tokens, heads_);
    attend(Op::mla_decode, Rows::decode_tokens, count, 1, latent + rope, kv_bytes);
    gemm("bmm_o", latent, value, count, model_.dtype, Rows::decode_tokens, heads_);
    gemm("o", heads_ * value, hidden_, count, linear_);
  }

  void norms_inside(double width, double count) {
    LayerOp& added = add("latent_norm", Op::elementwise, count);
    added.bytes_per_row = 2 * width * act_;
    added.weight_bytes = width * act_;
  }

  void gated_delta_layers() {
    const HybridAttention& linear = *model_.hybrid;
    const double count = model_.linear_attention_layers();
    const double keys = linear.key_heads * double(linear.key_head_dim) / tp_;
    const double values = linear.value_heads * double(linear.value_head_dim) / tp_;
    const double value_heads = linear.value_heads / tp_;
    gemm("gdn_in", hidden_, 2 * keys + 2 * values + 2 * value_heads, count, linear_);
    LayerOp& core = add("linear_attention", Op::linear_attention, count);
    core.heads = value_heads;
    core.kv_heads = linear.key_heads / tp_;
    core.head_dim = linear.value_head_dim;
    core.flop_per_row =
        flop::gated_delta(1, value_heads, linear.key_head_dim, linear.value_head_dim) +
        flop::short_convolution(1, 2 * keys + values, linear.conv_kernel);
    core.bytes_per_row = (2 * keys + 3 * values) * act_;  // q, k, v and gate in, o out
    core.weight_bytes = (2 * keys + values) * linear.conv_kernel * act_;
    gemm("gdn_out", values, hidden_, count, linear_);
  }

  void mlp(const std::string& prefix, double width, double count) {
    if (model_.gated_mlp) {
      gemm(prefix + "gate_up", hidden_, 2 * width, count, linear_);
      elementwise(prefix + "activation", count, bytes::gated_activation(1, width, act_));
    } else {
      gemm(prefix + "up", hidden_, width, count, linear_);
      elementwise(prefix + "activation", count, 2 * width * act_);
    }
    gemm(prefix + "down", width, hidden_, count, linear_);
  }

  void mlps() {
    const double routed = model_.moe_layers();
    if (model_.layers > routed) mlp("", model_.intermediate_size / tp_, model_.layers - routed);
    if (routed == 0) return;
    const MixtureOfExperts& moe = *model_.moe;
    gemm("router", hidden_, moe.experts, routed, model_.dtype);
    LayerOp& experts = add("experts", Op::grouped_gemm, routed);
    experts.rows_per_token = moe.experts_per_token;
    experts.k = hidden_;
    experts.n = moe.intermediate_size / tp_;
    experts.groups = moe.experts;
    experts.dtype = linear_;
    experts.flop_per_row = flop::gated_mlp(1, hidden_, experts.n);
    experts.bytes_per_row = (2 * hidden_ + 3 * experts.n) * act_;
    experts.weight_bytes =
        moe.experts * bytes::weight(hidden_, 3 * experts.n, bytes_per_element(linear_));
    if (moe.shared_intermediate_size > 0) {
      mlp("shared_", moe.shared_intermediate_size / tp_, routed);
    }
  }

  void head() {
    const double padded = bytes::padded_vocabulary(model_.vocab_size, tp_);
    gemm("lm_head", hidden_, padded / tp_, 1, model_.dtype, Rows::requests);
    if (tp_ == 1) return;
    // An all-gather moves half of what an all-reduce of the same message moves.
    all_reduce("logits_gather", 1, padded * act_ / 2);
    ops_.back().rows = Rows::requests;
  }

  const Model& model_;
  double tp_, hidden_, heads_, kv_heads_, act_, kv_;
  Dtype linear_;
  std::vector<LayerOp> ops_;
};

}  // namespace

std::string_view name(Rows rows) {
  switch (rows) {
    case Rows::tokens:
      return "tokens";
    case Rows::requests:
      return "requests";
    case Rows::prefill_tokens:
      return "prefill_tokens";
    case Rows::decode_tokens:
      return "decode_tokens";
  }
  return "?";
}

std::vector<LayerOp> layers(const Model& model, const Deployment& deployment) {
  if (deployment.tp < 1 || model.heads % deployment.tp != 0) {
    throw Error("deployment.tp", std::to_string(deployment.tp) + " does not divide the " +
                                     std::to_string(model.heads) + " heads of " + model.name);
  }
  return ForwardPass(model, deployment).collect();
}

}  // namespace rooflua
