// Sixteen draws at once, of neighbouring counters, compared with bounds: the same numbers as
// uniform_at() gives one by one, on every processor.
//
// A draw is a whole number below 2^53, times 2^-53. It is below a bound iff that number is below
// the bound times 2^53, rounded up; so whole numbers are compared.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>  // products of several pairs of 32 bits at once
#endif

namespace rooflua {

namespace {

/// The number of the draws, of 2^53, that are below the bound.
std::int64_t draws_under(double bound) {
  const double scaled = std::clamp(bound, 0.0, 1.0) * 0x1.0p53;
  const auto whole = static_cast<std::int64_t>(scaled);
  return whole + (static_cast<double>(whole) < scaled);
}

#if defined(__x86_64__) && defined(__GNUC__)
/// The bits of a byte, moved to places 0, 2, 4, ...
constexpr std::array<std::uint16_t, 256> spread_bits = [] {
  std::array<std::uint16_t, 256> out{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit)
      out[byte] = static_cast<std::uint16_t>(out[byte] | ((byte >> bit & 1u) << 2 * bit));
  }
  return out;
}();

/// philox4x32_10 of eight counters, four in each register.
__attribute__((target("avx2"))) void draws_below_wide(std::uint64_t key, std::uint64_t counter,
                                                      std::span<const double> bounds,
                                                      std::uint16_t* below) {
  const __m256i first_factor = _mm256_set1_epi64x(0xD2511F53);
  const __m256i second_factor = _mm256_set1_epi64x(0xCD9E8D57);
  const __m256i first_step = _mm256_set1_epi64x(0x9E3779B9);
  const __m256i second_step = _mm256_set1_epi64x(0xBB67AE85);
  __m256i a[2], b[2], c[2], d[2];
  a[0] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(counter)),
                          _mm256_set_epi64x(3, 2, 1, 0));
  a[1] = _mm256_add_epi64(a[0], _mm256_set1_epi64x(4));
  for (int half = 0; half < 2; ++half) {
    b[half] = _mm256_srli_epi64(a[half], 32);
    c[half] = d[half] = _mm256_setzero_si256();
  }
  __m256i key0 = _mm256_set1_epi64x(static_cast<std::int64_t>(key));
  __m256i key1 = _mm256_srli_epi64(key0, 32);
  // The upper halves of lanes hold anything: a product reads the lower ones.
  for (int round = 0; round < 10; ++round) {
    for (int half = 0; half < 2; ++half) {
      const __m256i first = _mm256_mul_epu32(first_factor, a[half]);
      const __m256i second = _mm256_mul_epu32(second_factor, c[half]);
      a[half] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(second, 32), b[half]), key0);
      c[half] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(first, 32), d[half]), key1);
      b[half] = second;
      d[half] = first;
    }
    key0 = _mm256_add_epi32(key0, first_step);
    key1 = _mm256_add_epi32(key1, second_step);
  }
  // Draw 2i is (word 1, word 0) of block i without its last 11 bits, draw 2i + 1 (word 3, word 2).
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  __m256i even[2], odd[2];
  for (int half = 0; half < 2; ++half) {
    even[half] = _mm256_srli_epi64(
        _mm256_or_si256(_mm256_slli_epi64(b[half], 32), _mm256_and_si256(a[half], low)), 11);
    odd[half] = _mm256_srli_epi64(
        _mm256_or_si256(_mm256_slli_epi64(d[half], 32), _mm256_and_si256(c[half], low)), 11);
  }
  for (const double bound : bounds) {
    const __m256i under = _mm256_set1_epi64x(draws_under(bound));
    const auto bits = [&](const __m256i* draws) __attribute__((target("avx2"))) {
      const __m256i first = _mm256_cmpgt_epi64(under, draws[0]);
      const __m256i second = _mm256_cmpgt_epi64(under, draws[1]);
      return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(first)) |
                                   _mm256_movemask_pd(_mm256_castsi256_pd(second)) << 4);
    };
    *below++ = static_cast<std::uint16_t>(spread_bits[bits(even)] | spread_bits[bits(odd)] << 1);
  }
}
#endif

}  // namespace

void draws_below_narrow(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                        std::uint16_t* below) {
  std::array<double, 16> draws;
  for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = uniform_at(key, 16 * group + i);
  for (const double bound : bounds) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) bits |= unsigned{draws[i] < bound} << i;
    *below++ = static_cast<std::uint16_t>(bits);
  }
}

void draws_below(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                 std::uint16_t* below) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) return draws_below_wide(key, 8 * group, bounds, below);
#endif
  draws_below_narrow(key, group, bounds, below);
}

}  // namespace rooflua
