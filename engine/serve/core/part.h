#pragma once
// A part of a run is a guest of the loop: a gate, experts that move, ... It owns its state, and
// hears of the loop what it asks to hear. Which parts there are, and in which order each of these
// functions is called on them: parts/list.h.
//
// A part is a Part and those of OnTime, OnSpec, OnRequest, OnStep and OnFlow that it
// needs. What a function
// does that a part leaves out: nothing.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/observer.h"
#include "serve/contract/policy.h"
#include "serve/core/core.h"

namespace rooflua {

class OnTime;

/// What only the loop does. Parts are given it, and own nothing of it.
class Loop : public RouteSource, public PairSource {
 public:
  /// A request that was sent goes to its router, if no part takes it first.
  virtual void route(std::int32_t slot) = 0;
  /// The end of a request that is not aborted.
  virtual void finish(std::int32_t slot, Outcome outcome) = 0;
  /// The KV of a request that was aborted is there: its blocks are free. @pre Core::has_left(slot)
  virtual void refuse_kv(std::int32_t slot) = 0;
  /// @pre ends_early(outcome), Core::is_live(slot)
  virtual void abort(std::int32_t slot, Outcome outcome) = 0;
  /// Requests of Core::sent_now are sent.
  virtual void send_follow_ups() = 0;
  /// OnTime::due() of some part may be earlier than it was.
  virtual void due_changed() = 0;
  /// Whether nothing of anything else is due at this instant, as far as it has not been done.
  virtual bool is_alone(const OnTime& part) = 0;
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

/// The names of the parts that such a run has.
std::vector<std::string_view> parts_of(const ClusterConfig& config, const Bindings& bindings);

/// Times within one instant at which parts do what is due (loop/instant.cpp).
enum class Moment {
  before,  // nothing has happened yet: the state since the last instant is the state up to now
  late,    // transfers have ended, and the workload has done what it had to do
  sent,    // requests of this instant have been sent
  over,    // steps are planned
};

class OnTime {
 public:
  virtual ~OnTime() = default;
  /// When something is due next. Between two calls it may become later by itself, and earlier
  /// where the part calls Loop::due_changed().
  virtual Picoseconds due() = 0;
  /// Steps that end before that time may take the short way (loop/plain_step.cpp).
  virtual Picoseconds next_tick() const { return never; }
  virtual void pass(Moment moment) = 0;
  /// Nothing will happen any more: what the part keeps must end.
  virtual void starve() {}
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
  /// It is in the queue of a replica.
  virtual void entered(std::int32_t slot) { (void)slot; }
  /// Whether a transfer of the part fills blocks that the request has.
  virtual bool is_filling(std::int32_t slot) const { return (void)slot, false; }
  /// It ends, and is still in its slot; `done` is told to observers afterwards.
  virtual void ended(std::int32_t slot, RequestDone& done) { (void)slot, (void)done; }
  /// Observers have been told that it ended. True: the workload is not told.
  virtual bool goes_on(const RequestDone& done) { return (void)done, false; }
  /// Writes what the part knows of the request.
  virtual void fills(std::int32_t slot, RequestDone& done) const = 0;
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
  /// The last token of a request has landed at its replica.
  virtual void completed(std::int32_t slot) { (void)slot; }
  /// The plan at hand took its seat.
  virtual void preempted(std::int32_t slot) { (void)slot; }
  /// How many steps of a replica that steps alone are the same for the part, from here on.
  virtual std::int64_t same_for(std::int32_t replica) const {
    return (void)replica, std::numeric_limits<std::int64_t>::max();
  }
  /// So many of them were taken the short way, each with so many tokens.
  virtual void took(std::int32_t replica, std::int64_t steps, std::int64_t tokens) {
    (void)replica, (void)steps, (void)tokens;
  }
};

/// Transfers over links, and replicas that lose what they have.
class OnFlow {
 public:
  virtual ~OnFlow() = default;
  /// Transfers have begun to move or ended; which of these comes first may be changed.
  virtual void moved(std::vector<FlowEnded>& ended) = 0;
  /// A transfer has ended. False: it is none of the part's.
  virtual bool arrived(const FlowEnded& flow) = 0;
  /// One stood still for too long: what is told of it, and then what becomes of it.
  virtual bool describes(const FlowRequest& what, TransferSeen& seen) const = 0;
  virtual bool failed(const FlowRequest& what) = 0;

  /// What comes for the request comes no longer.
  virtual void stopped(std::int32_t slot) = 0;
  /// The replica has failed, and its requests have ended.
  virtual void lost(std::int32_t replica) = 0;
  /// Its caches are empty.
  virtual void emptied(std::int32_t replica) = 0;
};

}  // namespace rooflua
