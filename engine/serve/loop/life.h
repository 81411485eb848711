#pragma once
// Engines of a simulation that come and go (replica/lifecycle.h): what it does at their times.

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/autoscaler.h"
#include "serve/contract/observer.h"
#include "serve/loop/simulation.h"
#include "serve/replica/lifecycle.h"

namespace rooflua {

class Life {
 public:
  explicit Life(Simulation& simulation) : s_(simulation), core_(simulation.core_) {}

  /// The simulation has a fleet from now on, if it had none.
  Fleet& open();
  /// Routers may choose those that are ready.
  void gather_candidates();
  bool helps_somebody();
  /// What is due now.
  void pass();
  /// Asks for the fault that comes next. @pre there are faults
  void ask_faults();
  /// The part of the start of an engine that is under way is over.
  void end_part(std::int32_t engine);
  /// Engines that drain and have nothing left are absent.
  void settle_drains();
  void set_state(std::int32_t engine, Lifecycle state);
  void alarm(std::int32_t engine, LifeAlarm::Kind kind, double after_s);
  /// As many engines start or drain as the pool wants.
  void adjust(std::int32_t pool);
  /// The prices of a replica are those of its step model, or slow ones.
  void set_speed(std::int32_t replica);
  /// All content of its caches is gone. @pre it holds none for a request
  void forget_content(std::int32_t replica);

  // --- links (breaking.cpp)

  /// @throws Error if there is no such link
  void check_link(const Fault& fault) const;
  void degrade(const Fault& fault);
  /// Transfers that stood still for too long, of those that ended just now.
  void fail_flows(std::span<const FlowEnded> ended);

  // --- autoscalers (scaling.cpp)

  void bind_autoscalers();
  /// Those whose time has come are asked.
  void ask_autoscalers();
  /// Pools are looked at once a second. To be called before anything happens at `time`.
  void sample_until(Picoseconds time);
  void note_arrival(std::int32_t slot, std::int32_t replica);
  void note_end(const RequestDone& done);

  // --- requests without a replica

  /// Whether the request waits for a replica, or was refused because none will come.
  bool wait_at_door(std::int32_t slot);
  /// It was sent to a replica that has failed: it ends as replica_lost after connect_s.
  void lose_connection(std::int32_t slot, std::int32_t replica);
  /// Those that wait are routed, if a replica is ready.
  void open_door();
  /// Nothing can happen any more: no replica will come for those that wait.
  void close_door() { leave_door(false); }

 private:
  /// A pool at one moment: sums over its replicas that run.
  struct Looked {
    std::int32_t replicas = 0;
    double waiting = 0, running = 0, kv = 0, busy = 0;
  };
  Fleet::Pool* recorded_pool_of(std::int32_t replica);
  Looked look_at(const Fleet::Pool& pool) const;
  void note(Fleet::Pool& pool, Picoseconds tick, const Looked& looked);
  void note_waiting(std::int32_t slot);
  void note_end_at(const RequestDone& done, std::int32_t replica);
  PoolMember member_of(std::int32_t engine) const;
  PoolView view_of(std::int32_t pool, std::vector<PoolMember>& members);
  void ask(std::int32_t pool);
  std::int32_t held() const;
  std::int32_t chosen_to_drain(const Fleet::Pool& pool);

  Fleet& fleet();
  const RankGroup& group(std::int32_t engine) const;
  void come_to_pass(const Fault& fault);
  void set_wires(std::span<const std::int32_t> wires, double factor);
  void tell_failed(const FlowEnded& flow);
  void fail_hand_over(std::int32_t slot);
  void start(std::int32_t engine);
  void begin_part(std::int32_t engine);
  bool send(std::int32_t engine, double bytes);
  void drain(std::int32_t engine);
  void requeue_waiting(std::int32_t replica);
  bool may_go_elsewhere(std::int32_t slot) const;
  void abort_all(std::int32_t replica);
  std::int32_t engine_to_drain(const Fleet::Pool& pool);
  std::int32_t outstanding(std::int32_t engine) const;
  bool is_drained(std::int32_t engine) const;
  void leave_door(bool is_open);
  bool has_candidates() const;
  bool may_have_candidates() const;

  Simulation& s_;
  Core& core_;
};

}  // namespace rooflua
