// Replicas of the naive cluster that fail, are repaired and are slow. At one instant after steps
// that end: repairs and detections by engine, then faults in the order of their list. A replica
// that fails loses its requests, its steps and its caches, and so do all of its group. Requests
// without a replica wait; they are refused where none will come.

#include <algorithm>
#include <utility>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

std::size_t NaiveCluster::engine_of(std::size_t i) const {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (std::count(groups_[g].begin(), groups_[g].end(), i) > 0) return g;
  return 0;
}

bool NaiveCluster::is_candidate(std::size_t i) const {
  const Health& health = health_[engine_of(i)];
  return !health.failed || health.believed;
}

bool NaiveCluster::has_failed(std::size_t i) const {
  return !health_.empty() && health_[engine_of(i)].failed;
}

void NaiveCluster::consider_faults(const std::function<void(Ps)>& consider) const {
  for (std::size_t f = faults_; f < cluster_.faults.list.size(); ++f)
    consider(cluster_.faults.list[f].time);
  for (const Health& each : health_) {
    if (each.failed) consider(each.repaired);
    if (each.believed) consider(each.detected);
  }
  for (std::size_t id = 0; id < lost_.size(); ++id)
    if (!over_[id]) consider(lost_[id]);
}

void NaiveCluster::pass_faults() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Health& each : health_) {
      if (each.failed && each.repaired == now_) {
        each = {};
        changed = true;
      }
      if (each.believed && each.detected == now_) {
        each.believed = false;
        changed = true;
      }
    }
    if (faults_ == cluster_.faults.list.size() || cluster_.faults.list[faults_].time != now_)
      continue;
    const CaseFault& fault = cluster_.faults.list[faults_++];
    const auto i = static_cast<std::size_t>(fault.replica);
    const Ps until = fault.lasts == unset ? unset : now_ + std::max<Ps>(1, fault.lasts);
    if (fault.factor > 0)
      slow_[i] = {fault.factor, until};
    else
      fail(i, until);
    changed = true;
  }
}

void NaiveCluster::fail(std::size_t i, Ps until) {
  Health& health = health_[engine_of(i)];
  if (health.failed) return;
  health = {true, cluster_.faults.detect > 0, until, now_ + cluster_.faults.detect};
  ++history_.aborted[until == unset ? "a replica for ever" : "a replica"];
  for (const std::size_t member : groups_[engine_of(i)]) lose(member);
}

void NaiveCluster::lose(std::size_t i) {
  for (std::size_t id = 0; id < prompts().size(); ++id)
    if (!over_[id] && at_[id] == static_cast<int>(i)) lose_request(static_cast<int>(id));
  for (const int id : std::exchange(leave_[i], {})) engines_[i]->leave(id);
  planned_[i].clear();
  left_[i].clear();
  running_[i] = false;
  wake_[i] = unset;
  engines_[i]->forget();
}

void NaiveCluster::lose_request(int id) {
  const auto place = static_cast<std::size_t>(id);
  const auto i = static_cast<std::size_t>(at_[place]);
  over_[place] = true;
  note_abort(id);
  leave(id, i);
  const bool unreached = !lost_.empty() && lost_[place] != unset;
  const bool coming = !unreached && (coming_[i].remove(id) || leave_queue(id));
  ++history_.aborted[unreached ? "sent to a lost replica" : coming ? "lost, coming" : "lost"];
  if (!unreached && !coming) engines_[i]->leave(id);
}

/// What was sent to a replica that nobody knew to be lost.
void NaiveCluster::lose_connections() {
  for (std::size_t id = 0; id < lost_.size(); ++id)
    if (!over_[id] && lost_[id] == now_) lose_request(static_cast<int>(id));
}

/// Whether it waits for a replica, or never gets one.
bool NaiveCluster::wait_at_door(int id) {
  if (health_.empty()) return false;
  for (std::size_t i = 0; i < count_; ++i)
    if (is_candidate(i)) return false;
  const bool will_come = std::any_of(health_.begin(), health_.end(), [](const Health& each) {
    return !each.failed || each.repaired != unset;
  });
  if (will_come) {
    door_.push_back({id, now_});
    return true;
  }
  over_[static_cast<std::size_t>(id)] = true;
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
