#pragma once
// A GPU as the modelled kernels see it: plain numbers of its datasheet, and the fitted constants of
// its family.

#include "cost/price/estimate.h"
#include "spec/hardware.h"

namespace rooflua::modelled {

struct Gpu {
  double peak, bandwidth, sms, clock_hz;
  KernelConstants constants;

  double traffic(double bytes) const { return bytes / (bandwidth * constants.memory_efficiency); }
  /// The same GPU with a part of its peak.
  Gpu slowed(double part) const { return {peak * part, bandwidth, sms, clock_hz, constants}; }
};

/// @throws Error if the hardware states no peak for the dtype, no SMs or no clock
Gpu gpu_of(const Hardware& hardware, Dtype dtype);
/// The same, for the format that the op of a question computes in.
Gpu gpu_for(const Query& query, const Hardware& hardware);

/// Bytes per element of a GEMM's three sides.
struct Elements {
  double in, weight, out;
};
Elements elements(Dtype dtype, const Hardware& hardware);

/// The format the tensor cores work in (Hardware::computes_in).
Dtype math_dtype(const Hardware& hardware, Dtype dtype);

/// An answer before it becomes an Estimate. `peak` is what the arithmetic was held against; flop
/// and peak are NaN where there is no arithmetic.
struct Priced {
  double latency_s, flop, peak;
  Evidence evidence = Evidence::modelled;
};

/// A number of a query. @throws Error if it is not finite, or not above 0 (not below 0)
double positive(Op op, const char* name, double value);
double not_negative(Op op, const char* name, double value);

/// How many requests a query is about: 0 stands for 1.
double requests(const Query& query);

}  // namespace rooflua::modelled
