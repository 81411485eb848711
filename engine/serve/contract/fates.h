#pragma once
// How many drafts a round accepts, known ahead for every position of the answer at which a round of
// the request may begin. The rule is that of AcceptanceModel (speculation.h): the draft for
// position p is accepted iff u(p) < a_j. Sixteen positions are computed together.

#include <cstdint>
#include <span>

namespace rooflua {

/// Of positions 16 `group` to 16 `group` + 15.
struct Fates {
  static constexpr std::int32_t count = 16;
  static constexpr std::int32_t most_drafts = 15;  // of one round, so that 4 bits hold the number

  std::uint64_t accepted = 0;  // 4 bits for each position
  std::int32_t group = -1;     // none yet
  std::int32_t rounds = 0;     // of the request, that are resolved

  bool has(std::int32_t position) const { return position >> 4 == group; }
  /// Of as many drafts as the fates were computed for. @pre has(position)
  std::int32_t of(std::int32_t position) const {
    return static_cast<std::int32_t>(accepted >> 4 * (position & (count - 1)) & 15);
  }
};

/// Which draws of the positions after Fates are below a_1, a_2, ...: bit i of below[j] is that of
/// position 16 `group` + i and a_(j+1).
struct DrawsBehind {
  std::uint16_t below[Fates::most_drafts] = {};
  std::int32_t group = -1;
};

/// Goes on to the fates of that position.
/// @param shares  a_1, a_2, ... of the request, at most Fates::most_drafts; the same every time
void find_fates(std::uint64_t key, std::int32_t position, std::span<const double> shares,
                Fates& fates, DrawsBehind& behind);

}  // namespace rooflua
