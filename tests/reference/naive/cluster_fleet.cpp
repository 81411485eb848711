// Engines of the naive cluster that come and go. At one instant, after steps that end: parts of
// starts, graces, repairs and detections that are over, by engine. After the requests of an
// instant, autoscalers are asked; after the plans, engines that drain and have nothing left are
// absent.

#include <algorithm>
#include <utility>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

void NaiveCluster::bind_fleet() {
  if (cluster_.faults.list.empty() && cluster_.pools.empty()) return;
  lives_.resize(groups_.size());
  lost_.assign(prompts().size(), unset);
  for (std::size_t p = 0; p < cluster_.pools.size(); ++p) {
    const PoolCase& pool = cluster_.pools[p];
    wanted_.push_back(pool.count);
    ask_at_.push_back(pool.interval);
    int engines = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto first = static_cast<int>(groups_[g].front());
      if (first < pool.first || first >= pool.first + pool.replicas) continue;
      lives_[g].pool = static_cast<int>(p);
      if (engines++ >= pool.count) lives_[g].state = Lifecycle::absent;
    }
  }
}

std::size_t NaiveCluster::engine_of(std::size_t i) const {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (std::count(groups_[g].begin(), groups_[g].end(), i) > 0) return g;
  return 0;
}

bool NaiveCluster::is_candidate(std::size_t i) const {
  if (lives_.empty()) return true;
  const Life& life = lives_[engine_of(i)];
  const bool decodes = cluster_.replicas[i].role == Role::decode;
  return life.state == Lifecycle::ready || (life.believed && !decodes);
}

bool NaiveCluster::may_run(std::size_t i) const {
  if (lives_.empty()) return true;
  const Lifecycle state = lives_[engine_of(i)].state;
  return state == Lifecycle::ready || state == Lifecycle::draining;
}

bool NaiveCluster::has_candidates(bool decode_stage) const {
  for (std::size_t i = 0; i < count_; ++i) {
    const bool decodes = cluster_.replicas[i].role == Role::decode;
    if (decodes == decode_stage && is_candidate(i)) return true;
  }
  return false;
}

/// Whether each kind of replica that a request needs is there, or may be some day.
bool NaiveCluster::may_have_candidates() const {
  bool built[2] = {}, may[2] = {};
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Life& life = lives_[g];
    const int decodes = cluster_.replicas[groups_[g].front()].role == Role::decode ? 1 : 0;
    const bool is_lost = life.state == Lifecycle::failed && life.repaired == unset;
    const bool comes = life.state == Lifecycle::ready || life.state == Lifecycle::starting ||
                       (life.state == Lifecycle::failed && !is_lost);
    built[decodes] = true;
    may[decodes] |= comes || (life.pool >= 0 && !is_lost);
  }
  return (may[0] || !built[0]) && (may[1] || !built[1]);
}

void NaiveCluster::consider_fleet(const std::function<void(Ps)>& consider) const {
  for (std::size_t f = faults_; f < cluster_.faults.list.size(); ++f)
    consider(cluster_.faults.list[f].time);
  for (const Life& each : lives_)
    for (const Ps time : {each.part_over, each.grace_over, each.repaired, each.detected})
      consider(time);
  for (std::size_t id = 0; id < lost_.size(); ++id)
    if (!over_[id]) consider(lost_[id]);
  if (std::count(over_.begin(), over_.end(), false) > 0)
    for (const Ps time : ask_at_) consider(time);
  const bool door_opens = !door_.empty() && (is_open() || !may_have_candidates());
  if (door_opens || !again_.empty()) consider(now_);
}

void NaiveCluster::pass_lives() {
  for (std::size_t engine = 0; engine < lives_.size(); ++engine) {
    Life& life = lives_[engine];
    if (life.part_over == now_) {
      life.part_over = unset;
      ++life.part;
      begin_part(engine);
    }
    if (life.grace_over == now_) {
      life.grace_over = unset;
      for (const std::size_t i : groups_[engine]) abort_all(i);
    }
    if (life.repaired == now_) start(engine);
    if (life.detected == now_) {
      life.detected = unset;
      life.believed = false;
      fleet_moved_ = true;
    }
  }
}

void NaiveCluster::set_state(std::size_t engine, Lifecycle state) {
  Life& life = lives_[engine];
  life = {state, life.pool, life.part, false, now_};
  std::erase(drains_, engine);
  if (state == Lifecycle::draining) drains_.push_back(engine);
  fleet_moved_ = true;
}

void NaiveCluster::start(std::size_t engine) {
  set_state(engine, Lifecycle::starting);
  lives_[engine].part = 0;
  begin_part(engine);
}

void NaiveCluster::begin_part(std::size_t engine) {
  Life& life = lives_[engine];
  for (; life.part < 2; ++life.part) {
    const PoolCase pool =
        life.pool < 0 ? PoolCase() : cluster_.pools[static_cast<std::size_t>(life.pool)];
    const Ps time = life.part == 0 ? pool.provision : pool.init;
    if (time == 0) continue;
    life.part_over = now_ + time;
    return;
  }
  set_state(engine, Lifecycle::ready);
}

// --- how many there are

std::vector<std::size_t> NaiveCluster::engines_of_pool(std::size_t pool) const {
  std::vector<std::size_t> out;
  for (std::size_t g = 0; g < lives_.size(); ++g)
    if (lives_[g].pool == static_cast<int>(pool)) out.push_back(g);
  return out;
}

/// Requests that a gate holds, or that wait for a replica.
int NaiveCluster::held() const {
  const auto at_gate = gate_ ? gate_->held().size() : 0;
  return static_cast<int>(door_.size() + at_gate);
}

PoolLook NaiveCluster::look_at_pool(std::size_t p) const {
  PoolLook out;
  out.now = now_;
  out.pool = static_cast<int>(p);
  out.wanted = wanted_[p];
  out.held = held();
  const std::vector<ReplicaSignals> signals = look();
  for (const std::size_t engine : engines_of_pool(p)) {
    const Lifecycle state = lives_[engine].state;
    out.starting += state == Lifecycle::starting;
    out.draining += state == Lifecycle::draining;
    out.failed += state == Lifecycle::failed;
    if (state != Lifecycle::ready) continue;
    ++out.ready;
    PoolLook::Member member{static_cast<int>(groups_[engine].front()), 0, 0, 0};
    for (const std::size_t i : groups_[engine]) {
      member.waiting += signals[i].waiting;
      member.running += signals[i].running;
      member.outstanding += outstanding_[i];
    }
    out.members.push_back(member);
  }
  return out;
}

void NaiveCluster::ask_autoscalers() {
  history_.stands_still = !ask_at_.empty() && now_ > last_event_ + 100 * longest_interval();
  for (std::size_t p = 0; p < ask_at_.size(); ++p) {
    if (ask_at_[p] != now_) continue;
    const PoolCase& pool = cluster_.pools[p];
    ask_at_[p] = now_ + pool.interval;
    const int wanted = std::clamp(scale(pool, look_at_pool(p)), pool.min, pool.max);
    history_.scaled += wanted != wanted_[p];
    wanted_[p] = wanted;
    adjust(p);
  }
}

Ps NaiveCluster::longest_interval() const {
  Ps longest = 0;
  for (const PoolCase& each : cluster_.pools) longest = std::max(longest, each.interval);
  return longest;
}

void NaiveCluster::adjust(std::size_t p) {
  const std::vector<std::size_t> engines = engines_of_pool(p);
  const auto spare = [&] {
    int present = 0;
    for (const std::size_t engine : engines) {
      const Life& life = lives_[engine];
      present += life.state == Lifecycle::ready || life.state == Lifecycle::starting ||
                 (life.state == Lifecycle::failed && life.repaired != unset);
    }
    return present - wanted_[p];
  };
  for (const std::size_t engine : engines)
    if (spare() < 0 && lives_[engine].state == Lifecycle::absent) start(engine);
  while (spare() > 0) {
    const int engine = engine_to_drain(p);
    if (engine < 0) return;
    const auto place = static_cast<std::size_t>(engine);
    if (lives_[place].state == Lifecycle::ready)
      drain(place);
    else
      set_state(place, Lifecycle::absent);
  }
}

int NaiveCluster::outstanding_at(std::size_t engine) const {
  int sum = 0;
  for (const std::size_t i : groups_[engine]) sum += outstanding_[i];
  return sum;
}

/// One that starts; of those that are ready the one with the fewest requests; the youngest.
bool NaiveCluster::goes_before(std::size_t a, std::size_t b) const {
  const bool starts = lives_[a].state == Lifecycle::starting;
  if (starts != (lives_[b].state == Lifecycle::starting)) return starts;
  if (!starts && outstanding_at(a) != outstanding_at(b))
    return outstanding_at(a) < outstanding_at(b);
  return lives_[a].since != lives_[b].since ? lives_[a].since > lives_[b].since : a > b;
}

int NaiveCluster::engine_to_drain(std::size_t p) const {
  int best = -1;
  bool starts = false;
  for (const std::size_t engine : engines_of_pool(p)) {
    const Lifecycle state = lives_[engine].state;
    starts |= state == Lifecycle::starting;
    if (state != Lifecycle::ready && state != Lifecycle::starting) continue;
    if (best < 0 || goes_before(engine, static_cast<std::size_t>(best)))
      best = static_cast<int>(engine);
  }
  const PoolLook look = look_at_pool(p);
  if (starts || look.members.empty()) return best;
  const int place = drained(cluster_.pools[p], look);
  if (place < 0) return best;
  const int replica = look.members[static_cast<std::size_t>(place)].replica;
  return static_cast<int>(engine_of(static_cast<std::size_t>(replica)));
}

// --- drains

void NaiveCluster::drain(std::size_t engine) {
  set_state(engine, Lifecycle::draining);
  const PoolCase& pool = cluster_.pools[static_cast<std::size_t>(lives_[engine].pool)];
  if (pool.grace > 0) lives_[engine].grace_over = now_ + pool.grace;
  for (const std::size_t i : groups_[engine]) {
    if (pool.drain == Drain::requeue) requeue(i);
    if (pool.drain == Drain::abort) abort_all(i);
  }
}

/// Those that wait there and have not begun are at the router again.
void NaiveCluster::requeue(std::size_t i) {
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    if (over_[id] || at_[id] != static_cast<int>(i)) continue;
    const int number = static_cast<int>(id);
    const NaiveRequest& r = engines_[i]->request(number);
    const bool waits = r.phase == Phase::waiting;
    const bool has_begun = r.preemptions > 0 || !r.blocks.empty() || split_[id].flows > 0 ||
                           served(number).prefill_replica >= 0;
    const bool is_outside = std::count(without_rank_.begin(), without_rank_.end(), number) > 0;
    if (!is_outside && (!waits || has_begun)) continue;
    leave(number, i);
    break_promise(number);
    split_[id] = {};
    if (waits) engines_[i]->leave(number);
    leave_queue(number);
    at_[id] = -1;
    again_.push_back(number);
    ++history_.aborted["elsewhere"];
  }
  touched_[i] = true;
}

void NaiveCluster::abort_all(std::size_t i) {
  for (std::size_t id = 0; id < prompts().size(); ++id) {
    if (over_[id] || at_[id] != static_cast<int>(i)) continue;
    ++history_.aborted["drained"];
    abort(static_cast<int>(id));
  }
}

bool NaiveCluster::is_drained(std::size_t engine) const {
  return std::all_of(groups_[engine].begin(), groups_[engine].end(), [&](std::size_t i) {
    const ReplicaSignals signals = engines_[i]->signals();
    return outstanding_[i] == 0 && planned_[i].empty() &&
           signals.free_blocks == signals.total_blocks;
  });
}

void NaiveCluster::settle_drains() {
  for (const std::size_t engine : std::vector<std::size_t>(drains_)) {
    if (!is_drained(engine)) continue;
    for (const std::size_t i : groups_[engine]) forget_content(i);
    set_state(engine, Lifecycle::absent);
    adjust(static_cast<std::size_t>(lives_[engine].pool));
  }
}

void NaiveCluster::forget_content(std::size_t i) {
  engines_[i]->forget();
  if (!adapters_.empty()) adapters_[i] = AdapterWorker(cluster_.adapters, questions_[i]);
  if (tiers_) tiers_->empty(i);
}

}  // namespace rooflua::reference
