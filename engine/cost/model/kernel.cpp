#include "cost/model/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "cost/model/attention.h"
#include "cost/model/collective.h"
#include "cost/model/experts.h"
#include "cost/model/gemm.h"
#include "cost/ops/work.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/formulas.h"

namespace rooflua {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using modelled::Gpu, modelled::Priced, modelled::gpu_of, modelled::not_negative, modelled::positive;

Priced gemm(const Query& query, modelled::Elements e, const Gpu& gpu) {
  const double m = positive(query.op, "m", query.m), k = positive(query.op, "k", query.k);
  const double n = positive(query.op, "n", query.n);
  return {gpu.constants.kernel_launch_s + modelled::Gemm(k, n, e, gpu).time(m), flop::gemm(m, k, n),
          kNan};
}

/// Bandwidth alone is needed for these, so that they work on a GPU with any set of peaks.
Priced moving(const Query& query, const Hardware& hardware) {
  const Gpu gpu{kNan, hardware.memory_bandwidth.in_base_units(), 0, 0, hardware.family.constants};
  if (query.op == Op::launch) return {gpu.constants.kernel_launch_s, kNan, kNan};
  if (query.op == Op::memory)
    return {gpu.traffic(positive(query.op, "bytes", query.bytes)), kNan, kNan};
  if (query.kernel == Kernel::quantize) {
    return {quantize_time(query.tokens, query.width, hardware) / unit::s, kNan, kNan};
  }
  const double bytes = elementwise_bytes(query.kernel, positive(query.op, "tokens", query.tokens),
                                         positive(query.op, "width", query.width));
  return {gpu.constants.kernel_launch_s + gpu.traffic(bytes), kNan, kNan};
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

Priced computing(const Query& query, const Hardware& hardware, const Gpu& gpu) {
  switch (query.op) {
    case Op::gemm:
      return gemm(query, modelled::elements(query.dtype, hardware), gpu);
    case Op::grouped_gemm:
      return modelled::grouped_gemm(query, modelled::elements(query.dtype, hardware), gpu);
    case Op::moe_layer:
      return modelled::moe_layer(query, modelled::elements(query.dtype, hardware), gpu);
    case Op::attention_prefill:
    case Op::mla_prefill:
      return modelled::prefill_attention(query, modelled::attention_of(query), gpu);
    case Op::attention_decode:
    case Op::mla_decode:
      return modelled::decode_attention(query, modelled::attention_of(query), gpu);
    case Op::attention_window_prefill:
    case Op::attention_window_decode:
      return computing(without_window(query), hardware, gpu);
    case Op::linear_attention:
      return modelled::linear_attention(query, gpu);
    default:
      break;
  }
  throw Error("modelled_kernel",
              "no model of " + std::string(name(query.op)) + ": only tables price this op");
}

Priced price(const Query& query, const Hardware& hardware) {
  if (query.op == Op::memory || query.op == Op::launch || query.op == Op::elementwise) {
    return moving(query, hardware);
  }
  const Gpu gpu = gpu_of(hardware, modelled::math_dtype(hardware, compute_dtype(query)));
  Priced priced = computing(query, hardware, gpu);
  priced.peak = gpu.peak;
  return priced;
}

}  // namespace

Seconds quantize_time(double tokens, double width, const Hardware& hardware) {
  const Gpu gpu = gpu_of(hardware, Dtype::bf16);
  return Seconds(modelled::quantize_s(positive(Op::elementwise, "tokens", tokens),
                                      positive(Op::elementwise, "width", width), gpu));
}

bool has_model(Op op) {
  return op <= Op::moe_layer;
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
