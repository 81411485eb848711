// Aborts of the naive cluster. The client of an aborted request gets nothing from then on. What the
// replicas do:
//   in the frontend, on its way into a replica with stages, waiting: it is gone
//   a prompt that waits at its decode replica, its KV not on its way: the prefill replica's blocks
//   are free, too
//   seated: the seat and the blocks are free; if a step that is planned has a row of it and a step
//   runs, when that ends, before the next plan
//   its KV on its way: the blocks on both sides are free when it has come

#include <algorithm>
#include <utility>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

std::optional<Ps> NaiveCluster::next_abort() const {
  if (aborts_ == cluster_.aborts.size()) return std::nullopt;
  return cluster_.aborts[aborts_].time;
}

void NaiveCluster::abort(int id) {
  const auto place = static_cast<std::size_t>(id);
  if (over_[place] || prompts()[place].plain.arrival > now_) return;
  over_[place] = true;
  note_abort(id);
  if (!sent_[place]) {
    sent_[place] = true;
    ++history_.aborted["frontend"];
    return;
  }
  if (gate_) gate_->end(id, served(id).tokens);
  if (gate_ && gate_->find(id) != nullptr) {
    served(id).held = now_ - gate_->remove(id).since;
    ++history_.aborted["gate"];
    return;
  }
  for (const auto& [waiting, since] : door_) {
    if (waiting != id) continue;
    ++history_.aborted["without a replica"];
    served(id).held += now_ - since;
    return;
  }
  if (at_[place] >= 0 && !lost_.empty() && lost_[place] != unset) {
    leave(id, static_cast<std::size_t>(at_[place]));
    break_promise(id);
    ++history_.aborted["on its way to a lost replica"];
    return;
  }
  if (at_[place] < 0) return;  // it came too late
  leave(id, static_cast<std::size_t>(at_[place]));
  break_promise(id);
  ++history_.aborted[take_back(id)];
}

/// What its client has seen.
void NaiveCluster::note_abort(int id) {
  Served& s = served(id);
  history_.ends.push_back(id);
  s.aborted = now_;
  s.last = unset;
  if (s.first > now_) s.first = unset;
  s.replica = at_[static_cast<std::size_t>(id)];
  if (s.replica < 0) return;
  const NaiveRequest& r = engines_[static_cast<std::size_t>(s.replica)]->request(id);
  s.preemptions += r.preemptions;
  if (s.scheduled == unset) s.scheduled = r.scheduled;
  if (s.prefill_replica < 0) s.cached = r.first_hit;
}

bool NaiveCluster::has_row_in_flight(int id, std::size_t i) const {
  return std::any_of(planned_[i].begin(), planned_[i].end(), [id](const StepLog& step) {
    return std::any_of(step.rows.begin(), step.rows.end(),
                       [id](const Row& row) { return row.id == id; });
  });
}

/// @returns where it was
std::string NaiveCluster::take_back(int id) {
  const auto i = static_cast<std::size_t>(at_[static_cast<std::size_t>(id)]);
  const Split& split = split_[static_cast<std::size_t>(id)];
  if (split.flows > 0 && split.computed) return "KV on its way";
  NaiveReplica& engine = *engines_[i];
  if (engine.request(id).loads) return "its load on its way";
  const Phase phase = engine.request(id).phase;
  const bool landed_kv = engine.request(id).landed_kv, rows = has_row_in_flight(id, i);
  const bool coming = coming_[i].remove(id) || leave_queue(id);
  const bool kept = split.kept;
  const bool waits = phase == Phase::waiting;
  const bool is_seated = !coming && !waits && phase != Phase::pending;
  if (is_seated && rows && running_[i]) {
    leave_[i].push_back(id);
    return phase == Phase::prefilling ? "prompt in flight" : "token in flight";
  }
  touched_[i] = true;
  if (split.flows > 0) {
    engine.leave_with_blocks(id);
    return "a part of its KV on its way";
  }
  if (!coming) engine.leave(id);
  cancel(id);
  if (kept) {
    const auto prefill = static_cast<std::size_t>(served(id).prefill_replica);
    engines_[prefill]->release_kept(id);
    split_[static_cast<std::size_t>(id)].kept = false;
    leave(id, prefill);
    touched_[prefill] = true;
    return "waits for room";
  }
  if (coming) return "coming";
  if (landed_kv) return "KV is here";
  if (waits) return rows ? "waits, token in flight" : "waits";
  return is_seated ? "seated" : "no seat, token in flight";
}

/// The rows of the step that land.
Rows NaiveCluster::without_aborted(StepLog& step) {
  Rows landing;
  for (Row& row : step.rows) {
    if (!is_aborted(row.id)) {
      landing.push_back(row);
      continue;
    }
    if (!row.prefill) ++history_.discarded;
    if (row.prefill) row.samples = false;
  }
  return landing;
}

void NaiveCluster::leave_seats(std::size_t i) {
  for (const int id : std::exchange(leave_[i], {})) {
    if (split_[static_cast<std::size_t>(id)].flows > 0) {
      ++history_.aborted["a part of its KV on its way"];
      engines_[i]->leave_with_blocks(id);
      continue;
    }
    engines_[i]->leave(id);
    cancel(id);
  }
}

}  // namespace rooflua::reference
