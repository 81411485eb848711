// Requests that no scheduler will ever run to their end.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/core/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

/// The waiting and seated requests that `picks` holds for fail, in order of arrival.
template <class Picks>
void starve_where(Core& core, Loop& loop, Picks picks) {
  std::vector<std::pair<std::int32_t, std::int32_t>> starved;  // id, slot
  for (std::int32_t slot = 0; slot < core.requests.slots(); ++slot) {
    const Phase phase = core.requests[slot].phase;
    if (phase != Phase::waiting && phase != Phase::prefilling && phase != Phase::decoding) continue;
    if (picks(core.requests[slot])) starved.emplace_back(core.requests[slot].id, slot);
  }
  std::sort(starved.begin(), starved.end());
  for (const auto& [id, slot] : starved) {
    core.at(core.requests[slot].replica).evict(slot);
    core.signals.changed(core.requests[slot].replica);
    loop.finish(slot, Outcome::starved);
  }
}

}  // namespace

/// Requests preempt each other for ever: those that have a seat on this replica, or lost one, fail.
/// Those that never had one may still run.
void Simulation::starve_contenders(const Replica& replica) {
  const std::int32_t index = replica.view().index;
  core_.fruitless_preemptions[static_cast<std::size_t>(index)] = 0;
  starve_where(core_, *this, [&](const Request& request) {
    return request.replica == index && (request.phase != Phase::waiting || request.preemptions > 0);
  });
}

/// No event can happen any more: all requests that are left fail. True if there were any.
bool Simulation::starve() {
  const std::int64_t before = core_.requests.alive();
  for (Replica& replica : core_.replicas) end_failing(replica);
  for (RankGroup& group : core_.groups) Ranks(core_, *this).let_all_in(group);
  for (OnTime* part : parts_.on_time) part->pass(Moment::stuck);
  starve_where(core_, *this, [](const Request&) { return true; });
  for (OnTime* part : parts_.on_time) part->pass(Moment::failed);
  return core_.requests.alive() < before || !core_.deliveries.empty() || !core_.sent_now.empty();
}

}  // namespace rooflua
