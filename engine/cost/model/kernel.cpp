#include "cost/model/kernel.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "cost/model/collective.h"
#include "cost/model/gemm.h"
#include "cost/ops/declaration.h"
#include "cost/work/formulas.h"
#include "cost/work/op_work.h"

namespace rooflua {
namespace modelled {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Bandwidth alone, for kernels that work on a GPU with any set of peaks.
Gpu memory_of(const Hardware& hardware) {
  return {kNan, hardware.memory_bandwidth.in_base_units(), 0, 0, hardware.family.constants};
}

}  // namespace

Priced gemm(const Query& query, const Hardware& hardware) {
  const Gpu gpu = gpu_for(query, hardware);
  const double m = positive(query.op, "m", query.m), k = positive(query.op, "k", query.k);
  const double n = positive(query.op, "n", query.n);
  const Gemm shape(k, n, elements(query.dtype, hardware), gpu);
  return {gpu.constants.kernel_launch_s + shape.time(m), flop::gemm(m, k, n), gpu.peak};
}

Priced all_reduce(const Query& query, const Hardware& hardware) {
  const Bytes message(not_negative(query.op, "bytes", query.bytes));
  const Transfer transfer = rooflua::all_reduce(message, query.ranks, hardware, query.eager);
  return {transfer.time / unit::s, kNan, kNan, transfer.evidence};
}

Priced memory(const Query& query, const Hardware& hardware) {
  return {memory_of(hardware).traffic(positive(query.op, "bytes", query.bytes)), kNan, kNan};
}

Priced launch(const Query&, const Hardware& hardware) {
  return {hardware.family.constants.kernel_launch_s, kNan, kNan};
}

Priced elementwise(const Query& query, const Hardware& hardware) {
  if (query.kernel == Kernel::quantize)
    return {quantize_time(query.tokens, query.width, hardware) / unit::s, kNan, kNan};
  const double bytes = elementwise_bytes(query.kernel, positive(query.op, "tokens", query.tokens),
                                         positive(query.op, "width", query.width));
  const Gpu gpu = memory_of(hardware);
  return {gpu.constants.kernel_launch_s + gpu.traffic(bytes), kNan, kNan};
}

}  // namespace modelled

Seconds quantize_time(double tokens, double width, const Hardware& hardware) {
  const modelled::Gpu gpu = modelled::gpu_of(hardware, Dtype::bf16);
  return Seconds(modelled::quantize_s(modelled::positive(Op::elementwise, "tokens", tokens),
                                      modelled::positive(Op::elementwise, "width", width), gpu));
}

bool has_model(const Query& query) {
  const bool over_bus = query.op == Op::memory && over_links(query);
  return declaration_of(query.op).model != nullptr && !over_bus;
}

Estimate modelled_kernel(const Query& query, const Hardware& hardware) {
  if (!has_model(query)) {
    throw Error("modelled_kernel",
                query.op == Op::memory
                    ? "no model of copies to and from the host: only tables price them"
                    : "no model of " + std::string(name(query.op)) + ": only tables price this op");
  }
  const modelled::Priced priced = declaration_of(query.op).model(query, hardware);
  Estimate estimate;
  estimate.latency_s = priced.latency_s;
  estimate.evidence = priced.evidence;
  if (!std::isnan(priced.flop)) estimate.mfu = priced.flop / (priced.latency_s * priced.peak);
  return estimate;
}

}  // namespace rooflua
