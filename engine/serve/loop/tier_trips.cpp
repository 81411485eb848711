// KV that goes into stores outside the GPUs and comes from them (stores/tiers.h).
//
//   computed   a step lands that computed part of a prompt. The policy says which stores get it.
//              The blocks stay taken until the writes end, even if the request ends before
//   load       a request is admitted whose beginning stores have, and its policy loads it. Blocks
//              are taken, and the request waits aside (or runs layer by layer) until all has come
//
// A request that waits aside does not hold up those after it.
// @source vllm-project/vllm vllm/distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py

#include <algorithm>
#include <utility>

#include "serve/loop/simulation.h"

namespace rooflua {

void Simulation::bind_tiers() {
  if (!tiers_) return;
  tiers_->use(core_.bindings.tiers, core_.bindings.evictions);
  tiers_->watch(core_.kv_links->flows());
  for (Replica& replica : core_.replicas) {
    if (replica.config().role == Role::decode) continue;
    const std::int32_t index = replica.view().index;
    if (tiers_->policy(index) == nullptr)
      throw Error("tiers", "replica " + std::to_string(index + 1) + " has no policy");
    replica.use_tiers(&*tiers_);
  }
}

void Simulation::set_tiers(const Bindings& bindings) {
  core_.bindings.tiers = bindings.tiers;
  core_.bindings.evictions = bindings.evictions;
  bind_tiers();
}

// --- loads

/// What the plan at hand admitted asks the stores for its content, and loads begin.
void Simulation::note_admissions(const Replica& replica) {
  if (replica.tiers() == nullptr) return;
  for (const std::int32_t slot : replica.plan().loading()) load(slot);
  for (const PrefillWork& work : replica.plan().prefills()) {
    if (core_.requests.progress(work.slot).admitted == replica.plan().serial())
      tiers_->ask(work.slot, core_.requests[work.slot], core_.requests.progress(work.slot),
                  core_.now);
  }
}

/// The flows of trips_ begin. `slot`: whose load it is; -1: they are writes.
void Simulation::send_trips(Errand errand, std::int32_t slot) {
  for (Tiers::Trip& trip : trips_) {
    core_.kv_links->flows().start({.path = std::move(trip.path),
                                   .errand = errand,
                                   .ticket = trip.ticket,
                                   .bytes = trip.bytes,
                                   .alpha_s = trip.alpha_s,
                                   .slot = slot,
                                   .from = trip.from,
                                   .to = trip.to},
                                  core_.now);
  }
  core_.expect_flows();
}

void Simulation::load(std::int32_t slot) {
  const Request& request = core_.requests[slot];
  tiers_->ask(slot, request, core_.requests.progress(slot), core_.now);
  trips_.clear();
  tiers_->send_load(slot, request, core_.requests.progress(slot), core_.now, trips_);
  send_trips(Errand::load, slot);
  if (request.phase != Phase::pending) return;
  ring(slot, tiers_->patience_s(slot));
  for (Observer* observer : core_.bindings.observers) observer->on_load(request, core_.now);
  core_.tell_blocks(request.replica);
}

void Simulation::end_load(const FlowEnded& flow) {
  const FlowRequest& what = flow.what;
  const std::int32_t slot = tiers_->slot_of_load(what.ticket);
  const bool is_prefetch = tiers_->is_prefetch(what.ticket);
  for (Observer* observer : core_.bindings.observers)
    observer->on_transfer({is_prefetch ? -1 : tiers_->request_of_load(what.ticket), what.from,
                           what.to, flow.start, flow.end, what.bytes, flow.alone_end, what.path,
                           tiers_->store_of_load(what.ticket), true});
  if (!tiers_->end_trip_of_load(what.ticket, core_.requests, core_.now)) return;
  if (core_.has_left(slot)) return refuse_kv(slot);
  if (core_.requests[slot].phase == Phase::pending) receive_loaded(slot);  // else it runs by layers
}

void Simulation::receive_loaded(std::int32_t slot) {
  const std::int32_t index = core_.requests[slot].replica;
  for (Observer* observer : core_.bindings.observers)
    observer->on_loaded(core_.requests[slot], core_.now);
  core_.at(index).receive(slot, core_.scheduler(index));
  core_.touch(index);
}

/// The policy of a request that waits for its load is asked no longer when this time is over.
void Simulation::ring(std::int32_t slot, double after_s) {
  if (after_s >= TierPolicy::endless_s) return;
  core_.kv_links->flows().start({.path = {},
                                 .errand = Errand::alarm,
                                 .ticket = core_.requests[slot].id,
                                 .alpha_s = after_s,
                                 .slot = slot},
                                core_.now);
  core_.expect_flows();
}

/// What has come of a load stays, and the rest is computed. Requests that wait for a prefetch are
/// asked about again (ask_again()).
void Simulation::lose_patience(const FlowEnded& alarm) {
  const std::int32_t slot = alarm.what.slot;
  if (core_.requests[slot].id != alarm.what.ticket || core_.requests[slot].phase != Phase::pending)
    return;
  if (!tiers_->is_loading(slot) || core_.has_left(slot)) return;
  const std::int32_t lost =
      tiers_->cut_load(slot, core_.requests, core_.now, [this](std::int32_t ticket) {
        return core_.kv_links->flows().stop(Errand::load, ticket, core_.now);
      });
  core_.expect_flows();  // others may be faster now
  core_.requests.progress(slot).remote_tokens -= lost;
  receive_loaded(slot);
}

/// What later stores have of a request that is queued now is brought into the first one.
void Simulation::prefetch_from_stores(std::int32_t slot) {
  const Request& request = core_.requests[slot];
  Replica& replica = core_.at(request.replica);
  if (replica.tiers() == nullptr) return;
  trips_.clear();
  const double patience_s =
      tiers_->prefetch(slot, request, core_.requests.progress(slot), replica.cached_tokens(slot),
                       replica.view().waiting - 1, core_.now, trips_);
  send_trips(Errand::load, slot);
  ring(slot, patience_s);
}

/// Something arrived somewhere: policies that wanted to be asked again are asked at the next plan.
void Simulation::ask_again() {
  for (Replica& replica : core_.replicas) {
    if (!replica.has_deferred()) continue;
    replica.ask_again();
    core_.touch(replica.view().index);
  }
}

/// The step begins when what made room for it is written. Of a step whose requests load layer by
/// layer, the first layer begins when its KV has come, and the last layer's KV comes at the end of
/// the load.
void Simulation::add_tier_waits(Replica& replica, StepPrice& price,
                                std::vector<OpTime>& operations) {
  if (replica.tiers() == nullptr) return;
  const Pipeline& pipeline = replica.pipeline();
  const Picoseconds start =
      pipeline.executing() ? std::max(core_.now, pipeline.front().end) : core_.now;
  const Picoseconds written = tiers_->held_until(replica.view().index);
  const double store_s = seconds(std::max<Picoseconds>(0, written - start));
  const double load_s = load_wait_s(replica, start, price.time_s) - store_s;
  const auto add = [&](const char* name, double wait_s) {
    if (!(wait_s > 0)) return;
    price.time_s += wait_s;
    price.evidence_s[static_cast<int>(Evidence::modelled)] += wait_s;
    if (!operations.empty()) operations.push_back({name, Evidence::modelled, wait_s});
  };
  add("kv_store", store_s);
  add("kv_load", load_s);
}

/// How much longer a step that starts then and computes for `time_s` takes, as its requests load
/// layer by layer.
double Simulation::load_wait_s(const Replica& replica, Picoseconds start, double time_s) const {
  if (tiers_->config().overlap != LoadOverlap::layers) return 0;
  const double layers = tiers_->config().layers;
  double wait_s = 0;
  for (const PrefillWork& work : replica.plan().prefills()) {
    if (!tiers_->is_loading(work.slot)) continue;
    const Picoseconds began = tiers_->loaded(work.slot, core_.requests[work.slot]).start;
    const double load_s = seconds(tiers_->expected_end(work.slot) - began);
    const double late_s = seconds(start - began);
    wait_s =
        std::max({wait_s, load_s / layers - late_s, load_s - late_s - time_s * (1 - 1 / layers)});
  }
  return wait_s;
}

// --- writes

/// What a step computed of prompts, and of answers whose chunks it filled.
void Simulation::store_computed(const StepDone& done) {
  const auto store = [this](std::int32_t slot, std::int32_t id, std::int32_t tokens) {
    const Request& request = core_.requests[slot];
    if (request.id != id || request.phase == Phase::absent) return;
    if (core_.at(request.replica).tiers() == nullptr) return;
    trips_.clear();
    tiers_->store(slot, request, core_.requests.progress(slot), tokens, 0, core_.now, trips_);
    send_writes(slot, false);
  };
  for (const PrefillWork& work : done.prefills)
    store(work.slot, work.id, work.context_tokens + work.new_tokens);
  for (const Filled& each : done.filled) store(each.slot, each.id, each.tokens);
}

/// What a request generated, when it ended (1) or was preempted (2). Chunks that are stored as they
/// are filled are so when the steps under way are over.
void Simulation::store_answer(std::int32_t slot, std::int32_t why) {
  const Request& request = core_.requests[slot];
  Replica& replica = core_.at(request.replica);
  if (replica.tiers() == nullptr || !tiers_->policy(request.replica)->outputs()) return;
  if (request.emitted_tokens < 1) return;
  if (why == 2 && tiers_->policy(request.replica)->as_filled()) return;
  trips_.clear();
  tiers_->store(slot, request, core_.requests.progress(slot),
                request.prompt_tokens + request.emitted_tokens - 1, why, core_.now, trips_);
  send_writes(slot, why == 2);
}

/// The blocks that they read stay taken; a preempted request has none any more. Its writes are
/// flushed before the step begins that may need its blocks.
/// @source vLLM distributed/kv_transfer/kv_connector/v1/offloading/worker.py, handle_preemptions
void Simulation::send_writes(std::int32_t slot, bool flushes) {
  if (trips_.empty()) return;
  for (const Tiers::Trip& trip : trips_) {
    core_.at(trip.from).pin(first_pin + trip.ticket, slot, tiers_->tokens_of_write(trip.ticket));
    if (flushes) tiers_->hold_steps(trip.ticket);
  }
  send_trips(Errand::store, -1);
}

/// What the plan at hand pushed out of the GPU is written, and its step waits for that.
/// @source SGLang srt/mem_cache/hiradix_cache.py (evict, writing_check)
void Simulation::write_back(Replica& replica) {
  if (replica.tiers() == nullptr) return;
  const LostRuns lost = replica.take_lost();
  if (lost.empty()) return;
  trips_.clear();
  for (const LostRun& run : lost)
    tiers_->store_evicted(replica.view().index, run, core_.now, trips_);
  for (const Tiers::Trip& trip : trips_) tiers_->hold_steps(trip.ticket);
  send_trips(Errand::store, -1);
}

void Simulation::end_write(const FlowEnded& flow) {
  const FlowRequest& what = flow.what;
  for (Observer* observer : core_.bindings.observers)
    observer->on_transfer({-1, what.from, what.to, flow.start, flow.end, what.bytes, flow.alone_end,
                           what.path, tiers_->store_of_write(what.ticket), false});
  const std::int32_t from = tiers_->replica_of_write(what.ticket);
  core_.at(from).unpin(first_pin + what.ticket);
  tiers_->end_write(what.ticket, core_.now);
  core_.touch(from);
}

}  // namespace rooflua
