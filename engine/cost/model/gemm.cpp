#include "cost/model/gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cost/model/arithmetic.h"
#include "cost/work/formulas.h"

namespace rooflua::modelled {
namespace {

/// Seven tiles; the last of the eight is twice, so that they fill vectors. The first four have 64
/// rows and every number of columns there is.
constexpr Gemm::Tiles kRows{64, 64, 64, 64, 128, 128, 256, 256};
constexpr Gemm::Tiles kRowShare{1. / 64,  1. / 64,  1. / 64,  1. / 64,
                                1. / 128, 1. / 128, 1. / 256, 1. / 256};  // powers of two: exact
constexpr Gemm::Tiles kColumns{32, 64, 128, 256, 128, 256, 128, 128};
constexpr std::size_t kShortTiles = 4;
constexpr std::array<double, Gemm::splits> kSplits{1, 2, 4, 8, 16};

// What follows is inlined into gemm_time(), whose clones decide which instructions there are.
// Vectors are written out: left to the compiler, loops over eight numbers become moves between
// lanes.
using Four = double __attribute__((vector_size(32)));

[[gnu::always_inline]] inline Four four(const double* from) {
  Four x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
[[gnu::always_inline]] inline Four above(Four x) {  // whole_above()
  const Four two_52 = Four{} + 4503599627370496.0;
  const Four far = x < two_52 ? two_52 : Four{};
  const Four near = x + far - far;
  return near + (near < x ? Four{} + 1.0 : Four{});
}
[[gnu::always_inline]] inline Four fourth(Four x) {
  return (x * x) * (x * x);
}
[[gnu::always_inline]] inline Four lesser(Four a, Four b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline double least_of(Four x) {
  return std::min(std::min(x[0], x[1]), std::min(x[2], x[3]));
}

/// Every tile and split is a fourth root of a sum; those with the same split cost share what is
/// added to it, so the smallest sum of each kind decides and two roots are enough, to the same
/// bits. Splits are powers of two: what is divided by the SMs is scaled exactly.
/// @param count   how many of the tiles, a multiple of four
/// @param tile_s  seconds of a tile on an SM, by split
template <std::size_t count>
[[gnu::always_inline]] inline double least_time(
    const Gemm& g, double m, const std::array<Gemm::Tiles, Gemm::splits>& tile_s) {
  const double bytes = bytes::gemm(m, g.k, g.n, g.e.in, g.e.weight, g.e.out);
  const double partial_sums = 2 * 4 * m * g.n;  // fp32, written and read, of each split
  const double bytes_per_s = g.gpu.bandwidth * g.gpu.constants.memory_efficiency;
  const double traffic = fourth_power(bytes / bytes_per_s);
  const Four split_traffic = fourth((bytes + partial_sums * four(&kSplits[1])) / bytes_per_s);
  Four whole{}, split_up{};
  for (std::size_t i = 0; i < count; i += 4) {
    const Four waves = above(m * four(&kRowShare[i])) * four(&g.across[i]) / g.gpu.sms;
    const Four once = fourth(above(waves) * four(&tile_s[0][i])) + traffic;
    whole = i == 0 ? once : lesser(whole, once);
    for (std::size_t s = 1; s < Gemm::splits; ++s) {
      const Four sum =
          fourth(above(waves * kSplits[s]) * four(&tile_s[s][i])) + split_traffic[s - 1];
      split_up = i == 0 && s == 1 ? sum : lesser(split_up, sum);
    }
  }
  return std::min(std::sqrt(std::sqrt(least_of(whole))),
                  g.gpu.constants.split_s + std::sqrt(std::sqrt(least_of(split_up))));
}

/// Tiles with fewer rows than they have room for load less.
template <std::size_t count>
[[gnu::always_inline]] inline double short_time(const Gemm& g, double m) {
  std::array<Gemm::Tiles, Gemm::splits> tile_s;
  const double bytes_per_s = g.gpu.constants.gemm_sm_bytes_per_clock * g.gpu.clock_hz;
  for (std::size_t i = 0; i < count; i += 4) {
    const Four loaded = lesser(Four{} + m, four(&kRows[i])) * g.e.in + four(&g.column_bytes[i]);
    for (std::size_t s = 0; s < Gemm::splits; ++s) {
      const Four load = loaded * g.steps[s] / bytes_per_s, math = four(&g.math_s[s][i]);
      const Four time = g.gpu.constants.gemm_tile_s + (load > math ? load : math);
      std::memcpy(&tile_s[s][i], &time, sizeof time);
    }
  }
  return least_time<count>(g, m, tile_s);
}

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
double
gemm_time(const Gemm& g, double m) {
  if (m >= kRows.back()) return least_time<Gemm::tiles>(g, m, g.full_s);
  // With one row of tiles, those of more rows only compute more.
  return m <= kRows.front() ? short_time<kShortTiles>(g, m) : short_time<Gemm::tiles>(g, m);
}

}  // namespace

Gemm::Gemm(double side_k, double side_n, Elements sizes, const Gpu& on)
    : k(side_k), n(side_n), e(sizes), gpu(on) {
  for (std::size_t i = 0; i < tiles; ++i) {
    across[i] = whole_above(n / kColumns[i]);
    column_bytes[i] = std::min(n, kColumns[i]) * e.weight;
  }
  for (std::size_t s = 0; s < splits; ++s) {
    steps[s] = steps_of(k / kSplits[s]);
    for (std::size_t i = 0; i < tiles; ++i) {
      const double flop = 2 * kRows[i] * steps[s] * kColumns[i];
      math_s[s][i] = flop / (gpu.peak / gpu.sms * gpu.constants.gemm_math);
      const double load = (kRows[i] * e.in + column_bytes[i]) * steps[s] /
                          (gpu.constants.gemm_sm_bytes_per_clock * gpu.clock_hz);
      full_s[s][i] = gpu.constants.gemm_tile_s + std::max(math_s[s][i], load);
    }
  }
}

double Gemm::time(double m) const {
  return gemm_time(*this, m);
}

}  // namespace rooflua::modelled

namespace rooflua {

void ModelledGemms::operator()(const Query& query, const Hardware& hardware, Estimate& estimate) {
  const Words<3> key{{std::bit_cast<std::uint64_t>(query.k), std::bit_cast<std::uint64_t>(query.n),
                      static_cast<std::uint64_t>(query.dtype)}};
  const modelled::Gemm& gemm = kept_.of(key, [&] {
    const Dtype math = modelled::math_dtype(hardware, query.dtype);
    return modelled::Gemm(query.k, query.n, modelled::elements(query.dtype, hardware),
                          modelled::gpu_of(hardware, math));
  });
  estimate = Estimate{};
  estimate.evidence = Evidence::modelled;
  estimate.latency_s = gemm.gpu.constants.kernel_launch_s + gemm.time(query.m);
  estimate.mfu = flop::gemm(query.m, query.k, query.n) / (estimate.latency_s * gemm.gpu.peak);
}

}  // namespace rooflua
