#pragma once
// The state of the naive cluster. Its functions: cluster.cpp has an instant and a request's
// way through it, cluster_aborts.cpp those that are aborted, cluster_clients.cpp those
// whose client waits no longer, cluster_faults.cpp replicas that fail, cluster_fleet.cpp engines
// that come and go,
// cluster_ranks.cpp ranks with one queue, cluster_routing.cpp what routers see,
// cluster_steps.cpp the steps.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tests/reference/cases/cluster.h"
#include "tests/reference/naive/gate.h"
#include "tests/reference/naive/knowledge.h"
#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

struct Parcel {  // KV on its way from a prefill replica to a decode replica
  Ps arrives = 0;
  int id = 0, from = 0, to = 0;
  Ps starts = 0;
};

/// Of a prompt that one replica computes and another one decodes.
struct Split {
  int to = -1;              // its decode replica; -1: not chosen yet
  int sent = 0, flows = 0;  // tokens whose KV was sent, or is cached there; parcels on their way
  int cached = 0;           // tokens that were found there
  bool reserved = false;    // blocks are taken there, and the prompt is not computed
  bool computed = false;
  bool kept = false;  // where it was computed
};

class NaiveCluster : public RouteSource {
 public:
  NaiveCluster(const ClusterCase& cluster, Router& router);

  History run();

 private:
  void join_group(std::size_t i);

  const std::vector<Prompt>& prompts() const { return cluster_.question.prompts; }
  Served& served(int id) { return history_.requests[static_cast<std::size_t>(id)]; }

  /// When a request is at the router: sent, and through the frontend.
  Ps at_router(std::size_t id) const {
    const PlainRequest& plain = prompts()[id].plain;
    return plain.arrival + cluster_.frontend_base + cluster_.frontend_prompt_token * plain.prompt;
  }

  std::optional<Ps> next_instant() const;
  void land(std::size_t i);
  void deliver_parcels();

  // --- prefill and decode split (cluster_split.cpp)

  void promise(int id, int to);
  void break_promise(int id);
  void cancel(int id);
  bool reserve(int id);
  void push(const Rows& rows, std::size_t i);
  void hand_over(int id, std::size_t from);
  void lose_computed(int id, std::size_t from);
  void pull(int id, std::size_t to);
  void send(int id, int tokens, int from);
  void end_parcel(const Parcel& parcel);
  void route(int id);

  // --- stores outside the GPUs (cluster_tiers.cpp)

  void bind_tiers();
  bool has_tiers(std::size_t i) const;
  void lose_flows(std::size_t i);
  Ps wait_for_writes(std::size_t i, Ps start) const;
  bool has_left(int id, std::size_t i);
  void store_computed(const Rows& rows, std::size_t i);
  void store_filled(const Rows& rows, std::size_t i);
  void store_answer(int id, std::size_t i);
  void store(int id, std::size_t i, int tokens);
  void pass_flows();
  void ask_stores(std::size_t i);
  void leave_frontend();
  void queue(int id, int to);
  void join(int id, int to);
  void enter(int id, std::size_t i);

  // --- the gate (cluster_gate.cpp)

  struct Credit {
    Ps time;
    int replica, prompt;
  };
  void bind_gate();
  bool has_no_seat(int id) const;
  Ps gate_deadline(int id) const;
  void consider_gate(const std::function<void(Ps)>& consider) const;
  GateView look_at_gate(int id);
  int gate_key(int id) const;
  void meet_gate(int id);
  void pass_gate(int id);
  void expire_late();
  void expire(int id);
  void ask_gate();
  bool ask_next();

  // --- aborts

  bool is_aborted(int id) const {
    return history_.requests[static_cast<std::size_t>(id)].aborted != unset;
  }
  std::optional<Ps> next_abort() const;
  void abort(int id);
  void note_abort(int id);
  std::string take_back(int id);
  bool has_row_in_flight(int id, std::size_t i) const;
  Rows without_aborted(StepLog& step);
  void leave_seats(std::size_t i);

  // --- clients with patience

  void find_patience();
  void lose_patience();
  bool has_to_be_sent(std::size_t id) const;

  // --- faults

  struct Slow {
    int factor = 1;
    Ps until = unset;
  };
  void pass_faults();
  void fail(std::size_t i, Ps until);
  void lose(std::size_t i);
  bool rests_on(int id, std::size_t i) const;
  void free_parcels(std::size_t i);
  bool wait_at_door(int id);
  bool is_open() const;
  void open_door();
  int slowness(std::size_t i) const;

  // --- engines that come and go (cluster_fleet.cpp)

  struct Life {  // of a group
    Lifecycle state = Lifecycle::ready;
    int pool = -1, part = 2;  // of its start: machine, engine, over
    bool believed = false;    // it failed, and routers do not know
    Ps since = 0;
    Ps part_over = unset, grace_over = unset, repaired = unset, detected = unset;
  };
  void bind_fleet();
  std::size_t engine_of(std::size_t i) const;
  bool is_candidate(std::size_t i) const;
  bool may_run(std::size_t i) const;
  bool has_candidates(bool decode_stage) const;
  bool may_have_candidates() const;
  void consider_fleet(const std::function<void(Ps)>& consider) const;
  void pass_lives();
  void set_state(std::size_t engine, Lifecycle state);
  void start(std::size_t engine);
  void begin_part(std::size_t engine);
  int held() const;
  PoolLook look_at_pool(std::size_t pool) const;
  std::vector<std::size_t> engines_of_pool(std::size_t pool) const;
  void ask_autoscalers();
  Ps longest_interval() const;
  void adjust(std::size_t pool);
  bool goes_before(std::size_t a, std::size_t b) const;
  int engine_to_drain(std::size_t pool) const;
  int outstanding_at(std::size_t engine) const;
  void drain(std::size_t engine);
  void requeue(std::size_t i);
  void abort_all(std::size_t i);
  bool is_drained(std::size_t engine) const;
  void settle_drains();
  void forget_content(std::size_t i);

  // --- ranks with one queue

  bool has_common_queue(std::size_t i) const;
  std::vector<int> requests_at(std::size_t i) const;
  std::vector<int> sent_to(std::size_t i) const;
  int seats_left(std::size_t i) const;
  bool leave_queue(int id);
  void let_in(const std::vector<std::size_t>& group);
  int place(int id, const std::vector<std::size_t>& group, std::size_t placed,
            std::size_t together);

  // --- routing

  struct Snapshot {
    Ps time;
    std::vector<ReplicaSignals> signals;
  };
  std::vector<ReplicaSignals> look() const;
  void remember(Ps time) {
    if (staleness_ > 0 || cluster_.gate.staleness > 0) past_.push_back({time, look()});
  }

  std::vector<ReplicaSignals> signals() const;
  std::vector<ReplicaSignals> signals_for_router() const;
  RouteView route_view(int id, const std::vector<std::int32_t>& candidates,
                       const std::vector<ReplicaSignals>& seen) const;
  int choose(int id, bool decode_stage);
  void show(const Prompt& prompt);
  const Requests& requests() const noexcept override { return shown_; }
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept override {
    return engines_[static_cast<std::size_t>(replica)]->whole_hit_tokens(slot);
  }
  std::int32_t least_outstanding(const RouteView& view) const noexcept override;
  std::span<const std::int32_t> prefix_holders(const RouteView& view) const noexcept override;
  std::span<const std::int32_t> sent_holders(const RouteView& view) const noexcept override;
  double fact(const RouteView& view, std::int32_t replica, RouterFact what) const noexcept override;
  void note_sent(int id, int to, bool decode_stage);
  void leave(int id, std::size_t i) {
    --outstanding_[i];
    knowledge_.end(id, static_cast<int>(i));
  }
  static std::int32_t outstanding_of(const RouteView& view, std::int32_t place) {
    return view.signals[view.candidates[place]].outstanding;
  }

  // --- steps

  void start_front(const std::vector<std::size_t>& group);
  const Stages& stages_of(std::size_t i) const { return cluster_.replicas[i].config.stages; }

  StepLog next_plan(std::size_t i);
  StepLog plan_with_those_inside(std::size_t i);
  Ps duration(const std::vector<StepLog>& steps);
  Ps note_experts(const std::vector<StepLog>& steps);
  Ps of_experts(const StepLog& step) const;
  void look_at_ranks(const std::vector<std::size_t>& group);
  void note_step(const std::vector<StepLog>& steps);
  void plan(const std::vector<std::size_t>& group);
  void starved(int id);
  void report();

  const ClusterCase& cluster_;
  Router* router_;
  Ps staleness_;
  std::size_t count_;
  NaiveKnowledge knowledge_;
  Requests shown_;
  std::vector<ServingCase> questions_;  // the replicas point into them
  std::vector<std::unique_ptr<SchedulerPolicy>> schedulers_;
  std::vector<std::unique_ptr<NaiveReplica>> engines_;
  std::vector<std::vector<std::size_t>> groups_;  // by their first replica
  std::map<std::size_t, GroupView> group_views_;  // by first replica
  std::vector<std::deque<StepLog>> planned_;      // by replica; the front is running, if any is
  std::map<std::size_t, std::vector<Ps>> left_;   // by replica with stages
  std::map<std::size_t, Coming> coming_;          // by replica with stages
  std::vector<bool> running_, touched_;
  std::vector<Ps> wake_;
  std::vector<std::int32_t> outstanding_;
  mutable std::vector<std::int32_t> holders_;  // what prefix_holders() returned
  std::vector<Parcel> parcels_;
  std::vector<Split> split_;  // by id
  std::optional<NaiveTiers> tiers_;
  std::vector<bool> sent_;
  std::vector<bool> over_;  // by id: it ended, or was aborted
  std::vector<int> at_;     // by id: the replica where it is; -1: none yet
  std::vector<int> without_rank_;  // ids that wait for a rank, in the order of sending
  struct Due {
    Ps first = unset, total = unset;
  };
  std::vector<Due> patience_;                      // by id: when it ends; unset: never
  std::size_t aborts_ = 0;                         // that were looked at
  std::map<std::size_t, std::vector<int>> leave_;  // by replica: aborted, and seated until its step
                                                   // ends
  std::vector<Life> lives_;                        // by group; none where all run for ever
  std::vector<int> wanted_;                        // engines, by pool
  std::vector<Ps> ask_at_;                         // by pool
  std::vector<std::size_t> drains_;                // engines that drain, in the order they began
  bool fleet_moved_ = false;                       // at this instant
  std::vector<Slow> slow_;                         // by replica
  std::vector<Ps> lost_;                  // by id: when its connection is lost; unset: never
  std::vector<std::pair<int, Ps>> door_;  // ids that wait for a replica, and since when
  std::size_t faults_ = 0;                // that came
  std::vector<int> again_;                // ids that are at the router once more, in that order
  struct ExpertSteps {
    ExpertCase::Period period;
    int left = 0;
    std::int64_t steps = 0, tokens = 0;  // since the period was asked for
  };
  std::vector<ExpertSteps> experts_;     // by group
  std::vector<AdapterWorker> adapters_;  // by replica; none without adapters
  std::vector<Snapshot> past_;
  std::optional<NaiveGate> gate_;
  std::optional<CaseGate> gate_policy_;
  std::vector<ReplicaSignals> gate_signals_;
  std::vector<std::int32_t> gate_candidates_;
  std::vector<Credit> credits_;
  int gate_came_ = 0;
  std::size_t passes_ = 0;  // through the gate
  Ps gate_again_ = unset, last_event_ = 0;
  std::vector<ReplicaSignals> reports_;  // by replica: as of the end of its last step
  int believed_uncached_ = 0;            // tokens of the prompt that was routed last
  Ps now_ = 0;
  History history_;
};

}  // namespace rooflua::reference
