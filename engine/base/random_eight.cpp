// Eight draws at once, of neighbouring counters: the same numbers as uniform_at() gives one by one,
// on every processor.

#include "base/random.h"

#if defined(__SSE2__)
#include <immintrin.h>  // products of several pairs of 32 bits at once
#endif

namespace rooflua {

#if defined(__SSE2__)
namespace {

/// philox4x32_10 of two counters; each word is the lower half of a lane.
struct TwoBlocks {
  __m128i word[4];
};

TwoBlocks two_blocks_at(std::uint64_t key, std::uint64_t counter) {
  const __m128i low = _mm_set1_epi64x(0xffffffff);
  const __m128i first_factor = _mm_set1_epi64x(0xD2511F53);
  const __m128i second_factor = _mm_set1_epi64x(0xCD9E8D57);
  const __m128i first_step = _mm_set1_epi64x(0x9E3779B9), second_step = _mm_set1_epi64x(0xBB67AE85);
  const __m128i place =
      _mm_set_epi64x(static_cast<std::int64_t>(counter + 1), static_cast<std::int64_t>(counter));
  __m128i a = place, b = _mm_srli_epi64(place, 32), c = _mm_setzero_si128(), d = c;
  __m128i key0 = _mm_set1_epi64x(static_cast<std::int64_t>(key));
  __m128i key1 = _mm_srli_epi64(key0, 32);
  // The upper halves of lanes hold anything: a product reads the lower ones.
  for (int round = 0; round < 10; ++round) {
    const __m128i first = _mm_mul_epu32(first_factor, a);
    const __m128i second = _mm_mul_epu32(second_factor, c);
    a = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(second, 32), b), key0);
    c = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(first, 32), d), key1);
    b = second;
    d = first;
    key0 = _mm_add_epi32(key0, first_step);
    key1 = _mm_add_epi32(key1, second_step);
  }
  return {{_mm_and_si128(a, low), b, _mm_and_si128(c, low), d}};
}

/// (2^32 b + a) / 2^64, cut to 53 bits, of each lane.
void put_uniforms(__m128i a, __m128i b, double& lower, double& upper) {
  const __m128i bits = _mm_srli_epi64(_mm_or_si128(_mm_slli_epi64(b, 32), a), 11);
  lower = static_cast<double>(_mm_cvtsi128_si64(bits)) * 0x1.0p-53;
  upper = static_cast<double>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(bits, bits))) * 0x1.0p-53;
}

#if defined(__x86_64__) && defined(__GNUC__)
/// The same numbers where the processor has wider registers: four counters at once.
__attribute__((target("avx2"))) void eight_uniforms_wide(std::uint64_t key, std::uint64_t counter,
                                                         double (&out)[8]) {
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256i first_factor = _mm256_set1_epi64x(0xD2511F53);
  const __m256i second_factor = _mm256_set1_epi64x(0xCD9E8D57);
  const __m256i first_step = _mm256_set1_epi64x(0x9E3779B9);
  const __m256i second_step = _mm256_set1_epi64x(0xBB67AE85);
  __m256i a = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(counter)),
                               _mm256_set_epi64x(3, 2, 1, 0));
  __m256i b = _mm256_srli_epi64(a, 32), c = _mm256_setzero_si256(), d = c;
  __m256i key0 = _mm256_set1_epi64x(static_cast<std::int64_t>(key));
  __m256i key1 = _mm256_srli_epi64(key0, 32);
  for (int round = 0; round < 10; ++round) {
    const __m256i first = _mm256_mul_epu32(first_factor, a);
    const __m256i second = _mm256_mul_epu32(second_factor, c);
    a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(second, 32), b), key0);
    c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(first, 32), d), key1);
    b = second;
    d = first;
    key0 = _mm256_add_epi32(key0, first_step);
    key1 = _mm256_add_epi32(key1, second_step);
  }
  // Of 53 bits the upper 21 and the lower 32 become doubles of their own, whose sum is exact.
  const __m256i at_52 = _mm256_set1_epi64x(0x4330000000000000);  // 2^52
  const __m256i at_84 = _mm256_set1_epi64x(0x4530000000000000);  // 2^84
  const __m256d both = _mm256_set1_pd(0x1.0p84 + 0x1.0p52);
  __m256d u[2];
  for (int half = 0; half < 2; ++half) {
    const __m256i upper = half == 0 ? b : d, lower = _mm256_and_si256(half == 0 ? a : c, low);
    const __m256i bits =
        _mm256_srli_epi64(_mm256_or_si256(_mm256_slli_epi64(upper, 32), lower), 11);
    const __m256i high = _mm256_or_si256(_mm256_srli_epi64(bits, 32), at_84);
    const __m256d rest = _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(bits, low), at_52));
    const __m256d whole = _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), both), rest);
    u[half] = _mm256_mul_pd(whole, _mm256_set1_pd(0x1.0p-53));
  }
  const __m256d evens = _mm256_unpacklo_pd(u[0], u[1]), odds = _mm256_unpackhi_pd(u[0], u[1]);
  _mm256_storeu_pd(out, _mm256_permute2f128_pd(evens, odds, 0x20));
  _mm256_storeu_pd(out + 4, _mm256_permute2f128_pd(evens, odds, 0x31));
}
#endif

}  // namespace

void eight_uniforms_narrow(std::uint64_t key, std::uint64_t i, double (&out)[8]) {
  for (std::uint64_t pair = 0; pair < 2; ++pair) {
    const TwoBlocks blocks = two_blocks_at(key, 4 * i + 2 * pair);
    double* u = out + 4 * pair;
    put_uniforms(blocks.word[0], blocks.word[1], u[0], u[2]);
    put_uniforms(blocks.word[2], blocks.word[3], u[1], u[3]);
  }
}
#else
void eight_uniforms_narrow(std::uint64_t key, std::uint64_t i, double (&out)[8]) {
  for (std::uint64_t j = 0; j < 8; ++j) out[j] = uniform_at(key, 8 * i + j);
}
#endif

void eight_uniforms_at(std::uint64_t key, std::uint64_t i, double (&out)[8]) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) return eight_uniforms_wide(key, 4 * i, out);
#endif
  eight_uniforms_narrow(key, i, out);
}

}  // namespace rooflua
