#include "base/random/ahead.h"

#include <array>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "base/random/formulas.h"

#if defined(__x86_64__)
#include <emmintrin.h>  // products of two pairs of 32 bits at once
#endif

namespace rooflua {

namespace {

constexpr std::size_t most = std::extent_v<decltype(Draws::values)>;
constexpr std::int32_t first_block = 8;

/// One draw alone. @throws Error if a parameter is outside its range
double single(RandomStream& stream, Distribution distribution, double first, double second) {
  switch (distribution) {
    case Distribution::uniform:
      return uniform(stream, first, second);
    case Distribution::exponential:
      return exponential(stream, first);
    case Distribution::weibull:
      return weibull(stream, first, second);
    case Distribution::normal:
      return normal(stream, first, second);
    case Distribution::lognormal:
      return lognormal(stream, first, second);
    case Distribution::pareto:
      return pareto(stream, first, second);
    case Distribution::none:
      break;
  }
  throw Error("random", "no such distribution");
}

/// The stream after `count` more draws.
void pass(RandomStream& stream, std::uint64_t count) {
  if (count > 0 && stream.has_buffered != 0) {
    stream.has_buffered = 0;
    --count;
  }
  stream.counter += count / 2;
  if (count % 2 != 0) next_bits(stream);
}

#if defined(__x86_64__)
/// philox4x32_10 of neighbouring counters, two in each register.
void philox_blocks(std::uint64_t key, std::uint64_t counter, std::span<std::uint64_t, most> out) {
  constexpr std::size_t registers = most / 4;
  const __m128i first_factor = _mm_set1_epi64x(0xD2511F53);
  const __m128i second_factor = _mm_set1_epi64x(0xCD9E8D57);
  const __m128i first_step = _mm_set1_epi64x(0x9E3779B9);
  const __m128i second_step = _mm_set1_epi64x(0xBB67AE85);
  const __m128i key0 = _mm_set1_epi64x(static_cast<std::int64_t>(key));
  const __m128i key1 = _mm_srli_epi64(key0, 32);
  const __m128i counters = _mm_set1_epi64x(static_cast<std::int64_t>(counter));
  // The upper halves of lanes hold anything: a product reads the lower ones.
  for (std::size_t each = 0; each < registers; ++each) {
    const auto place = static_cast<std::int64_t>(2 * each);
    __m128i a = _mm_add_epi64(counters, _mm_set_epi64x(place + 1, place));
    __m128i b = _mm_srli_epi64(a, 32), c = _mm_setzero_si128(), d = c, k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
      const __m128i first = _mm_mul_epu32(first_factor, a);
      const __m128i second = _mm_mul_epu32(second_factor, c);
      a = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(second, 32), b), k0);
      c = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(first, 32), d), k1);
      b = second;
      d = first;
      k0 = _mm_add_epi32(k0, first_step);
      k1 = _mm_add_epi32(k1, second_step);
    }
    const __m128i ba = _mm_unpacklo_epi32(_mm_shuffle_epi32(a, 0x88), _mm_shuffle_epi32(b, 0x88));
    const __m128i dc = _mm_unpacklo_epi32(_mm_shuffle_epi32(c, 0x88), _mm_shuffle_epi32(d, 0x88));
    auto* to = reinterpret_cast<__m128i*>(&out[4 * each]);
    _mm_storeu_si128(to, _mm_unpacklo_epi64(ba, dc));
    _mm_storeu_si128(to + 1, _mm_unpackhi_epi64(ba, dc));
  }
}
#else
void philox_blocks(std::uint64_t key, std::uint64_t counter, std::span<std::uint64_t, most> out) {
  RandomStream stream{.key = key, .counter = counter};
  for (std::uint64_t& each : out) each = next_bits(stream);
}
#endif

/// The values of so many draws of the stream, which ends after a whole block of the generator.
/// @pre single() took the parameters
void fill(RandomStream& stream, Distribution distribution, double first, double second,
          std::span<double> out) {
  std::array<std::uint64_t, most + 1> bits;
  std::size_t at = 0;
  if (stream.has_buffered != 0) bits[at++] = next_bits(stream);
  philox_blocks(stream.key, stream.counter, std::span(bits).subspan(at).first<most>());
  stream.counter += (out.size() - at) / 2;
  if (distribution == Distribution::uniform) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = uniform_of(half_open_unit(bits[i]), first, second);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = open_unit(bits[i]);
  switch (distribution) {
    case Distribution::exponential:
      for (double& each : out) each = exponential_of(each, first);
      break;
    case Distribution::weibull:
      for (double& each : out) each = weibull_of(each, first, second);
      break;
    case Distribution::pareto:
      for (double& each : out) each = pareto_of(each, first, second);
      break;
    case Distribution::normal:
      normal_quantiles(out);
      for (double& each : out) each = normal_of(each, first, second);
      break;
    case Distribution::lognormal:
      normal_quantiles(out);
      for (double& each : out) each = lognormal_of(each, first, second);
      break;
    default:
      throw Error("random", "no such distribution");
  }
}

}  // namespace

double next_value(Draws& draws, Distribution distribution, double first, double second) {
  const bool again = draws.distribution == static_cast<std::int32_t>(distribution) &&
                     draws.first == first && draws.second == second;
  const std::int32_t before = draws.count;
  RandomStream& stream = stream_of(draws);
  if (again) {
    const std::int32_t count = before == 0 ? first_block : static_cast<std::int32_t>(most);
    // Up to the end of a block of the generator.
    draws.count = count - (stream.has_buffered != 0 ? 1 : 0);
    draws.behind = stream;
    fill(draws.behind, distribution, first, second,
         std::span(draws.values).first(static_cast<std::size_t>(draws.count)));
    draws.taken = 1;
  }
  const double value = again ? draws.values[0] : single(stream, distribution, first, second);
  draws.distribution = static_cast<std::int32_t>(distribution);
  draws.first = first;
  draws.second = second;
  return value;
}

RandomStream& stream_of(Draws& draws) {
  if (draws.taken == draws.count && draws.count > 0) {
    draws.stream = draws.behind;
  } else {
    pass(draws.stream, static_cast<std::uint64_t>(draws.taken));
  }
  draws.taken = draws.count = 0;
  draws.distribution = static_cast<std::int32_t>(Distribution::none);
  return draws.stream;
}

}  // namespace rooflua
