#pragma once
// A GPU and kernel tables that are small enough to check in the head.

#include <array>
#include <initializer_list>
#include <string>

#include "cost/database/mfu_database.h"

namespace rooflua::test {

/// 100 TFLOP/s, 1 TB/s: easy numbers.
inline Hardware plain_gpu(const std::string& name = "plain", double tflop = 100, double tb = 1) {
  Hardware gpu;
  gpu.name = name;
  gpu.peak[Dtype::bf16] = FlopPerSecond(tflop * 1e12);
  gpu.peak[Dtype::fp8] = FlopPerSecond(2 * tflop * 1e12);
  gpu.memory_bandwidth = BytesPerSecond(tb * 1e12);
  gpu.memory = Bytes(80e9);
  gpu.usable_memory = Bytes(80e9);
  gpu.link_bandwidth = BytesPerSecond(100e9);
  gpu.sms = 100;
  gpu.clock_hz = 1e9;
  gpu.l2 = Bytes(50e6);
  return gpu;
}

inline KernelTable table(Op op, std::initializer_list<std::array<double, max_axes + 1>> rows,
                         Dtype dtype = Dtype::bf16) {
  KernelTable t;
  t.name = std::string(name(op)) + "_test";
  t.op = op;
  t.dtype = dtype;
  t.axes = axis_names(op);
  int line = 1;
  for (const auto& r : rows) {  // latency in us, then the shape
    KernelRow row;
    row.line = ++line;
    row.latency_s = r[0] * 1e-6;
    for (std::size_t i = 0; i < max_axes; ++i) row.shape[i] = r[i + 1];
    t.rows.push_back(row);
  }
  return t;
}

inline Query gemm(double m, double k, double n) {
  Query q;
  q.m = m, q.k = k, q.n = n;
  return q;
}
inline double us(const Estimate& e) {
  return e.latency_s * 1e6;
}

}  // namespace rooflua::test
