// Autoscalers: what is recorded for them of their pools, and when they are asked.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua {

namespace {
constexpr Picoseconds second = 1'000'000'000'000;
constexpr std::int32_t most_idle_asks = 100'000;  // without a request that came or ended
}  // namespace

void FleetPart::set_autoscalers(const std::vector<AutoscalerPolicy*>& autoscalers) {
  core_.bindings.autoscalers = autoscalers;
  bind_autoscalers();
}

/// Pools whose autoscaler is there are recorded, and it is asked first when its interval is over.
void FleetPart::bind_autoscalers() {
  const std::vector<AutoscalerPolicy*>& all = core_.bindings.autoscalers;
  for (std::size_t p = 0; p < fleet_.pools.size(); ++p) {
    AutoscalerPolicy* policy = p < all.size() ? all[p] : nullptr;
    Fleet::Pool& pool = fleet_.pools[p];
    if (policy == nullptr || pool.is_scaled) continue;
    pool.is_scaled = true;
    pool.record = PoolRecord(policy->window_s());
    pool.ask_at = after(core_.now, policy->interval_s(), "autoscaler: interval_s");
    fleet_.scale_due = std::min(fleet_.scale_due, pool.ask_at);
    fleet_.sample_at = std::min(fleet_.sample_at, core_.now);
  }
  loop_.due_changed();
}

Fleet::Pool* FleetPart::recorded_pool_of(std::int32_t replica) {
  if (fleet_.sample_at == never || replica < 0) return nullptr;
  const std::int32_t engine = core_.engine_of(replica);
  const std::int32_t pool = fleet_.engine(engine).pool;
  if (pool < 0) return nullptr;
  Fleet::Pool& own = fleet_.pools[static_cast<std::size_t>(pool)];
  return own.is_scaled ? &own : nullptr;
}

/// The state since the last instant is the state at every second up to `time`.
void FleetPart::sample_until(Picoseconds time) {
  Picoseconds& at = fleet_.sample_at;
  for (Fleet::Pool& pool : fleet_.pools) {
    if (!pool.is_scaled) continue;
    const Looked looked = look_at(pool);
    const auto kept = static_cast<Picoseconds>(pool.window_seconds()) * second;
    for (Picoseconds tick = std::max(at, (time / second) * second - kept); tick <= time;
         tick += second)
      note(pool, tick, looked);
  }
  at = (time / second + 1) * second;
}

FleetPart::Looked FleetPart::look_at(const Fleet::Pool& pool) const {
  Looked out;
  for (const std::int32_t engine : pool.engines) {
    if (!fleet_.runs(engine)) continue;
    for (const std::int32_t member : group(engine).members) {
      const Replica& replica = core_.at(member);
      const ReplicaView& view = replica.view();
      ++out.replicas;
      out.waiting += replica.queued();
      out.running += view.seats;
      out.kv += static_cast<double>(replica.kv().used_blocks()) / view.total_blocks;
      out.busy += replica.pipeline().executing();
    }
  }
  return out;
}

/// Requests in front of the pools: they wait for a replica, or a gate holds them.
std::int32_t FleetPart::held() const {
  const auto waiting = static_cast<std::int32_t>(fleet_.door.size());
  return waiting + core_.held;
}

void FleetPart::note(Fleet::Pool& pool, Picoseconds tick, const Looked& looked) {
  pool.record.pass(tick);
  pool.record.look(PoolSeries::held, held());
  pool.record.look(PoolSeries::waiting, looked.waiting);
  pool.record.look(PoolSeries::running, looked.running);
  if (looked.replicas == 0) return;
  pool.record.look(PoolSeries::kv_used_frac, looked.kv / looked.replicas);
  pool.record.look(PoolSeries::busy, looked.busy / static_cast<double>(looked.replicas));
}

void FleetPart::note_arrival(std::int32_t slot, std::int32_t replica) {
  Fleet::Pool* pool = recorded_pool_of(replica);
  if (pool == nullptr || fleet_.leaves_door) return;
  pool->record.pass(core_.now);
  pool->record.add(PoolSeries::arrivals, 1);
  pool->record.add(PoolSeries::prompt_tokens, core_.requests[slot].prompt_tokens);
}

/// Requests that wait for a replica have come to every pool that could have them.
void FleetPart::note_waiting(std::int32_t slot) {
  for (const Fleet::Pool& pool : fleet_.pools)
    if (!core_.is_decoder(pool.config.first)) note_arrival(slot, pool.config.first);
}

void FleetPart::note_end(const RequestDone& done) {
  if (done.outcome == Outcome::refused && done.replica < 0) {
    for (const Fleet::Pool& pool : fleet_.pools) {
      if (Fleet::Pool* own = recorded_pool_of(pool.config.first)) {
        own->record.pass(core_.now);
        own->record.add(PoolSeries::refused, 1);
      }
    }
  }
  if (done.prefill_replica >= 0 && done.prefill_replica != done.replica)
    note_end_at(done, done.prefill_replica);
  note_end_at(done, done.replica);
}

void FleetPart::note_end_at(const RequestDone& done, std::int32_t replica) {
  Fleet::Pool* pool = recorded_pool_of(replica);
  if (pool == nullptr) return;
  PoolRecord& record = pool->record;
  record.pass(core_.now);
  record.add(PoolSeries::output_tokens, done.output_tokens);
  record.add(PoolSeries::cached_tokens, done.cached_tokens);
  if (done.scheduled != never)
    record.add(PoolSeries::queue_s, seconds(done.scheduled - done.arrival));
  if (done.first_token != never)
    record.add(PoolSeries::ttft_s, seconds(done.first_token - done.arrival));
  if (done.outcome != Outcome::completed) return;
  record.add(PoolSeries::completed, 1);
  record.add(PoolSeries::e2e_s, seconds(done.last_token - done.arrival));
  if (done.output_tokens > 1)
    record.add(PoolSeries::itl_s,
               seconds(done.last_token - done.first_token) / (done.output_tokens - 1));
}

void FleetPart::ask_autoscalers() {
  const std::int64_t events = core_.totals.arrived + core_.totals.steps;
  fleet_.idle_asks = events == fleet_.events_seen ? fleet_.idle_asks + 1 : 0;
  fleet_.events_seen = events;
  fleet_.scale_due = never;
  for (std::size_t p = 0; p < fleet_.pools.size(); ++p) {
    Fleet::Pool& pool = fleet_.pools[p];
    if (!pool.is_scaled || fleet_.idle_asks > most_idle_asks) continue;
    if (pool.ask_at <= core_.now) ask(static_cast<std::int32_t>(p));
    fleet_.scale_due = std::min(fleet_.scale_due, pool.ask_at);
  }
  loop_.due_changed();
}

PoolMember FleetPart::member_of(std::int32_t engine) const {
  PoolMember out;
  out.replica = group(engine).members.front();
  double kv = 0;
  for (const std::int32_t index : group(engine).members) {
    const Replica& replica = core_.at(index);
    out.waiting += replica.queued();
    out.running += replica.view().seats;
    out.outstanding += core_.signals.outstanding(index);
    out.waiting_tokens += replica.queued_tokens();
    kv += static_cast<double>(replica.kv().used_blocks()) / replica.view().total_blocks;
  }
  out.kv_used_frac = kv / static_cast<double>(group(engine).members.size());
  return out;
}

PoolView FleetPart::view_of(std::int32_t index, std::vector<PoolMember>& members) {
  Fleet::Pool& pool = fleet_.pools[static_cast<std::size_t>(index)];
  pool.record.pass(core_.now);
  const Fleet::Counts counts = fleet_.counts(pool);
  members.clear();
  for (const std::int32_t engine : pool.engines)
    if (fleet_.takes_requests(engine)) members.push_back(member_of(engine));
  PoolView view;
  view.now_s = seconds(core_.now);
  view.pool = index;
  view.ready = counts.ready;
  view.starting = counts.starting;
  view.draining = counts.draining;
  view.failed = counts.failed;
  view.min = pool.config.min;
  view.max = pool.config.max;
  view.wanted = pool.wanted;
  view.held = held();
  view.history = &pool.record;
  view.members = members;
  return view;
}

void FleetPart::ask(std::int32_t index) {
  Fleet::Pool& pool = fleet_.pools[static_cast<std::size_t>(index)];
  AutoscalerPolicy& policy = *core_.bindings.autoscalers[static_cast<std::size_t>(index)];
  pool.ask_at = after(core_.now, policy.interval_s(), "autoscaler: interval_s");
  std::vector<PoolMember> members;
  const PoolView view = view_of(index, members);
  pool.wanted = std::clamp(policy.scale(view), pool.config.min, pool.config.max);
  for (Observer* observer : core_.bindings.observers)
    observer->on_scale(
        {index, core_.now, pool.wanted, view.ready, view.starting, view.draining, view.failed});
  adjust(index);
  loop_.due_changed();
}

/// Which ready engine the policy of its pool lets go; -1: it does not say.
std::int32_t FleetPart::chosen_to_drain(const Fleet::Pool& pool) {
  if (!pool.is_scaled) return -1;
  const auto index = static_cast<std::int32_t>(&pool - fleet_.pools.data());
  std::vector<PoolMember> members;
  const PoolView view = view_of(index, members);
  if (members.empty()) return -1;
  const std::int32_t place =
      core_.bindings.autoscalers[static_cast<std::size_t>(index)]->drain(view, members);
  if (place < 0) return -1;
  if (place >= static_cast<std::int32_t>(members.size()))
    throw Error("autoscaler", "drain: found place " + std::to_string(place + 1) + " of " +
                                  std::to_string(members.size()));
  return core_.engine_of(members[static_cast<std::size_t>(place)].replica);
}

}  // namespace rooflua
