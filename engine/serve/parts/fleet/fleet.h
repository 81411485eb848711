#pragma once
// Engines that come and go, and faults (replica/lifecycle.h): what is done at their times.

#include <memory>
#include <span>
#include <vector>

#include "serve/contract/autoscaler.h"
#include "serve/core/part.h"
#include "serve/replica/lifecycle.h"

namespace rooflua {

/// A replica has failed: what is on it, or rests on it, ends.
void lose_replica(Core& core, Loop& loop, std::int32_t replica);

class FleetPart final : public Part, public OnTime, public OnRequest, public OnFlow {
 public:
  FleetPart(Core& core, Loop& loop, const Fleet& fleet);
  const Fleet& fleet() const { return fleet_; }

  // --- from outside, between two instants or where it is time for it

  /// So many engines of a pool are wanted: others start, or some drain.
  void want_engines(std::int32_t pool, std::int32_t engines);
  /// Whatever is on it, or needs it, ends as replica_lost, and its caches are empty. Nothing where
  /// it has failed already or is absent. @param repair_s  until it starts again; infinite: never
  void fail_replica(std::int32_t replica, double repair_s);
  /// Steps that are planned from now on, until that time, take `factor` as long. 1: as usual
  void slow_replica(std::int32_t replica, double factor, Picoseconds until);
  /// One per pool, null where its size is constant; from now on.
  void set_autoscalers(const std::vector<AutoscalerPolicy*>& autoscalers);

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override {
    return std::make_unique<FleetPart>(core, loop, fleet_);
  }
  void rebind(const Bindings& before) override;
  std::string obstacle() const override { return "engines come and go"; }

  Picoseconds earliest() override { return may_open_door() ? core_.now : fleet_.next(); }
  Picoseconds due(Picoseconds other) override;
  Picoseconds next_tick() const override { return fleet_.sample_at; }
  void pass(Moment moment) override;

  bool takes(std::int32_t slot) override { return wait_at_door(slot); }
  void outstanding(std::int32_t slot, std::int32_t replica) override {
    note_arrival(slot, replica);
  }
  void unreachable(std::int32_t slot, std::int32_t replica) override {
    lose_connection(slot, replica);
  }
  void aborting(std::int32_t slot) override;
  void ended(std::int32_t, RequestDone& done) override { note_end(done); }

  bool arrived(const FlowEnded& flow) override;

 private:
  friend std::unique_ptr<Part> make_fleet(Core& core, Loop& loop);

  /// Routers may choose those that are ready.
  void gather_candidates();
  /// What is due now.
  void pass_due();
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

  // --- links (links.cpp)

  /// @throws Error if there is no such link
  void check_link(const Fault& fault) const;
  void degrade(const Fault& fault);

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
  /// Whether some wait that need not: a replica has become ready, or none will.
  bool may_open_door() const;
  /// Nothing can happen any more: no replica will come for those that wait.
  void close_door() { leave_door(false); }

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

  const RankGroup& group(std::int32_t engine) const;
  void come_to_pass(const Fault& fault);
  void set_wires(std::span<const std::int32_t> wires, double factor);
  void start(std::int32_t engine);
  void begin_part(std::int32_t engine);
  bool send(std::int32_t engine, double bytes);
  void drain(std::int32_t engine);
  void requeue_waiting(std::int32_t replica);
  bool may_go_elsewhere(std::int32_t slot) const;
  void abort_all(std::int32_t replica);
  std::int32_t engine_to_drain(const Fleet::Pool& pool);
  std::int32_t outstanding_of(std::int32_t engine) const;
  bool is_drained(std::int32_t engine) const;
  void leave_door(bool is_open);
  bool has_candidates() const;
  bool may_have_candidates() const;
  bool helps_requests();
  void set_speeds();

  Core& core_;
  Loop& loop_;
  Fleet fleet_;
  std::vector<std::unique_ptr<SlowSteps>> slowed_;  // by replica; empty until one is slow
};

/// Of any run: one in which no engine came or went gets it now.
inline FleetPart& fleet_of(Loop& loop) {
  return dynamic_cast<FleetPart&>(loop.part("fleet"));
}

}  // namespace rooflua
