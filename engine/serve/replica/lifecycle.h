#pragma once
// The life of the engines of a fleet.
//
//     absent -> starting -> ready -> draining -> absent
//     ready | starting | draining -> failed -> starting (repaired)
//
// An engine is a replica, or the ranks of a group, which change together. All engines that a pool
// can have are built at time 0, and keep their indices; one that is absent costs nothing. An engine
// that becomes ready has empty caches.
//
//   starting   provision_s, then image_bytes over links, then weight_bytes over the same links,
//   then
//              init_s; parts that are 0 are left out. Bytes share their links with everybody
//   ready      a candidate of routers
//   draining   no candidate; what becomes of its requests is said by Drain. It is absent when it
//   has
//              no request, no block in use and no step under way
//   failed     has lost everything. Routers may take it for ready until that is detected.
//               It starts again when it is repaired, if it ever is
//
// @source inference-sim/inference-sim sim/cluster (states Scheduling, Loading, WarmingUp, Active,
// Draining, Terminated; drains WAIT, REDIRECT, IMMEDIATE)

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/fault.h"
#include "serve/contract/policy.h"
#include "serve/contract/words.h"
#include "serve/events/event_heap.h"
#include "serve/fleet/series.h"
#include "serve/replica/pool.h"

namespace rooflua {

/// The parts of a start, in their order.
enum class StartPart : std::int32_t { provision, image, weights, init, over };

/// Something in the life of an engine is due. At one instant by engine.
struct LifeAlarm {
  enum class Kind : std::int32_t {
    part_over,
    grace_over,
    repaired,
    speed_over,
    detected,
    link_over
  };
  Picoseconds time = 0;
  std::int32_t engine = 0;  // of speed_over a replica, of link_over a wire
  Kind kind = Kind::part_over;
  std::int64_t ticket = 0;  // it counts only while this is the engine's
  bool later_than(const LifeAlarm& other) const {
    if (time != other.time) return time > other.time;
    if (engine != other.engine) return engine > other.engine;
    return kind != other.kind ? kind > other.kind : ticket > other.ticket;
  }
};

/// Prices of another model, times a factor: what a slow replica takes.
class SlowSteps final : public StepModel {
 public:
  SlowSteps(StepModel& model, double factor) : model_(&model), factor_(factor) {}
  void price(const Batch& batch, StepPrice& price) override;
  void explain(const Batch& batch, PriceDetail detail, StepPrice& price,
               std::vector<OpTime>& operations) override;
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override;

 private:
  void slow(StepPrice& price) const;

  StepModel* model_;
  double factor_;
};

/// The states of all engines, and what is due.
class Fleet {
 public:
  struct Engine {
    Lifecycle state = Lifecycle::ready;
    std::int32_t pool = -1;  // -1: of none, it never drains
    StartPart part = StartPart::over;
    std::int64_t ticket = 0;        // grows with every state and part
    Picoseconds since = 0;          // in this state
    bool will_be_repaired = false;  // of one that failed
    bool is_undetected = false;     // of one that failed: routers believe that it is ready
  };
  struct Pool {
    PoolConfig config;
    std::vector<std::int32_t> engines;  // by first replica
    std::int32_t wanted = 0;
    bool is_scaled = false;  // it has an autoscaler, and is recorded
    PoolRecord record = PoolRecord();
    Picoseconds ask_at = never;
    std::int64_t window_seconds() const { return record.kept_seconds(); }
  };
  struct Slow {
    double factor = 1;
    Picoseconds until = 0;
    std::int64_t ticket = 0;
  };
  struct Waits {  // a request without a replica
    std::int32_t slot = -1;
    Picoseconds since = 0;
  };
  struct Counts {
    std::int32_t ready = 0, starting = 0, draining = 0, failed = 0, absent = 0;
  };

  /// @throws Error naming "pools[2].max" and what would be right
  /// @param members  the replicas of each engine
  Fleet(const std::vector<PoolConfig>& pools,
        const std::vector<std::vector<std::int32_t>>& members);

  std::vector<Engine> engines;  // by group
  std::vector<Pool> pools;
  std::vector<Slow> slow;            // by replica
  std::vector<Slow> wires;           // by wire; none before a link fails
  std::vector<Waits> door;           // for a candidate, in the order they came
  std::vector<std::int32_t> drains;  // engines that drain
  EventHeap<LifeAlarm> due;
  std::optional<Fault> fault;  // that comes next
  Picoseconds fault_time = never;
  Picoseconds scale_due = never;  // when an autoscaler is asked
  Picoseconds sample_at = never;  // when pools are looked at; never: none is recorded
  std::int64_t events_seen = 0;   // when autoscalers were asked last
  bool leaves_door = false;       // requests that were counted when they came
  std::int32_t idle_asks = 0;     // in a row, while nothing happened
  std::int32_t idle_faults = 0;   // the same of faults
  std::int64_t events_at_fault = -1;

  Engine& engine(std::int32_t group) { return engines[static_cast<std::size_t>(group)]; }
  const Engine& engine(std::int32_t group) const {
    return engines[static_cast<std::size_t>(group)];
  }
  bool takes_requests(std::int32_t group) const { return engine(group).state == Lifecycle::ready; }
  /// Whether it may plan steps.
  bool runs(std::int32_t group) const {
    const Lifecycle state = engine(group).state;
    return state == Lifecycle::ready || state == Lifecycle::draining;
  }
  /// Whether it may be ready some day without a decision.
  bool will_come(std::int32_t group) const {
    const Engine& own = engine(group);
    return own.state == Lifecycle::starting ||
           (own.state == Lifecycle::failed && own.will_be_repaired);
  }
  Counts counts(const Pool& pool) const;
  /// The time of what is due next; never: nothing is.
  Picoseconds next() {
    while (!due.empty() && !holds(due.front())) due.pop();
    const Picoseconds other = std::min(fault_time, scale_due);
    return due.empty() ? other : std::min(other, due.front().time);
  }
  /// Whether the alarm still counts.
  bool holds(const LifeAlarm& alarm) const {
    if (alarm.kind == LifeAlarm::Kind::speed_over)
      return slow[static_cast<std::size_t>(alarm.engine)].ticket == alarm.ticket;
    if (alarm.kind == LifeAlarm::Kind::link_over)
      return wires[static_cast<std::size_t>(alarm.engine)].ticket == alarm.ticket;
    return engine(alarm.engine).ticket == alarm.ticket;
  }
};

}  // namespace rooflua
