// Requests that no scheduler will ever run to their end.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/loop/life.h"
#include "serve/loop/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

/// The waiting and seated requests that `picks` holds for fail, in order of arrival.
template <class Picks>
void Simulation::starve_where(Picks picks) {
  std::vector<std::pair<std::int32_t, std::int32_t>> starved;  // id, slot
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    const Phase phase = core_.requests[slot].phase;
    if (phase != Phase::waiting && phase != Phase::prefilling && phase != Phase::decoding) continue;
    if (picks(core_.requests[slot])) starved.emplace_back(core_.requests[slot].id, slot);
  }
  std::sort(starved.begin(), starved.end());
  for (const auto& [id, slot] : starved) {
    core_.at(core_.requests[slot].replica).evict(slot);
    core_.signals.changed(core_.requests[slot].replica);
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

/// Whether a request can go on when an engine or a link changes.
bool Life::helps_somebody() {
  if (fleet().scale_due != never || !fleet().door.empty()) return true;
  for (const std::int32_t engine : fleet().drains) {  // what is left there ends after the grace
    const auto pool = static_cast<std::size_t>(fleet().engine(engine).pool);
    if (fleet().pools[pool].config.grace_s > 0) return true;
  }
  if (core_.kv_links && core_.kv_links->flows().under_way() > 0) return true;
  if (core_.held == 0) return false;
  for (std::size_t g = 0; g < core_.groups.size(); ++g)
    if (fleet().will_come(static_cast<std::int32_t>(g))) return true;
  return false;
}

/// When something in the life of an engine is due, for the sake of requests that are not over.
/// @param other  when anything else is due. Faults and repairs alone help those that wait for a
/// replica, or whose KV stands still, and no other
Picoseconds Simulation::next_life(Picoseconds other) {
  const Picoseconds next = fleet_->next();
  if (next == never) return never;
  if (next <= fleet_->until) return next;
  if (other == never && !Life(*this).helps_somebody()) return never;
  const bool goes_on = core_.requests.alive() > 0 || core_.workload_due != never ||
                       (other != never && next <= other);  // rows of an aborted request end first
  return goes_on ? next : never;
}

/// No event can happen any more: all requests that are left fail. True if there were any.
bool Simulation::starve() {
  const std::int64_t before = core_.requests.alive();
  for (Replica& replica : core_.replicas) end_failing(replica);
  for (RankGroup& group : core_.groups) Ranks(*this).let_all_in(group);
  if (fleet_) Life(*this).close_door();
  starve_where([](const Request&) { return true; });
  for (OnTime* part : parts_.on_time) part->starve();
  return core_.requests.alive() < before || !core_.deliveries.empty() || !core_.sent_now.empty();
}

}  // namespace rooflua
