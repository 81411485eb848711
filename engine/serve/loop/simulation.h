#pragma once
// Requests come, replicas step, requests end. The loop is advance(): one instant of the clock.
// What happens at one instant, and in which order: instant.cpp. What only some runs have are parts
// (core/part.h); engines that come and go, faults and split prompts are none yet.
// The functions of Simulation by subject: simulation.cpp, instant.cpp (the loop), group_step.cpp
// (plans and prices), intake.cpp (a request from sent to done), workload_times.cpp, routing.cpp,
// ranks.cpp, handover.cpp, pushing.cpp and splitting.cpp (prompts that go to two replicas),
// abort.cpp, lifecycle.cpp (engines), breaking.cpp and losing.cpp (faults), starvation.cpp,
// plain_step.cpp, repeated_steps.cpp, prefetch.cpp, sharing.cpp.

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "serve/core/core.h"
#include "serve/core/part.h"
#include "serve/lanes/reception.h"
#include "serve/loop/hand_over.h"
#include "serve/parts/list.h"
#include "serve/replica/lifecycle.h"
#include "serve/routing/knowledge.h"
#include "serve/routing/prefix_holders.h"

namespace rooflua {

class Simulation final : public Loop {
 public:
  /// @throws Error if the configuration is impossible or a binding is missing
  Simulation(const ClusterConfig& config, const Bindings& bindings);
  ~Simulation() override;

  /// One instant, or several up to `until`, at most so many.
  /// @returns how many; 0: everything that could happen has happened
  std::int64_t advance(std::int64_t most = 1, Picoseconds until = never);
  static constexpr std::int64_t all = INT64_MAX;
  /// Until everything is over, or, between two instants, until `*stop` is not 0 or `instants` have
  /// passed. False: they have passed, and it may go on.
  bool run(const std::atomic<int>* stop = nullptr, std::int64_t instants = all);
  /// Every instant up to and including time_s, where the clock then stands (unless all is over, or
  /// it was stopped). Returns as run() does.
  bool run_until(double time_s, const std::atomic<int>* stop = nullptr,
                 std::int64_t instants = all);
  /// Up to and including the next instant at which a step ends; false if there is none.
  bool step();

  /// When something happens next; `never`: nothing will. Between two instants.
  Picoseconds next_time() { return next_instant(); }
  /// The workload has new requests or times: it is asked again. Between two instants; no arrival
  /// lies before now().
  void look_at_workload();

  double now_s() const { return seconds(core_.now); }
  Picoseconds now() const { return core_.now; }
  const Totals& totals() const { return core_.totals; }
  std::int32_t replica_count() const { return core_.replica_count(); }
  const Replica& replica(std::int32_t index) const {
    ROOFLUA_ASSERT(index >= 0 && index < replica_count());
    return core_.at(index);
  }
  const Requests& requests() const noexcept override { return core_.requests; }
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept override;
  std::int32_t least_outstanding(const RouteView& view) const noexcept override {
    return core_.signals.least_outstanding(view.decode_stage != 0);
  }
  std::span<const std::int32_t> prefix_holders(const RouteView& view) const noexcept override;
  std::span<const std::int32_t> sent_holders(const RouteView& view) const noexcept override;
  double fact(const RouteView& view, std::int32_t replica, RouterFact what) const noexcept override;
  PairMember member(const PairView& view, std::int32_t place) const noexcept override;
  /// The live request with this id; -1 if it is not alive. O(alive).
  std::int32_t slot_of(std::int32_t id) const;
  std::int32_t outstanding(std::int32_t replica) const {
    return core_.signals.outstanding(replica);
  }
  const ClusterConfig& config() const { return core_.config; }
  const Parts& parts() const { return parts_; }

  /// Requests that were sent and have not ended, by id: for the files of a run that was stopped.
  /// Their output_tokens landed or are in flight, and their last_token is not known.
  std::vector<RequestDone> unfinished() const;

  /// Ends a request before its last token (abort.cpp): told now, with the tokens that landed so
  /// far.
  /// @param outcome  one for which ends_early() holds
  /// @pre is_live(slot). Not from a policy, an observer or the workload, but where it is
  /// its time (Client::cancel).
  void abort(std::int32_t slot, Outcome outcome) override;
  /// The same of the request with this id. False: it is not alive, and nothing happens.
  bool abort_by_id(std::int32_t id, Outcome outcome);
  /// Whether a request is in this slot that was sent and not told done.
  bool is_live(std::int32_t slot) const { return core_.is_live(slot); }

  // --- the life of replicas (replica/lifecycle.h); ranks of a group share it. Between two
  // instants, or where it is time for it

  Lifecycle lifecycle(std::int32_t replica) const;
  /// So many engines of a pool are wanted: others start, or some drain.
  void want_engines(std::int32_t pool, std::int32_t engines);
  /// Whatever is on it, or needs it, ends as replica_lost, and its caches are empty. Nothing where
  /// it has failed already or is absent. @param repair_s  until it starts again; infinite: never
  void fail_replica(std::int32_t replica, double repair_s);
  /// Steps that are planned from now on, until that time, take `factor` as long. 1: as usual
  void slow_replica(std::int32_t replica, double factor, Picoseconds until);
  /// One per pool, null where its size is constant; from now on.
  void set_autoscalers(const std::vector<AutoscalerPolicy*>& autoscalers);
  /// Null: no engine ever came or went.
  const Fleet* fleet() const { return fleet_ ? &*fleet_ : nullptr; }

  /// From the next plan on, other policies. The scheduler of `replica` is asked at its next plan.
  void set_scheduler(std::int32_t replica, SchedulerPolicy& policy);
  void set_steps(std::int32_t replica, StepModel& model);
  void set_router(Router& router);
  /// From now on `events` has what the caches get and lose. A copy of the simulation reports none.
  /// @pre nothing is cached
  void publish_kv(KvEvents& events);
  /// Other policies around the engines, where there are some: decider, admission, client, faults,
  /// experts, tiers, evictions and autoscalers of `bindings`. @throws Error if the queue of a gate
  /// is another one
  void set_parts(const Bindings& bindings);
  /// Of a replica that speculates. Requests keep the curves that they have.
  void set_speculation(std::int32_t replica, SpeculatorPolicy& speculator,
                       AcceptanceModel& acceptance);
  /// Told from now on, after those before it.
  void add_observer(Observer& observer) {
    core_.bindings.observers.push_back(&observer);
    look_at_observers();
  }

  /// An independent copy with policies of its own (bindings.workload: a fork of this one's). Same
  /// policies, same future, byte for byte.
  std::unique_ptr<Simulation> fork(const Bindings& bindings) const;

 private:
  class FollowUpsSent;
  class ClientNow;
  friend class Life;     // engines that come and go (life.h)
  friend class Sharing;  // a part of the replicas (sharing.h)
  friend class Ranks;    // ranks with one queue (ranks.h)
  class Losing;          // a replica fails (losing.cpp)

  Simulation(const Simulation& other);

  // the loop
  Picoseconds next_instant();
  Picoseconds next_of_parts();
  void land_steps();
  Alarm take_alarm();
  void prefetch_ahead() const;
  void prefetch_prefixes(std::span<const std::int32_t> holders, std::uint64_t hash) const;
  void deliver();
  void plan_steps();
  void fill_pipeline(RankGroup& group);
  void fill_stages(RankGroup& group);
  bool plan_stages(Replica& replica);
  void let_in(Replica& replica);
  void price_stages(Replica& replica);
  bool preempts_in_vain(std::int32_t index) const;
  void look_at_ranks(RankGroup& group);
  std::int32_t plan(Replica& replica);
  void price_and_commit(RankGroup& group);
  void price_alone(Replica& replica);
  void price_together(RankGroup& group);
  StepPrice price(const Batch& batch, std::vector<OpTime>& operations);
  void commit(Replica& replica, const StepPrice& price, std::span<const OpTime> operations);
  void start(const RankGroup& group);
  void wake(const RankGroup& group);
  void tell_preemptions(Replica& replica);
  bool alarm_holds(const Alarm& alarm) const;
  std::int32_t step_plainly();
  std::int64_t repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until);
  void look_at_observers();

  // a request's path
  std::int32_t open(const RequestSpec& given);
  void read_ahead();
  void begin(std::int32_t slot);
  void send(std::int32_t slot);
  void route(std::int32_t slot) override;
  void send_follow_ups() override;
  void due_changed() override { next_part_ = 0; }
  bool is_alone(const OnTime& part) override;
  std::int32_t choose(std::int32_t slot, Stage stage);
  void note_sent(std::int32_t slot, std::int32_t replica, Stage stage);
  void note_not_split(std::int32_t slot, std::int32_t to);
  std::int32_t believed_uncached(std::int32_t slot, std::int32_t replica) const;
  void leave_replica(std::int32_t slot, std::int32_t replica);
  void queue(std::int32_t slot, std::int32_t replica);
  void join(std::int32_t slot, std::int32_t replica);
  void limit_output(std::int32_t slot, const ReplicaConfig& config);
  void enter(std::int32_t slot, Replica& replica);
  void finish(std::int32_t slot, Outcome outcome) override;
  void end_failing(Replica& replica);
  RequestDone describe(std::int32_t slot, Outcome outcome) const;
  void tell(const RequestDone& done);

  // times of the workload, and of clients
  void ask_workload();
  void read_due();
  bool tell_row(std::int32_t slot, RowSent& row);
  void end_due();
  void tell_first_tokens(std::span<const PrefillWork> prefills);

  // aborts
  RequestDone describe_aborted(std::int32_t slot, Outcome outcome, std::int32_t in_flight) const;
  void take_back(std::int32_t slot, const Replica::InFlight& in_flight);
  bool has_kv_on_its_way(std::int32_t slot) const;
  void free_left_seats(std::int32_t index);
  void refuse_kv(std::int32_t slot) override;
  void free_slot(std::int32_t slot);

  // KV transfers
  void hand_over(std::int32_t slot, std::int32_t from);
  void end_without_decoder(std::int32_t slot, std::int32_t from);
  void pull(const StepPlan::Pulled& pulled);
  void send_kv(std::int32_t slot, std::int32_t tokens, Picoseconds not_before = 0);
  void let_go(std::int32_t slot);
  void end_flow(std::int32_t slot);
  void arrive(std::int32_t slot);
  void pass_flows();

  // before a prompt is computed (pushing.cpp)
  bool reserve(std::int32_t slot);
  void cancel_reserved(std::int32_t slot);
  void push_computed(std::span<const PrefillWork> prefills);
  void push_layers(const Replica& replica);
  void end_left(std::int32_t slot);

  // which replicas (splitting.cpp)
  HandOver& hand_over_of(std::int32_t slot) { return hand_overs_[static_cast<std::size_t>(slot)]; }
  void begin_hand_over(std::int32_t slot);
  void promise(std::int32_t slot, std::int32_t to);
  void leave_promise(std::int32_t slot);
  void break_promise(std::int32_t slot);
  void route_to_decode(std::int32_t slot);
  bool wants_split(std::int32_t slot, std::int32_t to);
  Picoseconds next_lease();
  void end_leases();

  Picoseconds next_life(Picoseconds other = 0);
  StepModel& steps_of(std::int32_t replica);

  bool starve();
  void starve_contenders(const Replica& replica);
  template <class Picks>
  void starve_where(Picks picks);

  void bind_router();
  void bind_groups();
  void bind_holders();
  void bind_knowledge();
  std::span<const std::int32_t> places_of_known(const RouteView& view) const noexcept;
  void add_place(std::int32_t holder, const RouteView& view) const;
  void bind_speculation();

  Core core_;
  Parts parts_;
  Picoseconds next_part_ = 0;  // nothing of a part is due before; 0: they are asked
  std::vector<char> foreign_;  // by replica: another process simulates it; empty: none does
  std::vector<FlowEnded> flows_ended_;
  bool split_ = false;                            // there are prefill replicas
  std::optional<Fleet> fleet_;                    // where an engine may come or go
  std::vector<std::optional<SlowSteps>> slowed_;  // by replica; empty until one is slow
  std::vector<HandOver> hand_overs_;              // by slot; empty where none are split
  std::deque<Lease> leases_;           // by time; also of prompts that were asked for since
  std::vector<Reception> receptions_;  // by replica; of those with stages

  // the workload
  std::int64_t ordinal_ = 0;  // requests read, for messages
  std::int32_t next_id_ = 0;
  std::int32_t next_open_ = -1;  // slot of the workload's next request
  Picoseconds last_open_ = 0;    // arrival of the request that was read last
  bool more_ = true;             // the workload has more
  bool watches_first_tokens_ = false;

  // routing
  PrefixHolders holders_;
  std::optional<RouterKnowledge> knowledge_;          // where the router keeps any
  std::vector<std::int32_t> of_each_block_size_;      // a replica for each
  mutable std::vector<std::int32_t> holding_places_;  // that were returned last
  // one instant
  std::vector<std::int32_t> entering_, ending_;
  std::vector<Picoseconds> gaps_;
  std::vector<RepeatedStep> repeats_;            // of the replica at hand
  bool unread_prices_ = false;                   // no observer reads prices before their steps end
  std::vector<StepPrice> prices_;                // of the ranks of a group
  std::vector<std::vector<OpTime>> operations_;  // of the same ranks
  std::int64_t idle_asks_ = 0;  // plans of idle replicas that led nowhere, in a row
  std::vector<std::int64_t> fruitless_preemptions_;  // by replica, since a token landed there
};

/// The whole run at once.
Totals simulate(const ClusterConfig& config, const Bindings& bindings);

}  // namespace rooflua
