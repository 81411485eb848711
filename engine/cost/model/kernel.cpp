#include "cost/model/kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "cost/model/collective.h"
#include "cost/model/gemm.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/formulas.h"

namespace rooflua {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using modelled::Attention, modelled::Elements, modelled::Gpu, modelled::whole_above;
using modelled::elements, modelled::fourth_power, modelled::fourth_root, modelled::gpu_of;
using modelled::math_dtype, modelled::steps_of;

/// An answer before it becomes an Estimate.
struct Priced {
  double latency_s, flop;
  double peak = kNan;  // that the arithmetic was held against
};

[[noreturn, gnu::cold]] void complain(Op op, const char* name, double value) {
  throw Error("modelled_kernel", std::string(rooflua::name(op)) + ": " + name +
                                     ": expected a finite number above 0, found " +
                                     std::to_string(value));
}

inline double positive(Op op, const char* name, double value) {
  if (!(value > 0 && value <= std::numeric_limits<double>::max())) complain(op, name, value);
  return value;
}

inline double not_negative(Op op, const char* name, double value) {
  return value == 0 ? 0 : positive(op, name, value);
}

double overlapped(double a, double b) {
  return fourth_root(fourth_power(a) + fourth_power(b));
}

/// floor without a library call, as whole_above().
inline double whole_below(double x) {
  const double above = whole_above(x);
  return above - (above > x ? 1.0 : 0.0);
}

struct Tile {
  double rows, columns;
};
/// Bytes that a tile loads for each step of k: those of the m rows there are.
inline double loaded_by(Tile tile, double m, double n, Elements e) {
  return std::min(m, tile.rows) * e.in + std::min(n, tile.columns) * e.weight;
}

/// Time on one SM of a tile that walks k in `steps`: its math or its loads, whichever is slower.
/// Loads stop at the m rows there are, math does not.
inline double tile_time(Tile tile, double loaded, double steps, const Gpu& gpu) {
  const double flop = 2 * tile.rows * steps * tile.columns;  // no call: loops over this are vectors
  const double math = flop / (gpu.peak / gpu.sms * modelled::gemm_math);
  const double load = loaded * steps / (modelled::gemm_sm_bytes_per_clock * gpu.clock_hz);
  return modelled::gemm_tile_s + std::max(math, load);
}

Priced gemm(const Query& query, Elements e, const Gpu& gpu) {
  const double m = positive(query.op, "m", query.m), k = positive(query.op, "k", query.k);
  const double n = positive(query.op, "n", query.n);
  return {modelled::kernel_launch_s + modelled::Gemm(k, n, e, gpu).time(m), flop::gemm(m, k, n)};
}

/// `experts` GEMMs of `rows` rows each, in one launch; fractional rows are an average.
double grouped_time(double experts, double rows, double k, double n, Elements e, const Gpu& gpu) {
  constexpr std::array<Tile, 8> tiles{
      {{16, 64}, {16, 128}, {32, 128}, {64, 64}, {64, 128}, {128, 128}, {128, 256}, {256, 128}}};
  const double bytes = experts * bytes::gemm(rows, k, n, e.in, e.weight, e.out);
  const double steps = steps_of(k);
  std::array<double, tiles.size()> math;  // the least of them decides: one root is enough
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tile tile = tiles[i];
    const double count = experts * whole_above(rows / tile.rows) * whole_above(n / tile.columns);
    const Tile computed{std::max(tile.rows, 64.0), tile.columns};  // the smallest tensor-core step
    const double waves = std::max(1.0, count / gpu.sms);
    const double loaded = loaded_by(computed, std::min(rows, tile.rows), n, e);
    math[i] = waves * tile_time(computed, loaded, steps, gpu);
  }
  return overlapped(*std::min_element(math.begin(), math.end()), gpu.traffic(bytes));
}

/// Time of quantising [tokens, width] to FP8 (quantize_time in the header).
double quantize_s(double tokens, double width, const Gpu& gpu) {
  const double bytes = bytes::quantize(1, width, 2);
  const double row = std::max(modelled::quantize_row_s,
                              bytes / (modelled::quantize_sm_bytes_per_clock * gpu.clock_hz));
  return modelled::kernel_launch_s + whole_above(tokens / gpu.sms) * row;
}

Priced grouped_gemm(const Query& query, Elements e, const Gpu& gpu) {
  const double all = positive(query.op, "experts", query.experts);
  const double topk = positive(query.op, "experts_per_token", query.experts_per_token);
  const double hidden = positive(query.op, "hidden_size", query.hidden_size);
  const double tp = positive(query.op, "tp", query.tp);
  const double width = positive(query.op, "intermediate_size", query.intermediate_size) / tp;
  const double parts = std::max(1.0, std::floor(positive(query.op, "ranks", query.ranks) / tp));
  const double tokens = positive(query.op, "tokens", query.tokens);
  // `parts` ranks hold the experts between them and each brings `tokens`.
  const double touched = bytes::touched_experts(all, topk, tokens * parts) / parts;
  const double rows = tokens * topk;
  const bool narrow = e.in < 2;
  const Gpu math = narrow ? gpu.slowed(modelled::expert_fp8_math) : gpu;
  const double moved = rows * (narrow ? 1 : parts);
  const double routed = modelled::expert_row_traffic * 2 * moved * (3 * width + hidden);
  const double quantize =
      narrow ? quantize_s(tokens * parts, hidden, gpu) + quantize_s(rows, width, gpu) : 0;
  const double latency = modelled::grouped_launch_s + gpu.traffic(routed) +
                         grouped_time(touched, rows / touched, hidden, 2 * width, e, math) +
                         grouped_time(touched, rows / touched, width, hidden, e, math) + quantize;
  return {latency, flop::gated_mlp(rows, hidden, width)};
}

double per_rank(double heads, int tp) {
  return std::max(1.0, heads / std::max(tp, 1));
}

Attention plain_attention(const Query& query) {
  const double heads = per_rank(positive(query.op, "heads", query.heads), query.tp);
  const double kv_heads = per_rank(positive(query.op, "kv_heads", query.kv_heads), query.tp);
  const double d = positive(query.op, "head_dim", query.head_dim);
  const double element = bytes_per_element(query.dtype);
  return {heads,
          kv_heads,
          2 * d,
          flop::attention(heads, d, 1),
          bytes::kv(1, kv_heads, d, bytes_per_element(query.kv_dtype)),
          2 * heads * d * element};
}

Attention expanded_latent(const Query& query) {
  const double heads = per_rank(positive(query.op, "heads", query.heads), query.tp);
  const double nope = positive(query.op, "qk_nope_head_dim", query.qk_nope_head_dim);
  const double rope = not_negative(query.op, "qk_rope_head_dim", query.qk_rope_head_dim);
  const double value = query.v_head_dim > 0 ? query.v_head_dim : nope;
  const double width = nope + rope + value, element = bytes_per_element(query.dtype);
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
          bytes::latent_kv(1, latent, rope, bytes_per_element(query.kv_dtype)),
          heads * width * bytes_per_element(query.dtype)};
}

Attention attention_of(const Query& query) {
  if (query.op == Op::mla_prefill) return expanded_latent(query);
  return query.op == Op::mla_decode ? absorbed_latent(query) : plain_attention(query);
}

double requests(const Query& query) {
  return query.batch == 0 ? 1 : positive(query.op, "batch", query.batch);
}

Priced prefill(const Query& query, const Attention& shape, const Gpu& gpu) {
  constexpr double tile_rows = 128, least_split = 512;
  const double t = positive(query.op, "new_tokens", query.new_tokens);
  const double p = not_negative(query.op, "context_tokens", query.context_tokens);
  const double batch = requests(query);
  const double flop = batch * shape.flop_per_pair * flop::causal_pairs(t, p);
  const double group = shape.heads / shape.kv_heads;
  const double tiles = whole_above(t * group / tile_rows) * shape.kv_heads * batch;
  const double math = gpu.peak * modelled::attention_math;
  const double row_flop = 2 * tile_rows * shape.width;  // of one tile against one key
  const double tile = modelled::prefill_tile_s + row_flop * tile_rows / 2 / (math / gpu.sms);
  const double everything = flop / math + tiles * tile / gpu.sms;
  // The tile that sees all keys; idle SMs may share its context.
  const double shares = std::max(1.0, whole_below(gpu.sms / tiles));
  const double length = std::max(std::min(p + t, least_split), (p + t) / shares);
  const double longest = row_flop * length / (math / gpu.sms) + tile;
  const double bytes = batch * ((p + t) * shape.kv_bytes_per_token + t * shape.io_bytes_per_token);
  return {modelled::attention_launch_s + std::max(everything, longest) + gpu.traffic(bytes), flop};
}

/// The splits are independent of each other: wider vectors, where a CPU has them, do more at once.
/// The bits are the same (no multiply-add is contracted).
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
Priced
decode(const Query& query, const Attention& shape, const Gpu& gpu) {
  constexpr double tile_rows = 64, block = 128;
  const double context = positive(query.op, "context_tokens", query.context_tokens);
  const double batch = requests(query);
  const double flop = batch * shape.flop_per_pair * context;
  const double row_tiles = whole_above(shape.heads / shape.kv_heads / tile_rows);
  const double bytes = batch * (context * shape.kv_bytes_per_token + shape.io_bytes_per_token);
  const double math = batch * shape.kv_heads * row_tiles * 2 * tile_rows * shape.width * context /
                      (gpu.peak * modelled::attention_math);
  const double block_time = block * shape.kv_bytes_per_token / shape.kv_heads /
                            (modelled::decode_sm_bytes_per_clock * gpu.clock_hz);
  // Every split is a fourth root of a sum; the split ones share what combining costs, so the
  // smallest of their sums decides and two roots are enough. Splits are powers of two, so what
  // depends on one is that of split 1, scaled, to the last bit; the last of the eight is twice.
  constexpr std::array<double, 8> splits{2, 4, 8, 16, 32, 64, 128, 128};
  const double waves = batch * shape.kv_heads * row_tiles / gpu.sms, blocks = context / block;
  const double partial = batch * shape.io_bytes_per_token * 2, fourth_math = fourth_power(math);
  const auto sum_of_fourth_powers = [&](double split, double moved) {
    const double stream =
        whole_above(waves * split) *
        (modelled::decode_tile_s + whole_above(blocks * (1 / split)) * block_time);
    return fourth_power(stream) + fourth_power(gpu.traffic(moved)) + fourth_math;
  };
  std::array<double, splits.size()> sums;
  for (std::size_t i = 0; i < splits.size(); ++i)
    sums[i] = sum_of_fourth_powers(splits[i], bytes + splits[i] * partial);
  const double least = *std::min_element(sums.begin(), sums.end());
  const double best = std::min(std::sqrt(std::sqrt(sum_of_fourth_powers(1, bytes))),
                               modelled::decode_split_s + std::sqrt(std::sqrt(least)));
  return {modelled::attention_launch_s + best, flop};
}

Priced linear_attention(const Query& query, const Gpu& gpu) {
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
  const double math = flop / (gpu.peak * modelled::attention_math);
  return {kernels * modelled::kernel_launch_s + overlapped(math, gpu.traffic(moved)), flop};
}

double elementwise_bytes(const Query& query) {
  if (query.bytes > 0) return positive(query.op, "bytes", query.bytes);
  const double passes = query.kernel == Kernel::silu_mul ? 3 : 2;
  return passes * positive(query.op, "tokens", query.tokens) *
         positive(query.op, "width", query.width) * bytes_per_element(query.dtype);
}

/// Bandwidth alone is needed for these, so that they work on a GPU with any set of peaks.
Priced moving(const Query& query, const Hardware& hardware) {
  const Gpu gpu{kNan, hardware.memory_bandwidth.in_base_units(), 0, 0};
  if (query.op == Op::launch) return {modelled::kernel_launch_s, kNan};
  if (query.op == Op::memory) return {gpu.traffic(positive(query.op, "bytes", query.bytes)), kNan};
  if (query.kernel == Kernel::quantize && !(query.bytes > 0)) {
    return {quantize_time(query.tokens, query.width, hardware) / unit::s, kNan};
  }
  return {modelled::kernel_launch_s + gpu.traffic(elementwise_bytes(query)), kNan};
}

Priced computing(const Query& query, const Hardware& hardware, const Gpu& gpu) {
  switch (query.op) {
    case Op::gemm:
      return gemm(query, elements(query.dtype, hardware), gpu);
    case Op::grouped_gemm:
      return grouped_gemm(query, elements(query.dtype, hardware), gpu);
    case Op::attention_prefill:
    case Op::mla_prefill:
      return prefill(query, attention_of(query), gpu);
    case Op::attention_decode:
    case Op::mla_decode:
      return decode(query, attention_of(query), gpu);
    case Op::linear_attention:
      return linear_attention(query, gpu);
    default:
      break;
  }
  throw Error("modelled_kernel", "no model of " + std::string(name(query.op)));
}

Priced price(const Query& query, const Hardware& hardware) {
  if (query.op == Op::memory || query.op == Op::launch || query.op == Op::elementwise) {
    return moving(query, hardware);
  }
  const Gpu gpu = gpu_of(hardware, math_dtype(hardware, query.dtype));
  Priced priced = computing(query, hardware, gpu);
  priced.peak = gpu.peak;
  return priced;
}

}  // namespace

Seconds quantize_time(double tokens, double width, const Hardware& hardware) {
  const Gpu gpu = gpu_of(hardware, Dtype::bf16);
  return Seconds(quantize_s(positive(Op::elementwise, "tokens", tokens),
                            positive(Op::elementwise, "width", width), gpu));
}

bool ModelledAttention::fits(const Query& q) const {
  const Query& kept = kept_;
  return known_ && q.op == kept.op && q.heads == kept.heads && q.kv_heads == kept.kv_heads &&
         q.head_dim == kept.head_dim && q.tp == kept.tp && q.dtype == kept.dtype &&
         q.kv_dtype == kept.kv_dtype && q.kv_lora_rank == kept.kv_lora_rank &&
         q.qk_nope_head_dim == kept.qk_nope_head_dim &&
         q.qk_rope_head_dim == kept.qk_rope_head_dim && q.v_head_dim == kept.v_head_dim;
}

void ModelledAttention::operator()(const Query& query, const Hardware& hardware,
                                   Estimate& estimate) {
  if (!fits(query)) {
    known_ = false;
    gpu_ = gpu_of(hardware, math_dtype(hardware, query.dtype));
    shape_ = attention_of(query);
    kept_ = query;
    known_ = true;
  }
  const bool one_token = query.op == Op::attention_decode || query.op == Op::mla_decode;
  const Priced priced = one_token ? decode(query, shape_, gpu_) : prefill(query, shape_, gpu_);
  estimate = Estimate{};
  estimate.evidence = Evidence::modelled;
  estimate.latency_s = priced.latency_s;
  estimate.mfu = priced.flop / (priced.latency_s * gpu_.peak);
}

Estimate modelled_kernel(const Query& query, const Hardware& hardware) {
  Estimate estimate;
  estimate.evidence = Evidence::modelled;
  if (query.op == Op::all_reduce) {
    const double message = not_negative(query.op, "bytes", query.bytes);
    const Transfer transfer = all_reduce(Bytes(message), query.ranks, hardware, query.eager);
    estimate.latency_s = transfer.time / unit::s;
    estimate.evidence = transfer.evidence;
    return estimate;
  }
  const Priced priced = price(query, hardware);
  estimate.latency_s = priced.latency_s;
  if (std::isnan(priced.flop)) return estimate;
  estimate.mfu = priced.flop / (priced.latency_s * priced.peak);
  return estimate;
}

}  // namespace rooflua
