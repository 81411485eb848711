// One request on its way: read from the workload, sent, routed, queued, done.
//
// One may end before its last token: its deadline passes, its client goes away, its replica fails.
//
//   where it is                       what happens
//   in the frontend, held by a part,  gone at once
//   waiting for a rank, on its way
//   into an engine with stages
//   waiting                           it leaves the queue now; its blocks are free now, also those
//                                     that a prefill replica keeps for it
//   seated, and no step under way     its seat and blocks are free now
//   has a row of it
//   seated, and a step has one        its seat and blocks are free when the running step lands, in
//                                     front of the next plan
//   its KV is on its way, also        the blocks on both sides are free when the KV is there
//   that of a part of its prompt
//   it ended at this instant          nothing: its end comes first
//
// The client's end is always now: observers and the workload are told at once, and only once, and
// no token lands any more. Rows in steps under way are computed and discarded, as those after an
// end token. A slot stays taken until no seat and no transfer needs it.
//
// @source vLLM v1/core/sched/scheduler.py (finish_requests; blocks of a request whose KV is on its
// way are freed when it is there), distributed/kv_transfer/kv_connector/v1/nixl (a request that is
// aborted before its KV was asked for frees the blocks at the prefill replica)

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/core/ranks.h"
#include "serve/loop/endings.h"
#include "serve/loop/simulation.h"
#include "serve/loop/workload_calls.h"

namespace rooflua {

namespace {

bool is_seated(Phase phase) {
  return phase != Phase::absent && phase != Phase::pending && phase != Phase::waiting;
}

}  // namespace

std::int32_t Simulation::open(const RequestSpec& given) {
  if (parts_.on_spec.empty()) return core_.open(given);
  RequestSpec spec = given;
  for (OnSpec* part : parts_.on_spec) part->drawn(spec, core_.opened);
  return core_.open(spec);
}

void Simulation::read_ahead() {
  arrivals_.next_open = -1;
  RequestSpec spec;
  if (!arrivals_.more || !(arrivals_.more = core_.bindings.workload->next(spec))) return;
  arrivals_.next_open = open(spec);
  const Picoseconds arrival = core_.progress(arrivals_.next_open).arrival;
  if (arrival < arrivals_.last_open)
    throw Error(
        "workload: request " + std::to_string(core_.opened),
        "arrives at " + std::to_string(seconds(arrival)) + " s, before the one in front of it (" +
            std::to_string(seconds(arrivals_.last_open)) + " s); arrivals must not decrease");
  arrivals_.last_open = arrival;
}

void Simulation::look_at_workload() {
  arrivals_.more = true;
  if (arrivals_.next_open < 0) read_ahead();
  read_due();
}

/// It has an id, and observers hear of it.
void Simulation::begin(std::int32_t slot) {
  Request& request = core_.requests[slot];
  request.id = arrivals_.next_id++;
  ++core_.totals.arrived;
  RowSent row;
  const bool is_row = core_.progress(slot).row >= 0 && tell_row(slot, row);
  core_.tell(&Observer::on_arrival, request, core_.now);
  for (OnRequest* part : parts_.on_request) part->sent(slot, is_row ? &row : nullptr);
}

void Simulation::send(std::int32_t slot) {
  begin(slot);
  const Request& request = core_.requests[slot];
  const Frontend& frontend = core_.config.frontend;
  const double delay_s = frontend.base_s + frontend.per_prompt_token_s * request.prompt_tokens;
  if (delay_s > 0) {
    const Picoseconds out =
        after(core_.now, delay_s, "frontend (base_s + per_prompt_token_s * tokens)");
    core_.post({.time = out, .kind = Delivery::Kind::through_frontend, .slot = slot});
  } else {
    route(slot);
  }
}

/// To the replica that the router chooses, if no part takes the request first.
void Simulation::route(std::int32_t slot) {
  for (OnRequest* part : parts_.on_request)
    if (part->takes(slot)) return;
  const std::int32_t chosen = choose(slot, Stage::prompt);
  if (chosen == Router::refused) return finish(slot, Outcome::refused);
  queue(slot, chosen);
}

std::int32_t Simulation::choose(std::int32_t slot, Stage stage) {
  const bool decodes = stage == Stage::decode;
  const std::vector<std::int32_t>& candidates = core_.candidates_for(stage);
  const Router* router = core_.bindings.router;
  const bool may_refuse = !decodes && router != nullptr && router->may_refuse();
  if (core_.built[decodes ? 1 : 0] == 1 && !may_refuse) return candidates.front();
  RouteView view = core_.route_view(slot, candidates, *this);
  core_.show_signals(view);
  view.decode_stage = decodes ? 1 : 0;
  routing_.ask(slot);
  const std::int32_t chosen = core_.bindings.router->route(core_.requests[slot], view);
  if (chosen == Router::refused && may_refuse) return chosen;
  const bool known = chosen >= 0 && chosen < replica_count();
  if (!known || core_.is_decoder(chosen) != decodes || core_.signals.place_of(chosen) < 0)
    throw Error("router", "route: found replica " + std::to_string(chosen + 1) + " for request " +
                              std::to_string(core_.requests[slot].id) + "; " +
                              std::to_string(candidates.size()) + " of " +
                              std::to_string(replica_count()) + " replicas may take it");
  routing_.note_sent(slot, chosen, stage);
  return chosen;
}

void Simulation::count_outstanding(std::int32_t slot, std::int32_t index) {
  core_.signals.add_outstanding(index, 1);
  for (OnRequest* part : parts_.on_request) part->outstanding(slot, index);
}

void Simulation::queue(std::int32_t slot, std::int32_t index) {
  if (!core_.foreign.empty() && core_.foreign[static_cast<std::size_t>(index)] != 0)
    return core_.requests.close(slot);
  count_outstanding(slot, index);
  if (core_.may_run(index)) {
    for (OnRequest* part : parts_.on_request)
      if (part->reaches(slot, index)) return;
    return join(slot, index);
  }
  for (OnRequest* part : parts_.on_request) part->unreachable(slot, index);
}

/// Into a replica where it is outstanding.
void Simulation::join(std::int32_t slot, std::int32_t index) {
  Replica& replica = core_.at(index);
  const ReplicaConfig& config = replica.config();
  Request& request = core_.requests[slot];
  request.replica = index;
  const std::int32_t room = config.max_model_len.value_or(0) - request.prompt_tokens;
  if (config.max_model_len && room < 1) return finish(slot, Outcome::exceeds_max_model_len);
  if (!replica.could_hold(request.prompt_tokens)) return finish(slot, Outcome::exceeds_kv_cache);
  core_.limit_output(slot, config);
  if (replica.has_stages()) {
    core_.receptions[static_cast<std::size_t>(index)].add(slot, core_.now);
  } else if (Ranks(core_, *this).queue_for(index)) {
    Ranks(core_, *this).add(slot, index);
  } else {
    enter(slot, replica);
  }
  core_.touch(index);
}

/// Into the queue of the engine.
void Simulation::enter(std::int32_t slot, Replica& replica) {
  replica.enqueue(slot, core_.now, core_.scheduler(replica.view().index));
  core_.tell(&Observer::on_queued, core_.requests[slot], core_.now);
  for (OnRequest* part : parts_.on_request) part->entered(slot);
}

/// Every end of a request that is not aborted.
[[gnu::flatten]] void Simulation::finish(std::int32_t slot, Outcome outcome) {
  if (core_.progress(slot).kept_blocks > 0)
    for (OnKv* part : parts_.on_kv) part->let_go(slot);
  RequestDone done = describe(core_, parts_, slot, outcome);
  for (OnRequest* part : parts_.on_request) part->ended(slot, done);
  for (OnRequest* part : parts_.on_request) part->finished(slot);
  // No other replica knows the request: it was never in their queues.
  if (done.replica >= 0) core_.at(done.replica).forget(slot);
  if (done.prefill_replica >= 0) core_.at(done.prefill_replica).forget(slot);
  if (done.replica >= 0) leave_replica(slot, done.replica);
  core_.requests.close(slot);
  tell(done);
}

/// An end is told to observers, then to the workload.
void Simulation::tell(const RequestDone& done) {
  ++core_.totals.ended[static_cast<std::size_t>(done.outcome)];
  core_.totals.last_end = std::max(core_.totals.last_end, done.now);
  core_.tell(&Observer::on_done, done);
  for (OnRequest* part : parts_.on_request)
    if (part->goes_on(done)) return read_due();
  FollowUpsSent follow_ups(core_, *this, done.now);
  core_.bindings.workload->on_done(done, follow_ups);
  read_due();
}

void Simulation::end_failing(Replica& replica) {
  if (replica.failing().empty()) return;
  const std::vector<Replica::Failing> failing = replica.take_failing();
  for (const Replica::Failing& each : failing) finish(each.slot, each.outcome);
}

// --- ends before the last token

bool Simulation::abort_by_id(std::int32_t id, Outcome outcome) {
  const std::int32_t slot = id < 0 ? -1 : slot_of(id);
  if (slot >= 0) abort(slot, outcome);
  return slot >= 0;
}

void Simulation::abort(std::int32_t slot, Outcome outcome) {
  ROOFLUA_ASSERT(ends_early(outcome) && core_.is_live(slot));
  core_.signals.pass_time(core_.now, core_.replicas);
  const std::int32_t index = core_.requests[slot].replica;
  Replica::InFlight in_flight;
  if (index >= 0) in_flight = core_.at(index).in_flight(slot);
  for (OnRequest* part : parts_.on_request) part->aborting(slot);
  RequestDone done = describe_aborted(core_, parts_, slot, outcome, in_flight.tokens);
  for (OnRequest* part : parts_.on_request) part->ended(slot, done);
  if (index >= 0) {
    leave_replica(slot, index);
    for (OnKv* part : parts_.on_kv) part->leave_promise(slot);
    take_back(slot, in_flight);
  } else {
    core_.deliveries.erase_if([slot](const Delivery& each) { return each.slot == slot; });
    core_.requests.close(slot);
  }
  tell(done);
}

/// Requests of which a client's patience or a connection ends now, by id.
void Simulation::end_due() {
  while (!core_.ends.empty() && core_.ends.front().time <= core_.now) {
    const DueEnd end = core_.ends.pop();
    if (core_.is_in_time(end)) continue;
    const Outcome outcome = end.kind == DueEnd::Kind::cancel ? Outcome::cancelled
                            : end.kind == DueEnd::Kind::lost ? Outcome::replica_lost
                                                             : Outcome::timed_out;
    abort(end.slot, outcome);
  }
}

/// Everything of a request that is at a replica, or on its way there, as soon as that may be.
void Simulation::take_back(std::int32_t slot, const Replica::InFlight& in_flight) {
  Replica& replica = core_.at(core_.requests[slot].replica);
  const std::int32_t index = replica.view().index;
  const bool awaits_kv = has_kv_on_its_way(slot);
  const bool seated = is_seated(core_.requests[slot].phase);
  const std::int32_t unknown_tokens = std::max(0, in_flight.tokens - 1);
  replica.discard(slot);
  if (awaits_kv) return core_.left.push_back({slot});
  if (seated && in_flight.any && replica.pipeline().executing())
    return core_.left.push_back({slot, index, unknown_tokens});
  replica.defer_no_longer(slot);
  const bool was_outside = Ranks(core_, *this).leave(slot);
  if (core_.progress(slot).flows > 0) {  // its KV is read
    replica.leave(slot, unknown_tokens, true);
    core_.left.push_back({slot});
    return core_.plan_again(index);
  }
  const bool unreached = core_.requests[slot].phase == Phase::pending && !was_outside &&
                         core_.progress(slot).kept_blocks == 0;
  if (core_.requests[slot].phase != Phase::pending) {
    replica.leave(slot, unknown_tokens);
    core_.tell_blocks(index);
  }
  free_slot(slot);
  if (unreached) return core_.signals.changed(index);  // the connection failed: nothing comes free
  core_.plan_again(index);
}

/// Whether it holds blocks that a transfer fills, from a prefill replica or from a store.
bool Simulation::has_kv_on_its_way(std::int32_t slot) const {
  const Progress& progress = core_.progress(slot);
  bool comes = progress.kept_blocks > 0;
  for (const OnRequest* part : parts_.on_request) comes = comes || part->is_filling(slot);
  return core_.requests[slot].phase == Phase::pending && comes && progress.held_blocks > 0;
}

/// A step of this replica has landed: the seats of requests that were aborted meanwhile are free,
/// in the order in which they were aborted.
void Simulation::free_left_seats(std::int32_t index) {
  const std::size_t freed = std::erase_if(core_.left, [&](Left& each) {
    if (each.replica != index) return false;
    const bool is_read = core_.progress(each.slot).flows > 0;
    core_.at(index).leave(each.slot, each.unknown_tokens, is_read);
    if (is_read) return each.replica = -1, false;
    free_slot(each.slot);
    return true;
  });
  if (freed == 0) return;
  core_.signals.changed(index);
  core_.tell_blocks(index);
}

/// The KV of a request that was aborted is there, and the prefill replica's blocks are free.
void Simulation::refuse_kv(std::int32_t slot) {
  const std::int32_t to = core_.requests[slot].replica;
  std::erase_if(core_.left, [slot](const Left& each) { return each.slot == slot; });
  core_.at(to).refuse_kv(slot);
  core_.tell_blocks(to);
  free_slot(slot);
  core_.plan_again(to);
}

/// No replica knows the request any more.
void Simulation::free_slot(std::int32_t slot) {
  const std::int32_t index = core_.requests[slot].replica;
  const Progress& progress = core_.progress(slot);
  const std::int32_t from = progress.prefill_replica;
  if (progress.kept_blocks > 0) {
    for (OnKv* part : parts_.on_kv) part->let_go(slot);
    core_.plan_again(from);
  }
  for (OnKv* part : parts_.on_kv) part->cancel_reserved(slot);
  core_.at(index).forget(slot);
  if (from >= 0) core_.at(from).forget(slot);
  core_.requests.close(slot);
}

// --- times of the workload

/// What it has to do now, and then requests that are due to end.
void Simulation::ask_workload() {
  if (core_.bindings.workload->due() <= core_.now) {
    WorkloadCalls calls(core_, *this);
    core_.bindings.workload->on_due(core_.now, calls);
  }
  end_due();
  read_due();
}

void Simulation::read_due() {
  core_.workload_due = core_.bindings.workload->due();
  EventHeap<DueEnd>& ends = core_.ends;
  while (!ends.empty() && core_.is_in_time(ends.front())) ends.pop();
  if (!ends.empty()) core_.workload_due = std::min(core_.workload_due, ends.front().time);
}

/// @returns whether it is a row that a play sent at this instant
bool Simulation::tell_row(std::int32_t slot, RowSent& row) {
  for (auto& each : core_.rows_sent) {
    if (each.first != slot) continue;
    row = each.second;
    row.id = core_.requests[slot].id;
    core_.tell(&Observer::on_row, row);
    std::swap(core_.rows_sent.back(), each);
    core_.rows_sent.pop_back();
    return true;
  }
  return false;
}

void Simulation::tell_first_tokens(std::span<const PrefillWork> prefills) {
  for (const PrefillWork& work : prefills) {
    if (work.completes == 0) continue;
    const Progress& progress = core_.progress(work.slot);
    if (progress.first_token != core_.now || progress.row < 0) continue;
    core_.bindings.workload->on_first_token(progress.row, core_.first_token_at_client(work.slot));
  }
  read_due();
}

}  // namespace rooflua
