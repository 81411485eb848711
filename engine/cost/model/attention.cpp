#include "cost/model/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cost/model/arithmetic.h"
#include "cost/work/formulas.h"
#include "cost/work/op_work.h"

namespace rooflua::modelled {

namespace {

constexpr double element = 2;  // queries and results have 16 bits

double per_rank(double heads, int tp) {
  return std::max(1.0, heads / std::max(tp, 1));
}

Attention plain_attention(const Query& query) {
  const double heads = per_rank(positive(query.op, "heads", query.heads), query.tp);
  const double kv_heads = per_rank(positive(query.op, "kv_heads", query.kv_heads), query.tp);
  const double d = positive(query.op, "head_dim", query.head_dim);
  return {heads,
          kv_heads,
          2 * d,
          flop::attention(heads, d, 1),
          bytes::kv(1, kv_heads, d, cached_bytes(query.kv_dtype, d)),
          2 * heads * d * element};
}

Attention expanded_latent(const Query& query) {
  const double heads = per_rank(positive(query.op, "heads", query.heads), query.tp);
  const double nope = positive(query.op, "qk_nope_head_dim", query.qk_nope_head_dim);
  const double rope = not_negative(query.op, "qk_rope_head_dim", query.qk_rope_head_dim);
  const double value = query.v_head_dim > 0 ? query.v_head_dim : nope;
  const double width = nope + rope + value;
  return {heads,
          heads,
          width,
          flop::mla_expanded(heads, nope, rope, value, 1),
          heads * width * element,
          heads * width * element};
}

Attention absorbed_latent(const Query& query) {
  const double heads = per_rank(positive(query.op, "heads", query.heads), query.tp);
  const double latent = positive(query.op, "kv_lora_rank", query.kv_lora_rank);
  const double rope = not_negative(query.op, "qk_rope_head_dim", query.qk_rope_head_dim);
  const double width = 2 * latent + rope;
  return {heads,
          1,
          width,
          flop::mla_absorbed(heads, latent, rope, 1),
          bytes::latent_kv(1, latent, rope, cached_bytes(query.kv_dtype, latent + rope)),
          heads * width * element};
}

/// Attention to a window as attention without one that has as many query-key pairs: of a decode, to
/// the window alone; of a prompt longer than the window, chunks of the window after half of it,
/// since each of their tokens sees a whole window.
Query without_window(const Query& query) {
  Query whole = query;
  const double w = positive(query.op, "window", query.window);
  if (query.op == Op::attention_window_decode) {
    whole.op = Op::attention_decode;
    whole.context_tokens = std::min(query.context_tokens, w);
    return whole;
  }
  whole.op = Op::attention_prefill;
  const double t = positive(query.op, "new_tokens", query.new_tokens);
  if (t > w) {
    whole.batch = std::max(1.0, query.batch) * (t / w);
    whole.new_tokens = w;
    whole.context_tokens = w / 2;
    return whole;
  }
  const double growing = std::clamp(w - query.context_tokens, 0.0, t);
  const double seen = growing * (query.context_tokens + growing / 2) + (t - growing) * w;
  whole.context_tokens = seen / t - t / 2;
  return whole;
}

}  // namespace

Attention attention_of(const Query& query) {
  if (query.op == Op::mla_prefill) return expanded_latent(query);
  return query.op == Op::mla_decode ? absorbed_latent(query) : plain_attention(query);
}

Priced prefill_attention(const Query& query, const Attention& shape, const Gpu& gpu) {
  constexpr double tile_rows = 128, least_split = 512;
  const double t = positive(query.op, "new_tokens", query.new_tokens);
  const double p = not_negative(query.op, "context_tokens", query.context_tokens);
  const double batch = requests(query);
  const double flop = batch * shape.flop_per_pair * flop::causal_pairs(t, p);
  const double group = shape.heads / shape.kv_heads;
  const double tiles = whole_above(t * group / tile_rows) * shape.kv_heads * batch;
  const double math = gpu.peak * gpu.constants.attention_math;
  const double row_flop = 2 * tile_rows * shape.width;  // of one tile against one key
  const double tile = gpu.constants.prefill_tile_s + row_flop * tile_rows / 2 / (math / gpu.sms);
  const double everything = flop / math + tiles * tile / gpu.sms;
  // The tile that sees all keys; idle SMs may share its context.
  const double shares = std::max(1.0, whole_below(gpu.sms / tiles));
  const double length = std::max(std::min(p + t, least_split), (p + t) / shares);
  const double longest = row_flop * length / (math / gpu.sms) + tile;
  const double bytes = batch * ((p + t) * shape.kv_bytes_per_token + t * shape.io_bytes_per_token);
  return {gpu.constants.attention_launch_s + std::max(everything, longest) + gpu.traffic(bytes),
          flop, gpu.peak};
}

/// The splits are independent of each other: wider vectors, where a CPU has them, do more at once.
/// The bits are the same (no multiply-add is contracted).
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
Priced
decode_attention(double context, double batch, const Attention& shape, const Gpu& gpu) {
  constexpr double tile_rows = 64, block = 128;
  const double flop = batch * shape.flop_per_pair * context;
  const double row_tiles = whole_above(shape.heads / shape.kv_heads / tile_rows);
  const double bytes = batch * (context * shape.kv_bytes_per_token + shape.io_bytes_per_token);
  const double math = batch * shape.kv_heads * row_tiles * 2 * tile_rows * shape.width * context /
                      (gpu.peak * gpu.constants.attention_math);
  const double block_time = block * shape.kv_bytes_per_token / shape.kv_heads /
                            (gpu.constants.decode_sm_bytes_per_clock * gpu.clock_hz);
  // Every split is a fourth root of a sum; the split ones share what combining costs, so the
  // smallest of their sums decides and two roots are enough. Splits are powers of two, so what
  // depends on one is that of split 1, scaled, to the last bit; the last of the eight is twice.
  constexpr std::array<double, 8> splits{2, 4, 8, 16, 32, 64, 128, 128};
  const double waves = batch * shape.kv_heads * row_tiles / gpu.sms, blocks = context / block;
  const double partial = batch * shape.io_bytes_per_token * 2, fourth_math = fourth_power(math);
  const auto sum_of_fourth_powers = [&](double split, double moved) {
    const double stream =
        whole_above(waves * split) *
        (gpu.constants.decode_tile_s + whole_above(blocks * (1 / split)) * block_time);
    return fourth_power(stream) + fourth_power(gpu.traffic(moved)) + fourth_math;
  };
  std::array<double, splits.size()> sums;
  for (std::size_t i = 0; i < splits.size(); ++i)
    sums[i] = sum_of_fourth_powers(splits[i], bytes + splits[i] * partial);
  const double least = *std::min_element(sums.begin(), sums.end());
  const double best = std::min(std::sqrt(std::sqrt(sum_of_fourth_powers(1, bytes))),
                               gpu.constants.decode_split_s + std::sqrt(std::sqrt(least)));
  return {gpu.constants.attention_launch_s + best, flop, gpu.peak};
}

Priced attention_prefill(const Query& query, const Hardware& hardware) {
  return prefill_attention(query, attention_of(query), gpu_for(query, hardware));
}

/// What is wrong is refused here: an error does not leave a function that has clones.
Priced checked_decode(const Query& query, const Attention& shape, const Gpu& gpu) {
  const double context = positive(query.op, "context_tokens", query.context_tokens);
  return decode_attention(context, requests(query), shape, gpu);
}

Priced attention_decode(const Query& query, const Hardware& hardware) {
  return checked_decode(query, attention_of(query), gpu_for(query, hardware));
}

Priced window_attention(const Query& query, const Hardware& hardware) {
  const Query whole = without_window(query);
  return whole.op == Op::attention_decode ? attention_decode(whole, hardware)
                                          : attention_prefill(whole, hardware);
}

Priced linear_attention(const Query& query, const Hardware& hardware) {
  const Gpu gpu = gpu_for(query, hardware);
  const double key_heads = positive(query.op, "key_heads", query.key_heads);
  const double key_dim = positive(query.op, "key_head_dim", query.key_head_dim);
  const double value_heads = positive(query.op, "value_heads", query.value_heads);
  const double value_dim = positive(query.op, "value_head_dim", query.value_head_dim);
  const double batch = requests(query), conv = not_negative(query.op, "conv", query.conv);
  const double tokens =
      batch * (query.decode ? 1 : positive(query.op, "new_tokens", query.new_tokens));
  const double keys = key_heads * key_dim, values = value_heads * value_dim;
  const double flop = flop::gated_delta(tokens, value_heads, key_dim, value_dim) +
                      flop::short_convolution(tokens, 2 * keys + values, conv);
  const double state =
      bytes::gated_delta_state(key_heads, key_dim, value_heads, value_dim, conv, 4, 2);
  const double moved = 2 * batch * state + 2 * tokens * (2 * keys + 3 * values);
  const int kernels = query.decode ? 2 : 6;  // conv, update; conv and five of the chunked form
  const double math = flop / (gpu.peak * gpu.constants.attention_math);
  return {kernels * gpu.constants.kernel_launch_s + overlapped(math, gpu.traffic(moved)), flop,
          gpu.peak};
}

}  // namespace rooflua::modelled

namespace rooflua {

bool ModelledAttention::fits(const Query& q) const {
  const Query& kept = kept_;
  return known_ && q.op == kept.op && q.heads == kept.heads && q.kv_heads == kept.kv_heads &&
         q.head_dim == kept.head_dim && q.tp == kept.tp && q.kv_dtype == kept.kv_dtype &&
         q.kv_lora_rank == kept.kv_lora_rank && q.qk_nope_head_dim == kept.qk_nope_head_dim &&
         q.qk_rope_head_dim == kept.qk_rope_head_dim && q.v_head_dim == kept.v_head_dim;
}

void ModelledAttention::operator()(const Query& query, const Hardware& hardware,
                                   Estimate& estimate) {
  if (!fits(query)) {
    known_ = false;
    gpu_ = modelled::gpu_for(query, hardware);
    shape_ = modelled::attention_of(query);
    kept_ = query;
    known_ = true;
  }
  const bool one_token = query.op == Op::attention_decode || query.op == Op::mla_decode;
  const modelled::Priced priced = one_token ? modelled::checked_decode(query, shape_, gpu_)
                                            : modelled::prefill_attention(query, shape_, gpu_);
  estimate = Estimate{};
  estimate.evidence = Evidence::modelled;
  estimate.latency_s = priced.latency_s;
  estimate.mfu = priced.flop / (priced.latency_s * gpu_.peak);
}

}  // namespace rooflua
