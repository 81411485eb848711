// The naive cluster: every instant, every replica, every parcel is looked at; the state of all
// replicas is written down after every instant, so that stale signals are looked up, not kept.
//
// At one instant: ends of steps by replica, KV that arrives in the order it was sent, clients that
// wait no longer, requests that leave the frontend in the order they were sent, requests that are
// sent; then the groups of which a replica saw something, by their first replica, plan. Replicas of
// a group plan one after the other, and their steps begin and end together. A replica with stages
// plans as soon as its step has ended, before the next replica's step ends; how requests enter it
// stands in pipeline.h.

#include "tests/reference/naive/cluster.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rooflua::reference {

NaiveCluster::NaiveCluster(const ClusterCase& cluster, Router& router)
    : cluster_(cluster),
      router_(&router),
      staleness_(picoseconds(router.staleness_s(), "staleness")),
      count_(cluster.replicas.size()),
      knowledge_(router.index(), count_) {
  for (std::size_t i = 0; i < count_; ++i) questions_.push_back(of_replica(cluster, i));
  for (std::size_t i = 0; i < count_; ++i) {
    schedulers_.push_back(make_scheduler(cluster, i));
    engines_.push_back(
        std::make_unique<NaiveReplica>(questions_[i], *schedulers_[i], cluster.replicas[i].role));
  }
  for (std::size_t i = 0; i < count_; ++i) join_group(i);
  bind_tiers();
  bind_gate();
  planned_.resize(count_);
  running_.assign(count_, false);
  wake_.assign(count_, unset);
  outstanding_.assign(count_, 0);
  sent_.assign(prompts().size(), false);
  over_.assign(prompts().size(), false);
  at_.assign(prompts().size(), -1);
  split_.assign(prompts().size(), {});
  for (const Prompt& prompt : prompts()) {
    history_.requests.push_back({.arrival = prompt.plain.arrival});
    show(prompt);
  }
  find_patience();
  slow_.resize(count_);
  experts_.resize(groups_.size());
  for (std::size_t i = 0; cluster_.adapters.count > 0 && i < count_; ++i)
    adapters_.emplace_back(cluster_.adapters, questions_[i]);
  bind_fleet();
  reports_.resize(count_);
  remember(unset);
}

History NaiveCluster::run() {
  for (std::optional<Ps> next = next_instant(); next; next = next_instant()) {
    touched_.assign(count_, false);
    fleet_moved_ = false;
    const auto events = [&] {
      return history_.steps.size() + passes_ + history_.ends.size();
    };
    const std::size_t before = events();
    const auto known = [&] {
      return std::count(sent_.begin(), sent_.end(), true) +
             std::count(over_.begin(), over_.end(), true);
    };
    const auto known_before = known();
    if (const std::optional<Ps> early = next_abort(); early && *early < *next) {
      now_ = *early;
      abort(cluster_.aborts[aborts_++].id);
    } else {
      now_ = *next;
      for (std::size_t i = 0; i < count_; ++i) land(i);
      deliver_parcels();
      pass_flows();
      pass_lives();
      pass_faults();
      lose_patience();
      expire_late();
      open_door();
      leave_frontend();
      ask_gate();
      ask_autoscalers();
    }
    for (const std::vector<std::size_t>& group : groups_) plan(group);
    settle_drains();
    remember(now_);
    const bool moved = before != events() || known_before != known() || fleet_moved_ ||
                       std::count(touched_.begin(), touched_.end(), true) > 0;
    if (moved) last_event_ = now_;
    if (history_.stands_still) break;
    if (history_.steps.size() > 200000) throw std::runtime_error("no end in sight");
  }
  report();
  return history_;
}

void NaiveCluster::join_group(std::size_t i) {
  const int number = cluster_.replicas[i].group;
  for (std::vector<std::size_t>& group : groups_) {
    if (number < 0 || cluster_.replicas[group.front()].group != number) continue;
    return group.push_back(i);
  }
  groups_.push_back({i});
}

std::optional<Ps> NaiveCluster::next_instant() const {
  std::optional<Ps> next;
  const auto consider = [&](Ps time) {
    if (time != unset && time >= now_ && (!next || time < *next)) next = time;
  };
  for (std::size_t i = 0; i < count_; ++i) {
    if (running_[i]) consider(planned_[i].front().end);
    if (!running_[i] && wake_[i] > now_) consider(wake_[i]);
  }
  for (const Parcel& parcel : parcels_) consider(parcel.arrives);
  consider_gate(consider);
  consider_fleet(consider);
  if (tiers_ && tiers_->next()) consider(*tiers_->next());
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    if (over_[id]) continue;
    if (patience_[id].first > now_) consider(patience_[id].first);
    if (patience_[id].total > now_) consider(patience_[id].total);
  }
  for (std::size_t id = 0; id < prompts().size(); ++id)
    if (!sent_[id]) consider(at_router(id));
  // The frontend counts as an instant too: a request that is sent is seen there.
  for (const Prompt& prompt : prompts())
    if (prompt.plain.arrival > now_) consider(prompt.plain.arrival);
  return next;
}

void NaiveCluster::land(std::size_t i) {
  if (!running_[i] && wake_[i] == now_) touched_[i] = true;
  if (!running_[i] || planned_[i].front().end != now_) return;
  StepLog step = std::move(planned_[i].front());
  planned_[i].pop_front();
  running_[i] = false;
  touched_[i] = true;
  const bool prefills = cluster_.replicas[i].role == Role::prefill;
  const Rows landing = without_aborted(step);
  for (const Row& row : landing) {
    if (!row.samples || prefills) continue;
    Served& s = served(row.id);
    if (row.landed == 0 || s.tokens == prompts()[static_cast<std::size_t>(row.id)].plain.output) {
      ++history_.discarded;
      continue;
    }
    if (s.tokens == 0) s.first = now_ + cluster_.frontend_output_token;
    s.tokens += row.landed;
    s.drafted += row.drafts;
    s.accepted += row.accepted;
    s.last = now_ + cluster_.frontend_output_token;
  }
  for (const Row& row : landing)
    if (row.samples) knowledge_.compute(row.id, static_cast<int>(i));
  store_computed(step.rows, i);
  engines_[i]->update(landing);
  store_filled(landing, i);
  if (prefills && cluster_.pushes_chunks) push(landing, i);
  for (const int id : engines_[i]->ended()) {
    const NaiveRequest& r = engines_[i]->request(id);
    if (!prefills) store_answer(id, i);
    Served& s = served(id);
    s.preemptions += r.preemptions;
    if (s.scheduled == unset) s.scheduled = r.scheduled;
    if (prefills) {
      s.prefill_replica = static_cast<int>(i);
      s.cached = r.first_hit;
      hand_over(id, i);
    } else {
      if (s.prefill_replica < 0) s.cached = r.first_hit;
      s.replica = static_cast<int>(i);
      leave(id, i);
      if (gate_) gate_->end(id, s.tokens);
      over_[static_cast<std::size_t>(id)] = true;
    }
  }
  leave_seats(i);
  reports_[i] = engines_[i]->signals();
  reports_[i].waiting = step.waiting;
  step.replica = static_cast<int>(i);
  history_.steps.push_back(std::move(step));
  if (stages_of(i).several()) plan({i});  // before anything else comes
}

void NaiveCluster::deliver_parcels() {
  std::vector<Parcel> later;
  for (const Parcel& parcel : std::exchange(parcels_, {})) {
    if (parcel.arrives != now_) {
      later.push_back(parcel);
      continue;
    }
    end_parcel(parcel);
  }
  later.insert(later.end(), parcels_.begin(), parcels_.end());
  parcels_ = std::move(later);
}

/// Those with a frontend come before those that are sent now: none is both.
void NaiveCluster::leave_frontend() {
  for (const int id : std::exchange(again_, {}))
    if (!over_[static_cast<std::size_t>(id)]) route(id);
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    if (sent_[id] || at_router(id) != now_ || !has_to_be_sent(id)) continue;
    sent_[id] = true;
    meet_gate(static_cast<int>(id));
  }
}

/// It is sent to that replica: with stages it enters with one of the next plans, else at once.
void NaiveCluster::queue(int id, int to) {
  ++outstanding_[static_cast<std::size_t>(to)];
  if (!may_run(static_cast<std::size_t>(to))) {
    at_[static_cast<std::size_t>(id)] = to;
    lost_[static_cast<std::size_t>(id)] = now_ + std::max<Ps>(1, cluster_.faults.connect);
    return;
  }
  join(id, to);
}

void NaiveCluster::join(int id, int to) {
  const auto i = static_cast<std::size_t>(to);
  at_[static_cast<std::size_t>(id)] = to;
  touched_[i] = true;
  if (stages_of(i).several()) return coming_[i].send(id, now_);
  if (has_common_queue(i)) return without_rank_.push_back(id);
  enter(id, i);
}

void NaiveCluster::enter(int id, std::size_t i) {
  if (served(id).prefill_replica >= 0) return engines_[i]->arrive_without_kv(id);
  engines_[i]->arrive(id);
}

/// Nothing can happen any more, and it is not over: it counts where it is.
void NaiveCluster::starved(int id) {
  Served& s = served(id);
  history_.finished = false;
  if (gate_ && gate_->find(id) != nullptr) s.held = now_ - gate_->find(id)->since;
  for (const auto& [waiting, since] : door_)
    if (waiting == id) s.held += now_ - since;
  if (at_[static_cast<std::size_t>(id)] < 0) {
    s.replica = -1;
    return;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    const NaiveRequest& r = engines_[i]->request(id);
    if (r.phase == Phase::absent || static_cast<int>(i) == s.prefill_replica) continue;
    s.preemptions += r.preemptions;
    if (s.scheduled == unset) s.scheduled = r.scheduled;
    if (s.prefill_replica < 0) s.cached = r.first_hit;
    s.replica = static_cast<int>(i);
  }
}

void NaiveCluster::report() {
  if (tiers_) history_.stores = tiers_->counts();
  for (const int id : std::exchange(without_rank_, {}))
    enter(id, static_cast<std::size_t>(at_[static_cast<std::size_t>(id)]));
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    const int room = cluster_.question.config.max_model_len - prompts()[id].plain.prompt;
    const bool whole = history_.requests[id].tokens >= std::min(prompts()[id].plain.output, room);
    if (!whole && !is_aborted(static_cast<int>(id))) starved(static_cast<int>(id));
    history_.preemptions += history_.requests[id].preemptions;
  }
  for (const auto& engine : engines_) {
    History part;
    part.requests.resize(prompts().size());
    engine->report(part);
    history_.resume_hits += part.resume_hits;
    history_.held_back += part.held_back;
    history_.ended_waiting += part.ended_waiting;
  }
}

History run_naive(const ClusterCase& cluster, Router& router) {
  return NaiveCluster(cluster, router).run();
}

History run_naive(const ClusterCase& cluster) {
  return run_naive(cluster, *make_router(cluster));
}

}  // namespace rooflua::reference
