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

// GCC 12 takes the undefined registers in its own header for a mistake.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
/// philox4x32_10 of eight counters in one register.
__attribute__((target("avx512f"))) void draws_below_in_64_bytes(std::uint64_t key,
                                                                std::uint64_t group,
                                                                std::span<const double> bounds,
                                                                std::uint16_t* below) {
  const __m512i first_factor = _mm512_set1_epi64(0xD2511F53);
  const __m512i second_factor = _mm512_set1_epi64(0xCD9E8D57);
  const __m512i first_step = _mm512_set1_epi64(0x9E3779B9);
  const __m512i second_step = _mm512_set1_epi64(0xBB67AE85);
  constexpr int xor_of_three = 0x96;
  __m512i a = _mm512_add_epi64(_mm512_set1_epi64(static_cast<std::int64_t>(8 * group)),
                               _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
  __m512i b = _mm512_srli_epi64(a, 32), c = _mm512_setzero_si512(), d = c;
  __m512i key0 = _mm512_set1_epi64(static_cast<std::int64_t>(key));
  __m512i key1 = _mm512_srli_epi64(key0, 32);
  // The upper halves of lanes hold anything: a product reads the lower ones.
  for (int round = 0; round < 10; ++round) {
    const __m512i first = _mm512_mul_epu32(first_factor, a);
    const __m512i second = _mm512_mul_epu32(second_factor, c);
    a = _mm512_ternarylogic_epi64(_mm512_srli_epi64(second, 32), b, key0, xor_of_three);
    c = _mm512_ternarylogic_epi64(_mm512_srli_epi64(first, 32), d, key1, xor_of_three);
    b = second;
    d = first;
    key0 = _mm512_add_epi32(key0, first_step);
    key1 = _mm512_add_epi32(key1, second_step);
  }
  const __m512i low = _mm512_set1_epi64(0xffffffff);
  const __m512i even =
      _mm512_srli_epi64(_mm512_or_si512(_mm512_slli_epi64(b, 32), _mm512_and_si512(a, low)), 11);
  const __m512i odd =
      _mm512_srli_epi64(_mm512_or_si512(_mm512_slli_epi64(d, 32), _mm512_and_si512(c, low)), 11);
  for (const double bound : bounds) {
    const __m512i under = _mm512_set1_epi64(draws_under(bound));
    const unsigned evens = _mm512_cmplt_epi64_mask(even, under);
    const unsigned odds = _mm512_cmplt_epi64_mask(odd, under);
    *below++ = static_cast<std::uint16_t>(spread_bits[evens] | spread_bits[odds] << 1);
  }
}
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// philox4x32_10 of eight counters, four in each register.
__attribute__((target("avx2"))) void draws_below_in_32_bytes(std::uint64_t key, std::uint64_t group,
                                                             std::span<const double> bounds,
                                                             std::uint16_t* below) {
  const __m256i first_factor = _mm256_set1_epi64x(0xD2511F53);
  const __m256i second_factor = _mm256_set1_epi64x(0xCD9E8D57);
  const __m256i first_step = _mm256_set1_epi64x(0x9E3779B9);
  const __m256i second_step = _mm256_set1_epi64x(0xBB67AE85);
  __m256i a[2], b[2], c[2], d[2];
  a[0] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(8 * group)),
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

void draws_below_one_by_one(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                            std::uint16_t* below) {
  std::array<double, 16> draws;
  for (std::size_t i = 0; i < draws.size(); ++i) draws[i] = uniform_at(key, 16 * group + i);
  for (const double bound : bounds) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < draws.size(); ++i) bits |= unsigned{draws[i] < bound} << i;
    *below++ = static_cast<std::uint16_t>(bits);
  }
}

}  // namespace

std::vector<DrawsBelow> ways_of_draws_below() {
  std::vector<DrawsBelow> ways;
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) ways.push_back(draws_below_in_64_bytes);
  if (__builtin_cpu_supports("avx2")) ways.push_back(draws_below_in_32_bytes);
#endif
  ways.push_back(draws_below_one_by_one);
  return ways;
}

void draws_below(std::uint64_t key, std::uint64_t group, std::span<const double> bounds,
                 std::uint16_t* below) {
  static const DrawsBelow best = ways_of_draws_below().front();
  best(key, group, bounds, below);
}

}  // namespace rooflua
