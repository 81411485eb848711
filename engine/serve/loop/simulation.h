#pragma once
// Requests come, replicas step, requests end. The loop is advance(): one instant of the clock.
// What happens at one instant, and in which order: instant.cpp. What only some runs have are parts
// (core/part.h).
// The functions of Simulation by subject: simulation.cpp (made, copied, changed), instant.cpp (the
// loop), group_step.cpp (plans and prices), request.cpp (a request from sent to done). What routers
// see: routing.h; what observers are told of ends: endings.h.

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "serve/core/core.h"
#include "serve/core/part.h"
#include "serve/loop/arrivals.h"
#include "serve/loop/endings.h"
#include "serve/loop/routing.h"
#include "serve/parts/list.h"

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
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept override {
    return routing_.cached_tokens(slot, replica);
  }
  std::int32_t least_outstanding(const RouteView& view) const noexcept override {
    return core_.signals.least_outstanding(view.decode_stage != 0);
  }
  std::span<const std::int32_t> prefix_holders(const RouteView& view) const noexcept override {
    return routing_.prefix_holders(view);
  }
  std::span<const std::int32_t> sent_holders(const RouteView& view) const noexcept override {
    return routing_.sent_holders(view);
  }
  double fact(const RouteView& view, std::int32_t replica,
              RouterFact what) const noexcept override {
    return routing_.fact(view, replica, what);
  }
  /// The live request with this id; -1 if it is not alive. O(alive).
  std::int32_t slot_of(std::int32_t id) const;
  std::int32_t outstanding(std::int32_t replica) const {
    return core_.signals.outstanding(replica);
  }
  const ClusterConfig& config() const { return core_.config; }
  const Core& core() const { return core_; }
  const Parts& parts() const { return parts_; }
  /// By replica: another process simulates it (sharing.h).
  void leave_out(std::vector<char> replicas) { core_.foreign = std::move(replicas); }

  /// Requests that were sent and have not ended, by id: for the files of a run that was stopped.
  /// Their output_tokens landed or are in flight, and their last_token is not known.
  std::vector<RequestDone> unfinished() const { return rooflua::unfinished(core_, parts_); }

  /// Ends a request before its last token (request.cpp): told now, with the tokens that landed.
  /// @param outcome  one for which ends_early() holds
  /// @pre is_live(slot). Not from a policy, an observer or the workload, but where it is
  /// its time.
  void abort(std::int32_t slot, Outcome outcome) override;
  /// The same of the request with this id. False: it is not alive, and nothing happens.
  bool abort_by_id(std::int32_t id, Outcome outcome);
  /// Whether a request is in this slot that was sent and not told done.
  bool is_live(std::int32_t slot) const { return core_.is_live(slot); }
  /// Whether it was told done, and steps or transfers under way may still give its blocks content.
  bool is_leaving(std::int32_t id) const { return core_.is_leaving(id); }

  /// Of its engine, between two instants.
  Lifecycle lifecycle(std::int32_t replica) const { return core_.state_of(replica); }
  /// Part of a run by its name (parts/list.h), as parts see each other. A run that has had none
  /// gets it.
  Part& part(std::string_view name) override;

  /// From the next plan on, other policies. The scheduler of `replica` is asked at its next plan.
  void set_scheduler(std::int32_t replica, SchedulerPolicy& policy);
  void set_steps(std::int32_t replica, StepModel& model);
  void set_router(Router& router);
  /// From now on `events` has what the caches get and lose. A copy of the simulation reports none.
  /// @pre nothing is cached
  void publish_kv(KvEvents& events) { routing_.publish(events); }
  /// Other policies of parts, where there are some (Bindings::take_parts). @throws Error if they do
  /// not go with the state of a part
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
  Simulation(const Simulation& other);

  // the loop
  Picoseconds next_instant();
  Picoseconds next_besides_steps() const;
  void land_steps();
  void deliver();
  void plan_steps();
  void fill_pipeline(RankGroup& group);
  void fill_stages(RankGroup& group);
  bool plan_stages(Replica& replica);
  void let_in(Replica& replica);
  void price_stages(Replica& replica);
  std::int32_t plan(Replica& replica);
  void price_alone(Replica& replica);
  void price_together(RankGroup& group);
  StepPrice price(const Batch& batch, std::vector<OpTime>& operations);
  void commit(Replica& replica, const StepPrice& price, std::span<const OpTime> operations);
  void start(const RankGroup& group);
  void wake(const RankGroup& group);
  void tell_preemptions(Replica& replica);
  std::int32_t step_plainly();
  std::int64_t repeat_steps(std::int32_t index, std::int64_t most, Picoseconds until);
  void look_at_observers();
  void keep_room();

  // a request's path
  std::int32_t open(const RequestSpec& given) override;
  void read_ahead();
  void begin(std::int32_t slot) override;
  void send(std::int32_t slot);
  void route(std::int32_t slot) override;
  void send_follow_ups() override;
  void due_changed() override { parts_.next = 0; }
  bool is_alone(const OnTime& part) override;
  std::int32_t choose(std::int32_t slot, Stage stage) override;
  void computes_itself(std::int32_t slot, std::int32_t to) override {
    routing_.computes_itself(slot, to);
  }
  void leave_replica(std::int32_t slot, std::int32_t replica) override {
    routing_.leave_replica(slot, replica);
  }
  void forget_content(std::int32_t index) override { routing_.forget_content(index); }
  std::span<OnFlow* const> on_flow() override { return parts_.on_flow; }
  std::span<OnKv* const> on_kv() override { return parts_.on_kv; }
  void count_outstanding(std::int32_t slot, std::int32_t index) override;
  void queue(std::int32_t slot, std::int32_t replica) override;
  void join(std::int32_t slot, std::int32_t replica) override;
  void enter(std::int32_t slot, Replica& replica) override;
  void finish(std::int32_t slot, Outcome outcome) override;
  void end_failing(Replica& replica);
  void tell(const RequestDone& done);

  // times of the workload
  void ask_workload();
  void read_due();
  bool tell_row(std::int32_t slot, RowSent& row);
  void end_due();
  void tell_first_tokens(std::span<const PrefillWork> prefills);

  // aborts
  void take_back(std::int32_t slot, const Replica::InFlight& in_flight);
  bool has_kv_on_its_way(std::int32_t slot) const;
  void free_left_seats(std::int32_t index) override;
  void refuse_kv(std::int32_t slot) override;
  void free_slot(std::int32_t slot) override;

  void pass_flows();
  bool starve();
  void starve_contenders(const Replica& replica);

  Core core_;
  Parts parts_;
  Arrivals arrivals_;
  Scratch scratch_;
  Routing routing_;
  bool unread_prices_ = false;  // no observer reads prices before their steps end
  std::int64_t idle_asks_ = 0;  // plans of idle replicas that led nowhere, in a row
};

/// The whole run at once.
Totals simulate(const ClusterConfig& config, const Bindings& bindings);

}  // namespace rooflua
