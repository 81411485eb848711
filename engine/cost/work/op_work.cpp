#include "cost/work/op_work.h"

#include <algorithm>

#include "cost/ops/declaration.h"
#include "cost/work/formulas.h"

namespace rooflua {
namespace {

double per_rank(double heads, double tp) {
  return std::max(1.0, heads / std::max(1.0, tp));
}
double requests(const Query& q) {
  return q.batch > 0 ? q.batch : 1;
}
double value_width(const Query& q) {
  return q.v_head_dim > 0 ? q.v_head_dim : q.qk_nope_head_dim;
}
double pairs(const Query& q, double causal) {
  return q.new_tokens * q.context_tokens + causal * q.new_tokens * q.new_tokens;
}

}  // namespace

double flop_of(const Query& query) {
  const auto flop = declaration_of(query.op).flop;
  return flop == nullptr ? 0 : flop(query, 0.5);
}

double bytes_of(const Query& query) {
  const auto bytes = declaration_of(query.op).bytes;
  return bytes == nullptr ? 0 : bytes(query);
}

bool over_links(const Query& query) {
  const bool host = query.kernel == Kernel::to_host || query.kernel == Kernel::from_host;
  return declaration_of(query.op).over_links || (query.op == Op::memory && host);
}

Dtype compute_dtype(const Query& query) {
  return declaration_of(query.op).peak == PeakOf::dtype ? query.dtype : Dtype::bf16;
}

LeastTime least_time(const Query& query, double flop, double bytes, const Hardware& gpu) {
  const double link = gpu.link_bandwidth.in_base_units();
  const bool on_link = over_links(query) && link > 0;
  LeastTime least{0, bytes / (on_link ? link : gpu.memory_bandwidth.in_base_units())};
  if (!(flop > 0)) return least;
  const auto peak = gpu.peak.find(gpu.computes_in(compute_dtype(query)));
  if (peak != gpu.peak.end()) least.arithmetic_s = flop / peak->second.in_base_units();
  return least;
}

double elementwise_bytes(double kernel, double tokens, double width) {
  constexpr double element = 2;
  if (kernel == Kernel::norm) return bytes::add_norm(tokens, width, element);
  if (kernel == Kernel::silu_mul) return bytes::gated_activation(tokens, width, element);
  if (kernel == Kernel::quantize) return bytes::quantize(tokens, width, element);
  return bytes::embedding(tokens, width, element);
}

double expert_groups(const Query& q) {
  return std::max(1.0, q.ranks / std::max(1.0, q.tp));
}

double touched_experts(const Query& q) {
  const double groups = expert_groups(q);
  return bytes::touched_experts(q.experts, q.experts_per_token, q.tokens * groups) / groups;
}

namespace work {

double gemm_flop(const Query& q, double) {
  return 2 * q.m * q.k * q.n;
}
double gemm_bytes(const Query& q) {
  return bytes_per_element(q.dtype) * (q.m * q.k + q.k * q.n) + 2 * q.m * q.n;
}

double prefill_flop(const Query& q, double causal) {
  return 4 * per_rank(q.heads, q.tp) * q.head_dim * requests(q) * pairs(q, causal);
}
double prefill_bytes(const Query& q) {
  const double kv = cached_bytes(q.kv_dtype, q.head_dim);
  const double g = per_rank(q.kv_heads, q.tp), h = per_rank(q.heads, q.tp);
  return requests(q) * (kv * 2 * g * q.head_dim * (q.new_tokens + q.context_tokens) +
                        2 * 2 * h * q.head_dim * q.new_tokens);
}

double decode_flop(const Query& q, double) {
  return 4 * per_rank(q.heads, q.tp) * q.head_dim * requests(q) * q.context_tokens;
}
double decode_bytes(const Query& q) {
  const double kv = cached_bytes(q.kv_dtype, q.head_dim), g = per_rank(q.kv_heads, q.tp);
  return requests(q) * kv * 2 * g * q.head_dim * q.context_tokens;
}

double latent_prefill_flop(const Query& q, double causal) {
  return 2 * per_rank(q.heads, q.tp) * (q.qk_nope_head_dim + q.qk_rope_head_dim + value_width(q)) *
         requests(q) * pairs(q, causal);
}
double latent_prefill_bytes(const Query& q) {
  const double key = q.qk_nope_head_dim + q.qk_rope_head_dim, value = value_width(q);
  const double read = bytes_per_element(q.kv_dtype) * (q.context_tokens + q.new_tokens);
  return requests(q) * per_rank(q.heads, q.tp) * (key + value) * (read + 2 * q.new_tokens);
}

double latent_decode_flop(const Query& q, double) {
  return 2 * per_rank(q.heads, q.tp) * (2 * q.kv_lora_rank + q.qk_rope_head_dim) * requests(q) *
         q.context_tokens;
}
double latent_decode_bytes(const Query& q) {
  const double width = q.kv_lora_rank + q.qk_rope_head_dim;
  return requests(q) * cached_bytes(q.kv_dtype, width) * width * q.context_tokens;
}

double expert_matrices(const Query& q) {
  return q.gated != 0 ? 3 : 2;
}
double experts_flop(const Query& q, double) {
  return 2 * expert_matrices(q) * q.tokens * q.experts_per_token * q.hidden_size *
         q.intermediate_size / std::max(1.0, q.tp);
}
double experts_bytes(const Query& q) {
  return bytes_per_element(q.dtype) * expert_matrices(q) * q.hidden_size * q.intermediate_size /
         std::max(1.0, q.tp) * touched_experts(q);
}

/// A whole MoE layer: tokens are those of all ranks, tp divides the width and ep the experts.
Query experts_of_rank(const Query& layer) {
  Query rank = layer;
  const double ep = std::max(1.0, layer.expert_ranks);
  rank.ranks = std::max(1.0, layer.tp) * ep;
  rank.tokens = layer.tokens / ep;  // each of the ranks brings its part
  return rank;
}
double moe_layer_flop(const Query& q, double causal) {
  return experts_flop(experts_of_rank(q), causal);
}
double moe_layer_bytes(const Query& q) {
  return experts_bytes(experts_of_rank(q));
}

double window_decode_flop(const Query& q, double causal) {
  Query seen = q;
  seen.context_tokens = std::min(q.context_tokens, q.window);
  return decode_flop(seen, causal);
}
double window_decode_bytes(const Query& q) {
  Query seen = q;
  seen.context_tokens = std::min(q.context_tokens, q.window);
  return decode_bytes(seen);
}
/// Of new token i after p cached ones a query sees min(p + i, window) keys. `causal` is 1/2 or 1:
/// the part of the square of new tokens that counts without a window.
double window_prefill_flop(const Query& q, double causal) {
  const double p = q.context_tokens, t = q.new_tokens;
  const double growing = std::clamp(q.window - p, 0.0, t);  // tokens that still see everything
  const double seen = growing * p + causal * growing * growing + (t - growing) * q.window;
  return 4 * per_rank(q.heads, q.tp) * q.head_dim * requests(q) * seen;
}
double window_prefill_bytes(const Query& q) {
  Query seen = q;
  seen.context_tokens = std::min(q.context_tokens, q.window);
  return prefill_bytes(seen);
}

double moved_bytes(const Query& q) {
  return q.bytes;
}
double recurrent_bytes(const Query& q) {
  constexpr double element = 2, of_state = 4;
  const double keys = q.key_heads * q.key_head_dim, values = q.value_heads * q.value_head_dim;
  const double states = q.batch * q.value_heads * q.key_head_dim * q.value_head_dim;
  const double tokens = q.batch * std::max(1.0, q.new_tokens);
  return 2 * states * of_state + tokens * (2 * keys + 2 * values) * element +
         (2 * keys + values) * q.conv * element;
}
double sampling_bytes(const Query& q) {
  return 2 * q.tokens * q.width;
}
double collective_bytes(const Query& q) {
  constexpr double all_reduce = 1;  // of the words of the field
  return q.own[0] == all_reduce ? q.bytes : q.bytes * (q.ranks - 1) / q.ranks;
}
double elementwise_bytes(const Query& q) {
  return rooflua::elementwise_bytes(q.kernel, q.tokens, q.width);
}

}  // namespace work
}  // namespace rooflua
