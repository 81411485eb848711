#include "serve/contract/fates.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/random.h"

namespace rooflua {

namespace {

/// The bits of a byte, moved to places 0, 4, 8, ...
constexpr std::array<std::uint32_t, 256> one_of_four = [] {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::uint32_t bit = 0; bit < 8; ++bit) out[byte] |= (byte >> bit & 1u) << 4 * bit;
  }
  return out;
}();

/// 1 in the four bits of each position whose bit is set.
std::uint64_t ones(std::uint32_t positions) {
  return one_of_four[positions & 255] | std::uint64_t{one_of_four[positions >> 8]} << 32;
}

}  // namespace

void find_fates(std::uint64_t key, std::int32_t position, std::span<const double> shares,
                Fates& fates, DrawsBehind& behind) {
  fates.group = position / Fates::count;
  const auto group = static_cast<std::uint64_t>(fates.group);
  std::uint16_t here[Fates::most_drafts];
  if (behind.group == fates.group) {
    std::copy(std::begin(behind.below), std::end(behind.below), here);
  } else {
    draws_below(key, group, shares, here);
  }
  draws_below(key, group + 1, shares, behind.below);
  behind.group = fates.group + 1;
  // A round that begins at p accepts draft j + 1 if it accepts draft j and u(p + j) is below its a.
  std::uint32_t survives = 0xffff;
  fates.accepted = 0;
  for (std::size_t j = 0; j < shares.size(); ++j) {
    const std::uint32_t draws = here[j] | std::uint32_t{behind.below[j]} << 16;
    survives &= draws >> j;
    fates.accepted += ones(survives);
  }
}

}  // namespace rooflua
