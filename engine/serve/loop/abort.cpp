// A request ends before its last token: its deadline passes, its client goes away, its replica is
// lost.
//
//   where it is                       what happens
//   in the frontend, held by a gate,  gone at once
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

#include "base/error.h"
#include "serve/core/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

bool is_seated(Phase phase) {
  return phase != Phase::absent && phase != Phase::pending && phase != Phase::waiting;
}

}  // namespace

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
  RequestDone done = describe_aborted(slot, outcome, in_flight.tokens);
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

/// What the client got by now. When its last token came is not known.
RequestDone Simulation::describe_aborted(std::int32_t slot, Outcome outcome,
                                         std::int32_t in_flight) const {
  RequestDone done = describe(slot, outcome);
  done.now = core_.now;
  if (done.replica >= 0)
    done.output_tokens =
        emitted_tokens(replica(done.replica).view(), core_.requests[slot]) - in_flight;
  if (done.first_token != never && done.first_token > core_.now) done.first_token = never;
  const bool whole = done.first_token != never || done.computed != never;
  const std::int32_t context =
      whole ? done.prompt_tokens
            : std::min(core_.requests[slot].context_tokens, done.prompt_tokens);
  done.computed_tokens = std::max(0, context - done.cached_tokens);
  done.last_token = never;
  return done;
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

}  // namespace rooflua
