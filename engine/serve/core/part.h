#pragma once
// A part of a run is a guest of the loop: a gate, experts that move, ... It owns its state, and
// hears of the loop what it asks to hear. Which parts there are, and in which order each of these
// functions is called on them: parts/list.h.
//
// A part is a Part and those of OnTime, OnSpec, OnRequest, OnStep, OnFlow and OnKv that it needs.
// A function that a part leaves out does nothing.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/observer.h"
#include "serve/contract/policy.h"
#include "serve/core/core.h"

namespace rooflua {

class OnFlow;
class OnKv;
class OnTime;
class Part;

/// What only the loop does. Parts are given it, and own nothing of it.
class Loop : public RouteSource {
 public:
  /// A request of the workload gets a slot; it is sent: it has an id, and observers hear of it.
  virtual std::int32_t open(const RequestSpec& spec) = 0;
  virtual void begin(std::int32_t slot) = 0;
  /// A request that was sent goes to its router, if no part takes it first.
  virtual void route(std::int32_t slot) = 0;
  /// The end of a request that is not aborted.
  virtual void finish(std::int32_t slot, Outcome outcome) = 0;
  /// The KV of a request that was aborted is there: its blocks are free. @pre Core::has_left(slot)
  virtual void refuse_kv(std::int32_t slot) = 0;
  /// @pre ends_early(outcome), Core::is_live(slot)
  virtual void abort(std::int32_t slot, Outcome outcome) = 0;
  /// A request is no longer at that replica, as its router counts.
  virtual void leave_replica(std::int32_t slot, std::int32_t replica) = 0;
  /// Into the queue of the replica.
  virtual void enter(std::int32_t slot, Replica& replica) = 0;
  /// Seats that requests have left are free, as if the step had landed.
  virtual void free_left_seats(std::int32_t replica) = 0;
  /// The replica has nothing cached, as its router knows.
  virtual void forget_content(std::int32_t replica) = 0;
  /// Requests of Core::sent_now are sent.
  virtual void send_follow_ups() = 0;
  /// OnTime::due() of some part may be earlier than it was.
  virtual void due_changed() = 0;
  /// Whether nothing of anything else is due at this instant, as far as it has not been done.
  virtual bool is_alone(const OnTime& part) = 0;
  /// The part of that name, which a run gets now if it has had none.
  virtual Part& part(std::string_view name) = 0;
  virtual std::span<OnFlow* const> on_flow() = 0;
  virtual std::span<OnKv* const> on_kv() = 0;

  // --- ways of a request to a replica

  /// The replica that the router chooses; or Router::refused.
  virtual std::int32_t choose(std::int32_t slot, Stage stage) = 0;
  /// To a replica where it is not outstanding yet; to one where it is.
  virtual void queue(std::int32_t slot, std::int32_t replica) = 0;
  virtual void join(std::int32_t slot, std::int32_t replica) = 0;
  virtual void count_outstanding(std::int32_t slot, std::int32_t replica) = 0;
  /// The decode replica computes the prompt itself.
  virtual void computes_itself(std::int32_t slot, std::int32_t replica) = 0;
  /// No replica knows the request any more.
  virtual void free_slot(std::int32_t slot) = 0;
};

class Part {
 public:
  virtual ~Part() = default;
  /// The same state, for a copy of the simulation.
  virtual std::unique_ptr<Part> copy(Core& core, Loop& loop) const = 0;
  /// Core::bindings are others than `before`. @throws Error if they do not go with the state
  virtual void rebind(const Bindings& before) { (void)before; }
  /// Why replicas cannot be simulated apart from each other, as a sentence without its end; empty:
  /// they can.
  virtual std::string obstacle() const = 0;
  /// What the part knows for a router that asks; nothing: it does not know such a fact.
  virtual std::optional<double> fact(std::int32_t slot, std::int32_t replica,
                                     RouterFact what) const {
    return (void)slot, (void)replica, (void)what, std::nullopt;
  }
};

/// The names of the parts that such a run has, besides those that have settings in
/// ClusterConfig::asked.
std::vector<std::string_view> parts_of(const ClusterConfig& config, const Bindings& bindings);

/// Times within one instant at which parts do what is due (loop/instant.cpp).
enum class Moment {
  before,  // nothing has happened yet: the state since the last instant is the state up to now
  due,     // transfers have ended
  late,    // the workload has done what it had to do
  sent,    // requests of this instant have been sent
  over,    // steps are planned
  stuck,   // nothing will happen any more
  failed,  // and requests at replicas have failed for that
};

class OnTime {
 public:
  virtual ~OnTime() = default;
  /// Nothing is due before. It becomes earlier only where the part calls Loop::due_changed().
  virtual Picoseconds earliest() = 0;
  /// When something is due next. @param other  when anything else is, or 0: that is not asked
  virtual Picoseconds due(Picoseconds other) { return (void)other, earliest(); }
  /// Steps that end before that time may take the short way (loop/instant.cpp).
  virtual Picoseconds next_tick() const { return never; }
  virtual void pass(Moment moment) = 0;
};

class OnSpec {
 public:
  virtual ~OnSpec() = default;
  /// Changes a request of the workload before it has a slot. @param ordinal  of it, from 0
  virtual void drawn(RequestSpec& spec, std::int64_t ordinal) = 0;
};

class OnRequest {
 public:
  virtual ~OnRequest() = default;
  /// It has an id, and observers have heard of it. @param row  of a play; null: of none
  virtual void sent(std::int32_t slot, const RowSent* row) { (void)slot, (void)row; }
  /// Asked on the way to the router. True: the part has the request now, and gives it back by
  /// Loop::route() or ends it; parts after it are not asked.
  virtual bool takes(std::int32_t slot) { return (void)slot, false; }
  /// It is outstanding at a replica, which may run. True: the part has the request now, and gives
  /// it back by Loop::join() or ends it; parts after it are not asked.
  virtual bool reaches(std::int32_t slot, std::int32_t replica) {
    return (void)slot, (void)replica, false;
  }
  /// It counts as outstanding at a replica from now on.
  virtual void outstanding(std::int32_t slot, std::int32_t replica) { (void)slot, (void)replica; }
  /// The router sent it to a replica that may not run.
  virtual void unreachable(std::int32_t slot, std::int32_t replica) { (void)slot, (void)replica; }
  /// It is being aborted.
  virtual void aborting(std::int32_t slot) { (void)slot; }
  /// It is in the queue of a replica.
  virtual void entered(std::int32_t slot) { (void)slot; }
  /// Whether a transfer of the part fills blocks that the request has.
  virtual bool is_filling(std::int32_t slot) const { return (void)slot, false; }
  /// It ends, and is still in its slot; `done` is told to observers afterwards.
  virtual void ended(std::int32_t slot, RequestDone& done) { (void)slot, (void)done; }
  /// It ends and was not aborted.
  virtual void finished(std::int32_t slot) { (void)slot; }
  /// Observers have been told that it ended. True: the workload is not told.
  virtual bool goes_on(const RequestDone& done) { return (void)done, false; }
  /// Writes what the part knows of the request.
  virtual void fills(std::int32_t slot, RequestDone& done) const { (void)slot, (void)done; }
};

class OnStep {
 public:
  virtual ~OnStep() = default;
  /// A replica has made a plan.
  virtual void planned(Replica& replica) { (void)replica; }
  /// The ranks of an engine have planned: writes into their batches, before they are priced.
  virtual void weighs(const RankGroup& group) { (void)group; }
  /// Adds what the step of a rank waits for.
  virtual void waits(Replica& replica, StepPrice& price, std::vector<OpTime>& operations) {
    (void)replica, (void)price, (void)operations;
  }
  /// A step has ended.
  virtual void landed(const StepDone& done) { (void)done; }
  /// The oldest plan of a replica has become the step that runs.
  virtual void started(const Replica& replica) { (void)replica; }
  /// The last token of a request has landed at its replica. True: it goes on elsewhere.
  virtual bool completed(std::int32_t slot, std::int32_t replica) {
    return (void)slot, (void)replica, false;
  }
  /// The plan at hand took its seat.
  virtual void preempted(std::int32_t slot) { (void)slot; }
  /// How many steps of a replica that steps alone are the same for the part, from here on.
  virtual std::int64_t same_for(std::int32_t replica) const {
    return (void)replica, std::numeric_limits<std::int64_t>::max();
  }
  /// One of them was taken the short way: it ended at `end`, with so many tokens.
  virtual void took(std::int32_t replica, Picoseconds end, std::int64_t tokens) {
    (void)replica, (void)end, (void)tokens;
  }
};

/// Transfers over links, and replicas that lose what they have.
class OnFlow {
 public:
  virtual ~OnFlow() = default;
  /// Transfers have begun to move or ended; which of these comes first may be changed.
  virtual void moved(std::vector<FlowEnded>& ended) { (void)ended; }
  /// KV that goes over no links has come.
  virtual void delivered(std::int32_t slot) { (void)slot; }
  /// What observers are told of a transfer of the part that has ended, or has failed. False: it is
  /// none of the part's, or they are told nothing of its end.
  virtual bool describes(const FlowRequest& what, TransferSeen& seen) const {
    return (void)what, (void)seen, false;
  }
  /// What becomes of one that has ended; of one that stood still for too long. False: it is none of
  /// the part's.
  virtual bool arrived(const FlowEnded& flow) { return (void)flow, false; }
  virtual bool failed(const FlowRequest& what) { return (void)what, false; }

  /// What comes for the request comes no longer.
  virtual void stopped(std::int32_t slot) { (void)slot; }
  /// The replica has failed, and its requests have ended.
  virtual void lost(std::int32_t replica) { (void)replica; }
  /// Its caches are empty.
  virtual void emptied(std::int32_t replica) { (void)replica; }
};

/// Prompts that go to two replicas, of which one of them, or the request, ends.
class OnKv {
 public:
  virtual ~OnKv() = default;
  /// Its KV is no longer needed where it was computed. @pre blocks are kept there
  virtual void let_go(std::int32_t slot) = 0;
  /// Reserved blocks at its decode replica are free, where there are some.
  virtual void cancel_reserved(std::int32_t slot) = 0;
  /// A request that is not at its decode replica yet is outstanding there no longer.
  virtual void leave_promise(std::int32_t slot) = 0;
  /// The KV of a request that was aborted while its prompt was computed is there.
  virtual void end_left(std::int32_t slot) = 0;
};

}  // namespace rooflua
