#pragma once
// The modelled GEMM (equation in kernel.h): what depends on k, n and the GPU alone is
// kept, and any m is then a few vectors of arithmetic.

#include <array>
#include <cstddef>

#include "cost/model/gpu.h"
#include "cost/price/recent_values.h"

namespace rooflua::modelled {

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
