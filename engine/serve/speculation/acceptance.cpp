#include <algorithm>

#include "serve/speculation/policy.h"

namespace rooflua {

namespace {

std::int32_t by_rounds(const Round& round, const Curve& curve) {
  const auto place = static_cast<std::size_t>(round.index) % curve.rounds.size();
  return std::clamp(curve.rounds[place] - 1, 0, round.drafted);
}

/// With one draw u, at least j drafts are accepted iff u < a_1 ... a_j.
std::int32_t by_step(const Round& round, const Curve& curve, std::int32_t most) {
  double survives = 1;
  for (std::int32_t j = 0; j < most; ++j) {
    survives *= curve.accepted[static_cast<std::size_t>(j)];
    if (!(round.step_u < survives)) return j;
  }
  return most;
}

}  // namespace

std::int32_t AcceptanceModel::accept(const Request&, const Round& round, const Curve& curve) {
  if (!curve.rounds.empty()) return by_rounds(round, curve);
  const std::int32_t most =
      std::min(round.drafted, static_cast<std::int32_t>(curve.accepted.size()));
  if (per_step()) return by_step(round, curve, most);
  UniformPair pair;
  for (std::int32_t j = 0; j < most; ++j) {
    const auto position = static_cast<std::uint64_t>(round.emitted + j);
    const bool is_first = position % 2 == 0;
    if (is_first || j == 0) pair = uniform_pair_at(round.key, position / 2);
    const double u = is_first ? pair.first : pair.second;
    if (!(u < curve.accepted[static_cast<std::size_t>(j)])) return j;
  }
  return most;
}

}  // namespace rooflua
