#include "cost/modelled_gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "cost/layers.h"

namespace rooflua::modelled {
namespace {

/// Seven tiles; the last of the eight is twice, so that they fill vectors. The first four have 64
/// rows and every number of columns there is.
constexpr Gemm::Tiles kRows{64, 64, 64, 64, 128, 128, 256, 256};
constexpr Gemm::Tiles kColumns{32, 64, 128, 256, 128, 256, 128, 128};
constexpr std::size_t kShortTiles = 4;
constexpr std::array<double, Gemm::splits> kSplits{1, 2, 4, 8, 16};

/// Every tile and split is a fourth root of a sum; those with the same split cost share what is
/// added to it, so the smallest sum of each kind decides and two roots are enough, to the same
/// bits. Splits are powers of two: what is divided by the SMs is scaled exactly.
/// @param tile_s  seconds of a tile on an SM, by split
template <std::size_t count>
inline double least_time(const Gemm& g, double m,
                         const std::array<Gemm::Tiles, Gemm::splits>& tile_s) {
  const double bytes = bytes::gemm(m, g.k, g.n, g.e.in, g.e.weight, g.e.out);
  std::array<double, count> waves, whole, split_up;
  for (std::size_t i = 0; i < count; ++i)
    waves[i] = whole_above(m / kRows[i]) * g.across[i] / g.gpu.sms;
  std::array<double, Gemm::splits> traffic;
  for (std::size_t s = 0; s < Gemm::splits; ++s) {
    const double partial_sums = s > 0 ? 2 * 4 * m * g.n * kSplits[s] : 0;  // fp32, written and read
    traffic[s] = fourth_power(g.gpu.traffic(bytes + partial_sums));
  }
  for (std::size_t i = 0; i < count; ++i) {
    whole[i] = fourth_power(whole_above(waves[i]) * tile_s[0][i]) + traffic[0];
    split_up[i] = std::numeric_limits<double>::infinity();
  }
  for (std::size_t s = 1; s < Gemm::splits; ++s) {
    for (std::size_t i = 0; i < count; ++i) {
      const double sum =
          fourth_power(whole_above(waves[i] * kSplits[s]) * tile_s[s][i]) + traffic[s];
      split_up[i] = sum < split_up[i] ? sum : split_up[i];
    }
  }
  return std::min(fourth_root(*std::min_element(whole.begin(), whole.end())),
                  split_s + fourth_root(*std::min_element(split_up.begin(), split_up.end())));
}

/// Tiles with fewer rows than they have room for load less.
template <std::size_t count>
inline double short_time(const Gemm& g, double m) {
  std::array<Gemm::Tiles, Gemm::splits> tile_s;
  const double bytes_per_s = gemm_sm_bytes_per_clock * g.gpu.clock_hz;
  for (std::size_t s = 0; s < Gemm::splits; ++s) {
    for (std::size_t i = 0; i < count; ++i) {
      const double loaded = (m < kRows[i] ? m : kRows[i]) * g.e.in + g.column_bytes[i];
      const double load = loaded * g.steps[s] / bytes_per_s;
      tile_s[s][i] = gemm_tile_s + (load > g.math_s[s][i] ? load : g.math_s[s][i]);
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

Dtype math_dtype(const Hardware& hardware, Dtype dtype) {
  const bool narrow = bytes_per_element(dtype) < 2;
  return narrow && !hardware.peak.contains(dtype) ? Dtype::bf16 : dtype;
}

Gpu gpu_of(const Hardware& hardware, Dtype dtype) {
  if (hardware.sms < 1 || !(hardware.clock_hz > 0)) {
    throw Error("modelled_kernel", hardware.name + " states no sms or clock_mhz in hardware.toml");
  }
  return {hardware.peak_for(dtype).in_base_units(), hardware.memory_bandwidth.in_base_units(),
          double(hardware.sms), hardware.clock_hz};
}

Elements elements(Dtype dtype, const Hardware& hardware) {
  const double math = bytes_per_element(math_dtype(hardware, dtype));
  return {math, bytes_per_element(dtype), std::max(math, 2.0)};  // results have 16 bits
}

double fourth_root(double x) {
  return std::sqrt(std::sqrt(x));
}

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
      math_s[s][i] = flop / (gpu.peak / gpu.sms * gemm_math);
      const double load =
          (kRows[i] * e.in + column_bytes[i]) * steps[s] / (gemm_sm_bytes_per_clock * gpu.clock_hz);
      full_s[s][i] = gemm_tile_s + std::max(math_s[s][i], load);
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
  estimate.latency_s = modelled::kernel_launch_s + gemm.time(query.m);
  estimate.mfu = flop::gemm(query.m, query.k, query.n) / (estimate.latency_s * gemm.gpu.peak);
}

}  // namespace rooflua
