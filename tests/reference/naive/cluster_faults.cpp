// Replicas of the naive cluster that fail and are slow. At one instant after engines that come and
// go: faults in the order of their list. A replica that fails loses its requests, its steps and its
// caches, and so do all of its group; prompts that it computed, and those whose KV it gets, end
// too. Requests without a replica wait; they are refused where none will come.

#include <algorithm>
#include <utility>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

void NaiveCluster::pass_faults() {
  while (faults_ < cluster_.faults.list.size() && cluster_.faults.list[faults_].time == now_) {
    const CaseFault& fault = cluster_.faults.list[faults_++];
    const auto i = static_cast<std::size_t>(fault.replica);
    const Ps until = fault.lasts == unset ? unset : now_ + std::max<Ps>(1, fault.lasts);
    if (fault.factor > 0)
      slow_[i] = {fault.factor, until};
    else
      fail(i, until);
  }
}

void NaiveCluster::fail(std::size_t i, Ps until) {
  const std::size_t engine = engine_of(i);
  const Lifecycle before = lives_[engine].state;
  if (before == Lifecycle::failed || before == Lifecycle::absent) return;
  set_state(engine, Lifecycle::failed);
  Life& life = lives_[engine];
  life.repaired = until;
  life.believed = before == Lifecycle::ready && cluster_.faults.detect > 0;
  if (life.believed) life.detected = now_ + cluster_.faults.detect;
  ++history_.aborted[until == unset ? "a replica for ever" : "a replica"];
  for (const std::size_t member : groups_[engine]) lose(member);
}

/// Whether it cannot go on without this replica.
bool NaiveCluster::rests_on(int id, std::size_t i) const {
  const auto place = static_cast<std::size_t>(id);
  const Split& split = split_[place];
  const int prefill = history_.requests[place].prefill_replica;
  return at_[place] == static_cast<int>(i) || (split.kept && prefill == static_cast<int>(i)) ||
         (split.reserved && split.to == static_cast<int>(i));
}

void NaiveCluster::lose(std::size_t i) {
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const int number = static_cast<int>(id);
    if (over_[id]) continue;
    if (rests_on(number, i)) {
      const bool unreached = lost_[id] != unset;
      ++history_.aborted[unreached                        ? "sent to a lost replica"
                         : at_[id] == static_cast<int>(i) ? "lost"
                                                          : "lost elsewhere"];
      abort(number);
    } else if (split_[id].to == static_cast<int>(i)) {
      break_promise(number);
      split_[id].to = -1;
    }
  }
  lose_flows(i);
  free_parcels(i);
  planned_[i].clear();
  left_[i].clear();
  running_[i] = false;
  wake_[i] = unset;
  forget_content(i);
}

/// Requests that ended hold blocks no longer for KV that comes from here, or goes here.
void NaiveCluster::free_parcels(std::size_t i) {
  const auto touches = [&](const Parcel& parcel) {
    return parcel.from == static_cast<int>(i) || parcel.to == static_cast<int>(i);
  };
  std::vector<Parcel> stopped;
  for (const Parcel& parcel : parcels_) {
    if (!touches(parcel)) continue;
    Split& split = split_[static_cast<std::size_t>(parcel.id)];
    engines_[static_cast<std::size_t>(parcel.from)]->count_flows(parcel.id, -1);
    if (--split.flows == 0) stopped.push_back(parcel);
  }
  std::erase_if(parcels_, touches);
  leave_seats(i);
  std::sort(stopped.begin(), stopped.end(),
            [](const Parcel& a, const Parcel& b) { return a.id < b.id; });
  for (const Parcel& parcel : stopped) {
    Split& split = split_[static_cast<std::size_t>(parcel.id)];
    const auto from = static_cast<std::size_t>(parcel.from);
    const auto to = static_cast<std::size_t>(parcel.to);
    const std::vector<int>& seated = leave_[from];
    if (split.kept) {
      split.kept = false;
      engines_[from]->release_kept(parcel.id);
      leave(parcel.id, from);
      engines_[to]->refuse(parcel.id);
      touched_[from] = touched_[to] = true;
    } else if (split.reserved) {
      if (std::count(seated.begin(), seated.end(), parcel.id) == 0 && from != i)
        engines_[from]->release_kept(parcel.id);
      cancel(parcel.id);
      touched_[from] = true;
    }
  }
}

/// Whether there are replicas that a request needs now.
bool NaiveCluster::is_open() const {
  const bool decodes_first = cluster_.split() && cluster_.decode_first;
  return (decodes_first || has_candidates(false)) && (!cluster_.split() || has_candidates(true));
}

/// Whether it waits for a replica, or never gets one.
bool NaiveCluster::wait_at_door(int id) {
  if (lives_.empty() || is_open()) return false;
  if (may_have_candidates()) {
    door_.push_back({id, now_});
    return true;
  }
  over_[static_cast<std::size_t>(id)] = true;
  if (gate_) gate_->end(id, 0);
  ++history_.aborted["refused"];
  served(id).replica = -1;
  return true;
}

void NaiveCluster::open_door() {
  for (const auto& [id, since] : std::exchange(door_, {})) {
    if (over_[static_cast<std::size_t>(id)]) continue;
    const std::size_t waiting = door_.size();
    if (wait_at_door(id)) {
      if (door_.size() > waiting)
        door_.back().second = since;
      else
        served(id).held += now_ - since;
      continue;
    }
    served(id).held += now_ - since;
    route(id);
  }
}

/// A step that is planned now takes so many times as long.
int NaiveCluster::slowness(std::size_t i) const {
  const Slow& slow = slow_[i];
  return slow.until == unset || now_ < slow.until ? slow.factor : 1;
}

}  // namespace rooflua::reference
