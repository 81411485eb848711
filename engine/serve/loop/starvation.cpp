// Requests that no scheduler will ever run to their end.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/loop/life.h"
#include "serve/loop/simulation.h"

namespace rooflua {

/// The waiting and seated requests that `picks` holds for fail, in order of arrival.
template <class Picks>
void Simulation::starve_where(Picks picks) {
  std::vector<std::pair<std::int32_t, std::int32_t>> starved;  // id, slot
  for (std::int32_t slot = 0; slot < requests_.slots(); ++slot) {
    const Phase phase = requests_[slot].phase;
    if (phase != Phase::waiting && phase != Phase::prefilling && phase != Phase::decoding) continue;
    if (picks(requests_[slot])) starved.emplace_back(requests_[slot].id, slot);
  }
  std::sort(starved.begin(), starved.end());
  for (const auto& [id, slot] : starved) {
    at(requests_[slot].replica).evict(slot);
    signals_.changed(requests_[slot].replica);
    finish(slot, Outcome::starved);
  }
}

/// Requests preempt each other for ever: those that have a seat on this replica, or lost one, fail.
/// Those that never had one may still run.
void Simulation::starve_contenders(const Replica& replica) {
  const std::int32_t index = replica.view().index;
  fruitless_preemptions_[static_cast<std::size_t>(index)] = 0;
  starve_where([&](const Request& request) {
    return request.replica == index && (request.phase != Phase::waiting || request.preemptions > 0);
  });
}

/// No event can happen any more: all requests that are left fail. True if there were any.
bool Simulation::starve() {
  const std::int64_t before = requests_.alive();
  for (Replica& replica : replicas_) end_failing(replica);
  if (fleet_) Life(*this).close_door();
  starve_where([](const Request&) { return true; });
  if (gate_) starve_held();
  return requests_.alive() < before || !deliveries_.empty() || !sent_now_.empty();
}

}  // namespace rooflua
