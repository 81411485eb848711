#include "cost/ops/work.h"

#include <algorithm>
#include <cmath>

#include "cost/ops/declaration.h"

namespace rooflua {
namespace {

double per_rank(double heads, double tp) {
  return std::max(1.0, heads / std::max(1.0, tp));
}
double requests(const Query& q) {
  return q.batch > 0 ? q.batch : 1;
}
double pairs(const Query& q, double causal) {
  return q.new_tokens * q.context_tokens + causal * q.new_tokens * q.new_tokens;
}
double local_experts(const Query& q) {
  return std::max(1.0, q.experts / std::max(1.0, q.ranks / std::max(1.0, q.tp)));
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

double passes(double kernel) {
  if (kernel == Kernel::norm) return 4;
  if (kernel == Kernel::silu_mul) return 3;
  return kernel == Kernel::quantize ? 1.5 : 2;
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
  const double kv = bytes_per_element(q.kv_dtype);
  const double g = per_rank(q.kv_heads, q.tp), h = per_rank(q.heads, q.tp);
  return requests(q) * (kv * 2 * g * q.head_dim * (q.new_tokens + q.context_tokens) +
                        2 * 2 * h * q.head_dim * q.new_tokens);
}

double decode_flop(const Query& q, double) {
  return 4 * per_rank(q.heads, q.tp) * q.head_dim * requests(q) * q.context_tokens;
}
double decode_bytes(const Query& q) {
  const double kv = bytes_per_element(q.kv_dtype), g = per_rank(q.kv_heads, q.tp);
  return requests(q) * kv * 2 * g * q.head_dim * q.context_tokens;
}

double latent_prefill_flop(const Query& q, double causal) {
  const double value = q.v_head_dim > 0 ? q.v_head_dim : q.qk_nope_head_dim;
  return 2 * per_rank(q.heads, q.tp) * (q.qk_nope_head_dim + q.qk_rope_head_dim + value) *
         requests(q) * pairs(q, causal);
}
double latent_prefill_bytes(const Query& q) {
  return requests(q) * 2 * per_rank(q.heads, q.tp) * (q.qk_nope_head_dim + q.qk_rope_head_dim) * 3 *
         q.new_tokens;
}

double latent_decode_flop(const Query& q, double) {
  return 2 * per_rank(q.heads, q.tp) * (2 * q.kv_lora_rank + q.qk_rope_head_dim) * requests(q) *
         q.context_tokens;
}
double latent_decode_bytes(const Query& q) {
  return requests(q) * bytes_per_element(q.kv_dtype) * (q.kv_lora_rank + q.qk_rope_head_dim) *
         q.context_tokens;
}

double experts_flop(const Query& q, double) {
  return 6 * q.tokens * q.experts_per_token * q.hidden_size * q.intermediate_size /
         std::max(1.0, q.tp);
}
double experts_bytes(const Query& q) {
  const double experts = local_experts(q);
  const double visits =
      q.tokens * q.experts_per_token * std::max(1.0, q.tp) / std::max(1.0, q.ranks);
  const double touched = experts * (1 - std::pow(1 - 1 / experts, std::max(1.0, visits)));
  return bytes_per_element(q.dtype) * 3 * q.hidden_size * q.intermediate_size /
         std::max(1.0, q.tp) * touched;
}

/// A whole MoE layer: tokens are those of all ranks, tp divides the width and ep the experts.
double moe_layer_flop(const Query& q, double) {
  const double ranks = std::max(1.0, q.tp) * std::max(1.0, q.expert_ranks);
  return 6 * q.tokens * q.experts_per_token * q.hidden_size * q.intermediate_size / ranks;
}
double moe_layer_bytes(const Query& q) {
  const double all = std::max(1.0, q.experts);
  const double missed = std::pow(1 - std::min(1.0, q.experts_per_token / all), q.tokens);
  const double touched = all / std::max(1.0, q.expert_ranks) * (1 - missed);
  return bytes_per_element(q.dtype) * 3 * q.hidden_size * q.intermediate_size /
         std::max(1.0, q.tp) * touched;
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
double elementwise_bytes(const Query& q) {
  return 2 * passes(q.kernel) * q.tokens * q.width;
}

}  // namespace work
}  // namespace rooflua
