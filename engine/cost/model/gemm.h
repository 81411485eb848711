#pragma once
// The modelled GEMM (equation in modelled_kernel.h): what depends on k, n and the GPU alone is
// kept, and any m is then a few vectors of arithmetic.

#include <array>
#include <cstddef>

#include "cost/model/kernel.h"
#include "cost/recent_values.h"

namespace rooflua::modelled {

/// Bytes per element of a GEMM's three sides.
struct Elements {
  double in, weight, out;
};
Elements elements(Dtype dtype, const Hardware& hardware);

/// The format the tensor cores work in. Weights in a narrow format that a GPU cannot multiply are
/// expanded to 16 bits on the way (Marlin-like kernels): they save traffic, not arithmetic.
Dtype math_dtype(const Hardware& hardware, Dtype dtype);

/// The GPU as the model sees it. @throws Error if it states no peak for the dtype, no SMs or clock
Gpu gpu_of(const Hardware& hardware, Dtype dtype);

/// ceil of a number that is not negative, without the library call that plain x86-64 needs for it
/// and without a branch, so that loops become vectors: adding 2^52 and taking it away again rounds
/// to a whole number; from there on numbers are whole.
inline double whole_above(double x) {
  constexpr double two_52 = 4503599627370496.0;
  const double far = x < two_52 ? two_52 : 0;
  const double near = x + far - far;
  return near + (near < x ? 1.0 : 0.0);
}

/// Arithmetic and traffic overlap, but not perfectly near the ridge: the fourth root of the sum of
/// fourth powers.
inline double fourth_power(double x) {
  return (x * x) * (x * x);
}
double fourth_root(double x);

/// k in steps of 64
inline double steps_of(double k) {
  return whole_above(k / 64) * 64;
}

/// [m,k] x [k,n] of one k and n, for any m.
class Gemm {
 public:
  static constexpr std::size_t tiles = 8, splits = 5;
  using Tiles = std::array<double, tiles>;

  Gemm(double k, double n, Elements e, const Gpu& gpu);

  /// Seconds, without the launch.
  double time(double m) const;

  // What is kept, for the one function that reads it.
  double k, n;
  Elements e;
  Gpu gpu;
  Tiles across;                      // tiles side by side along n
  Tiles column_bytes;                // that a tile's columns load for each step of k
  std::array<double, splits> steps;  // of k
  std::array<Tiles, splits> math_s;  // arithmetic of a tile on an SM
  std::array<Tiles, splits> full_s;  // a tile with all its rows, start and end included
};

}  // namespace rooflua::modelled

namespace rooflua {

/// Prices GEMMs again and again. The same answers as modelled_kernel(), bit by bit.
class ModelledGemms {
 public:
  /// @param query  of op gemm  @throws Error   as modelled_kernel()
  void operator()(const Query& query, const Hardware& hardware, Estimate& estimate);

 private:
  RecentValues<Words<3>, modelled::Gemm> kept_;  // by k, n and dtype; of one GPU
};

}  // namespace rooflua
