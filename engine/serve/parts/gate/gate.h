#pragma once
// The state of a gate: requests held, requests that passed and have not ended, the signals that its
// policy sees, and when something of it is due. What happens when stands in part.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/admission.h"
#include "serve/events/event_heap.h"
#include "serve/parts/gate/fair_queue.h"
#include "serve/replica/replica.h"

namespace rooflua {

class RouterSignals;

class Gate {
 public:
  /// @throws Error if a rule is out of bounds
  explicit Gate(const GateRules& rules);

  const GateRules& rules() const { return rules_; }
  /// Rules of another policy. @throws Error if its queue is another one
  void change(const GateRules& rules);

  // --- requests

  const FairQueue& queue() const { return queue_; }
  bool holds(std::int32_t slot) const { return queue_.holds(slot); }
  std::int32_t held() const { return queue_.size(); }
  std::int32_t in_flight() const { return in_flight_; }
  bool has_room(const Request& request) const {
    return queue_.has_room(request.priority, request.prompt_tokens);
  }
  void hold(std::int32_t slot, const Request& request, Picoseconds deadline, Picoseconds now);
  /// No longer held. @returns how long it was
  Picoseconds let_go(std::int32_t slot, const Request& request, Picoseconds now);
  /// It goes to its router.
  void pass(std::int32_t slot, const Request& request, Picoseconds now);
  /// Whether it passed and has not ended.
  bool has_passed(std::int32_t slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < passed_.size() && passed_[place].account.band >= 0;
  }
  /// It was sent to that replica.
  void credit(std::int32_t replica, const Request& request);
  /// It has so many tokens of output so far. @pre it passed
  void serve(std::int32_t slot, std::int32_t output_tokens, Picoseconds now);
  /// Slots of requests that passed and have not ended, where their output counts as it comes.
  std::span<const std::int32_t> counted() const { return counted_; }
  /// A request ended, with so many tokens of output. Nothing happens if it had not passed.
  void end(std::int32_t slot, std::int32_t output_tokens, Picoseconds now);

  // --- what its policy sees

  /// To be called before anything happens at `time`.
  void pass_time(Picoseconds time, const std::vector<Replica>& replicas);
  /// Fills what the view has of the gate itself. `candidates` are the replicas for prompts.
  void show(GateView& view, std::span<const std::int32_t> candidates,
            const std::vector<Replica>& replicas, const RouterSignals& own, Picoseconds now);
  std::span<const GateFlow> flows(Picoseconds now);

  // --- when its policy is asked

  /// How many requests may go now, if any: next() is to be asked. @pre held() > 0
  std::int32_t turns(Picoseconds now) const;
  /// The policy said no; it wants to be asked again at `again`.
  void refused(Picoseconds again) { unseen_ = false, again_ = again; }
  /// It said yes.
  void agreed() { again_ = never; }
  /// Everything of an instant has happened. `moved`: something besides futile asking.
  void end_instant(bool moved, Picoseconds now);
  /// Other replicas may take requests than when its policy was asked, however old signals are.
  void candidates_changed(Picoseconds now);
  /// A request ended, perhaps between two instants.
  void request_ended(Picoseconds now);
  /// When next() must be asked though nothing else happens; never: not at all.
  Picoseconds next_turn() const { return next_turn_; }
  /// Until when several steps of one replica can be taken as one.
  Picoseconds next_tick() const { return staleness_ == 0 ? never : next_signals_; }

  // --- deadlines

  void expect(std::int32_t slot, std::int32_t id, Picoseconds deadline);
  struct Due {
    Picoseconds time = 0;
    std::int32_t id = -1, slot = -1;
    bool later_than(const Due& other) const {
      return time != other.time ? time > other.time : id > other.id;
    }
  };
  Picoseconds next_deadline() const { return due_.empty() ? never : due_.front().time; }
  /// @pre there is one
  const Due& first_due() const { return due_.front(); }
  Due take_due() { return due_.pop(); }

 private:
  struct Passed {
    FairQueue::Account account;
    std::int32_t prompt_tokens = 0, limit_tokens = 0;
    double output_tokens = 0;  // that were counted
    std::int32_t place = -1;   // in counted_
  };
  Passed& passed(std::int32_t slot) { return passed_[static_cast<std::size_t>(slot)]; }
  std::int32_t key_of(const Request& request) const;
  void take(const std::vector<Replica>& replicas);
  Picoseconds turn_behind(Picoseconds now) const;

  GateRules rules_;
  Picoseconds staleness_ = 0, interval_ = 0;
  FairQueue queue_;
  std::vector<Passed> passed_;  // by slot; without an account: it did not pass
  std::vector<std::int32_t> counted_;
  std::int32_t in_flight_ = 0;
  double in_flight_tokens_ = 0;
  std::vector<std::int32_t> held_by_class_;

  std::vector<ReplicaSignals> signals_;
  Picoseconds taken_at_ = 0, next_signals_ = 0;
  std::vector<GateBand> bands_;
  std::vector<GateFlow> flows_;

  bool unseen_ = false;    // what next() reads has changed since it said no
  bool stale_ = false;     // what signals tell may have changed since they were taken
  std::int32_t came_ = 0;  // requests that were held at this instant
  Picoseconds again_ = never, next_turn_ = never;
  EventHeap<Due> due_;
};

}  // namespace rooflua
