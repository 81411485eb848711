#include "cost/model/gpu.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/op_work.h"

namespace rooflua::modelled {

namespace {

[[noreturn, gnu::cold]] void complain(Op op, const char* name, double value) {
  throw Error("modelled_kernel", std::string(rooflua::name(op)) + ": " + name +
                                     ": expected a finite number above 0, found " +
                                     std::to_string(value));
}

}  // namespace

Gpu gpu_of(const Hardware& hardware, Dtype dtype) {
  if (hardware.sms < 1 || !(hardware.clock_hz > 0)) {
    throw Error("modelled_kernel", hardware.name + " states no sms or clock_mhz in hardware.toml");
  }
  return {hardware.peak_for(dtype).in_base_units(), hardware.memory_bandwidth.in_base_units(),
          double(hardware.sms), hardware.clock_hz, hardware.family.constants};
}

Gpu gpu_for(const Query& query, const Hardware& hardware) {
  return gpu_of(hardware, math_dtype(hardware, compute_dtype(query)));
}

Elements elements(Dtype dtype, const Hardware& hardware) {
  const double math = bytes_per_element(math_dtype(hardware, dtype));
  return {math, bytes_per_element(dtype), std::max(math, 2.0)};  // results have 16 bits
}

Dtype math_dtype(const Hardware& hardware, Dtype dtype) {
  return hardware.computes_in(dtype);
}

double positive(Op op, const char* name, double value) {
  if (!(value > 0 && value <= std::numeric_limits<double>::max())) complain(op, name, value);
  return value;
}

double not_negative(Op op, const char* name, double value) {
  return value == 0 ? 0 : positive(op, name, value);
}

double requests(const Query& query) {
  return query.batch == 0 ? 1 : positive(query.op, "batch", query.batch);
}

}  // namespace rooflua::modelled
