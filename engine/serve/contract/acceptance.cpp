#include <algorithm>

#include "serve/contract/speculation.h"

namespace rooflua {

namespace {

std::int32_t most_accepted(const Round& round, const Curve& curve) {
  return std::min(round.drafted, static_cast<std::int32_t>(curve.accepted.size()));
}

}  // namespace

std::int32_t accepted_by_rounds(const Round& round, const Curve& curve) {
  const auto place = static_cast<std::size_t>(round.index) % curve.rounds.size();
  return std::clamp(curve.rounds[place] - 1, 0, round.drafted);
}

/// With one draw u, at least j drafts are accepted iff u < a_1 ... a_j.
std::int32_t accepted_by_step(const Round& round, const Curve& curve) {
  const std::int32_t most = most_accepted(round, curve);
  double survives = 1;
  for (std::int32_t j = 0; j < most; ++j) {
    survives *= curve.accepted[static_cast<std::size_t>(j)];
    if (!(round.step_u < survives)) return j;
  }
  return most;
}

std::int32_t accepted_by_draws(const Round& round, const Curve& curve) {
  const std::int32_t most = most_accepted(round, curve);
  for (std::int32_t j = 0; j < most; ++j) {
    const auto position = static_cast<std::uint64_t>(round.emitted) + static_cast<std::uint64_t>(j);
    if (!(uniform_at(round.key, position) < curve.accepted[static_cast<std::size_t>(j)])) return j;
  }
  return most;
}

std::int32_t AcceptanceModel::accept(const Request&, const Round& round, const Curve& curve) {
  if (!curve.rounds.empty()) return accepted_by_rounds(round, curve);
  if (per_step()) return accepted_by_step(round, curve);
  return accepted_by_draws(round, curve);
}

}  // namespace rooflua
