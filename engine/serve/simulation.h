#pragma once
// Requests come, replicas step, requests end. The loop is advance(): one instant of the clock.
//
// At one instant, in this order:
//   1. steps that end now land, by replica index: tokens, finished requests (in admission order),
//      freed blocks; each end is told to observers, then to the workload, which may answer
//   2. KV transfers that complete now, in the order they began: the prefill replica's blocks are
//      free, and the request waits for its seat at the decode replica (kv_transfer.cpp)
//   3. requests that leave the frontend now, in order of sending; then requests that are sent now:
//      those of the workload's stream, then follow-ups in the order they were given
//   4. every replica that saw an event, by index, fills its pipeline:
//        while fewer than async_depth steps are planned:
//          plan; stop if it holds no token; price; commit; start it if no step is running
//          (an empty plan that preempted or rejected is followed by another if nothing is planned)
//      (a running step's successor starts at the instant the step ends, before the next plan is
//      made, so with async_depth 2 plan k+1 is made when step k starts and sees the state after
//      update(k-1): what arrives during step k can run in step k+2 at the earliest; an idle replica
//      plans twice at one instant.) While a step is running, arrivals only queue.
//   5. a replica that preempted 100,000 times without a token that landed: those who have or had a
//      seat there fail: starved
//   6. when nothing is running, sent, transferred or due and requests are left, they fail: starved
// Signals of a router with staleness s are those before the first event at or after k*s.

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "base/error.h"
#include "serve/cluster.h"
#include "serve/observer.h"
#include "serve/policy.h"
#include "serve/replica.h"
#include "serve/workload.h"

namespace rooflua {

/// Who decides and who listens. Nothing is owned; all must outlive the simulation.
struct Bindings {
  std::vector<SchedulerPolicy*> schedulers;  // one per replica
  std::vector<StepModel*> steps;             // one per replica
  Router* router = nullptr;                  // may be null where there is one candidate
  Workload* workload = nullptr;
  std::vector<Observer*> observers;
};

/// Counts so far: requests in = sum over outcomes + alive.
struct Totals {
  std::int64_t arrived = 0;
  std::array<std::int64_t, outcome_count> ended{};  // by Outcome
  std::int64_t plans_asked = 0;                     // times a scheduler was called
  std::int64_t steps = 0;
  std::int64_t preemptions = 0;
  std::int64_t output_tokens = 0;
  Picoseconds last_end = 0;
};

class Simulation final : public RouteSource {
 public:
  /// @throws Error if the configuration is impossible or a binding is missing
  Simulation(const ClusterConfig& config, const Bindings& bindings);
  ~Simulation() override;

  /// One instant. False when everything that could happen has happened.
  bool advance();
  /// Until everything is over, or, between two instants, until `*stop` is not 0.
  void run(const std::atomic<int>* stop = nullptr);
  /// Every instant up to and including time_s; the clock then stands at time_s (unless all is
  /// over, or it was stopped).
  void run_until(double time_s, const std::atomic<int>* stop = nullptr);
  /// Up to and including the next instant at which a step ends; false if there is none.
  bool step();

  double now_s() const { return seconds(now_); }
  Picoseconds now() const { return now_; }
  const Totals& totals() const { return totals_; }
  std::int32_t replica_count() const { return static_cast<std::int32_t>(replicas_.size()); }
  const Replica& replica(std::int32_t index) const {
    ROOFLUA_ASSERT(index >= 0 && index < replica_count());
    return replicas_[static_cast<std::size_t>(index)];
  }
  const Requests& requests() const noexcept override { return requests_; }
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept override;
  /// The live request with this id; -1 if it is not alive. O(alive).
  std::int32_t slot_of(std::int32_t id) const;
  std::int32_t outstanding(std::int32_t replica) const {
    return outstanding_[static_cast<std::size_t>(replica)];
  }
  const ClusterConfig& config() const { return config_; }

  /// Who was sent and has not ended, by id: for the files of a run that was stopped. Their
  /// output_tokens landed or are in flight, and their last_token is not known.
  std::vector<RequestDone> unfinished() const;

  /// From the next plan on, other policies. The scheduler of `replica` is asked at its next plan.
  void set_scheduler(std::int32_t replica, SchedulerPolicy& policy);
  void set_steps(std::int32_t replica, StepModel& model);
  void set_router(Router& router);
  void add_observer(Observer& observer) { bindings_.observers.push_back(&observer); }

  /// An independent copy of the whole state with policies of its own (bindings.workload must be a
  /// fork of this one's). Same policies, same future, byte for byte.
  std::unique_ptr<Simulation> fork(const Bindings& bindings) const;

 private:
  class Inbox;
  struct Delivery {  // something that happens to one request later
    Picoseconds time = 0;
    std::int32_t order = 0;   // at one instant: 0 transfer, 1 out of the frontend, 2 sent
    std::int64_t serial = 0;  // first come first served
    std::int32_t slot = -1;
    std::int32_t from = -1, to = -1;
    bool later_than(const Delivery& other) const;
  };
  struct Alarm {  // end of a step, or a wake time; stale ones are skipped
    Picoseconds time = 0;
    std::int32_t replica = 0;
    bool later_than(const Alarm& other) const;
  };

  Simulation(const Simulation& other);

  Picoseconds next_instant();
  void read_ahead();
  void land_steps();
  void deliver();
  void plan_steps();
  void fill_pipeline(std::int32_t replica);
  void start(Replica& replica);
  void tell_preemptions(Replica& replica);
  void fail_doomed(Replica& replica);
  bool starve();
  void starve_fighters(const Replica& replica);
  template <class LeftBehind>
  void starve_who(LeftBehind left_behind);
  void send(std::int32_t slot);
  void route(std::int32_t slot, std::int32_t stage);
  std::int32_t choose(std::int32_t slot, std::int32_t stage);
  void queue(std::int32_t slot, std::int32_t replica);
  void hand_over(std::int32_t slot, std::int32_t from);
  void pull(std::int32_t slot);
  void let_go(std::int32_t slot);
  void tell_blocks(std::int32_t replica);
  void arrive(const Delivery& delivery);
  void finish(std::int32_t slot, Outcome outcome);
  RequestDone describe(std::int32_t slot, Outcome outcome) const;
  void post(Delivery delivery);
  bool alarm_holds(const Alarm& alarm) const;
  void touch(std::int32_t replica);
  void take_signals(Picoseconds time);
  const ReplicaSignals* fresh_signals();
  void bind_router();
  Replica& at(std::int32_t index) { return replicas_[static_cast<std::size_t>(index)]; }

  ClusterConfig config_;
  Bindings bindings_;
  Requests requests_;
  std::vector<Replica> replicas_;
  Picoseconds now_ = 0;
  std::int64_t ordinal_ = 0;  // requests read, for messages
  std::int32_t next_id_ = 0;
  std::int64_t serial_ = 0;
  Picoseconds last_open_ = 0;
  std::int32_t next_open_ = -1;  // slot of the workload's next request
  bool more_ = true;
  std::vector<Delivery> deliveries_;  // heap
  std::vector<Alarm> alarms_;         // heap
  std::vector<std::int32_t> touched_;
  std::vector<char> is_touched_;
  std::vector<std::int32_t> outstanding_;
  std::vector<std::int32_t> open_candidates_, decode_candidates_;
  std::vector<ReplicaSignals> signals_;
  Picoseconds signals_at_ = 0, signals_next_ = 0, staleness_ = 0;
  Picoseconds frontend_token_ = 0;
  std::vector<Picoseconds> gaps_;
  std::vector<std::int32_t> finishing_;
  std::int64_t idle_asks_ = 0;
  std::vector<std::int64_t> fruitless_;  // per replica: preemptions since a token landed there
  Totals totals_;
};

/// The whole run at once.
Totals simulate(const ClusterConfig& config, const Bindings& bindings);

}  // namespace rooflua
