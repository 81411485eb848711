#pragma once
// A random cluster with its policies, for laws of what ends early and of what comes and goes:
// prefill and decode split, with links or without, stages, ranks that step together, speculation,
// frontends, closed loops. What it tells is written down in words.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"
#include "tests/serve/speculation/case.h"

namespace rooflua::test {

inline constexpr Outcome early[] = {Outcome::expired, Outcome::timed_out, Outcome::cancelled,
                                    Outcome::replica_lost};

/// Ends are answered, those of aborted requests, too: as a closed loop does. No draw depends on the
/// order of ends.
class Loop : public ListedWorkload {
 public:
  Loop(std::vector<RequestSpec> specs, std::uint64_t seed)
      : ListedWorkload(std::move(specs)), seed_(seed) {}
  std::int64_t sent = 0;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override {
    Dice dice(seed_ + static_cast<std::uint64_t>(done.id));
    if (sent >= 40 || dice.upto(0, 2) == 0) return;
    ++sent;
    const double later_s = dice.upto(0, 1) * 0.5 * dice.upto(0, 3);
    RequestSpec answer = spec(seconds(done.now) + later_s, dice.upto(1, 50), dice.upto(1, 30));
    answer.max_output_tokens += dice.upto(0, 1) * dice.upto(1, 9);
    follow_ups.send(answer);
  }
  std::unique_ptr<Workload> fork() const override { return std::make_unique<Loop>(*this); }

 private:
  std::uint64_t seed_;
};

/// All that is told, in words, in the order in which it is told.
class Told : public Observer {
 public:
  std::vector<std::string> lines;
  std::map<std::int32_t, int> ends;  // by id
  std::set<std::int32_t> aborted;
  std::int64_t tokens = 0;
  std::size_t before_first_abort = SIZE_MAX;

  std::map<std::int32_t, Lifecycle> states;  // by replica; ready where nothing was told
  std::map<Lifecycle, int> seen;
  int held = 0;

  bool reads_prices() const override { return false; }
  void on_held(const Request& request, Picoseconds now) override {
    ++held;
    add("is held", request.id, now);
  }
  void on_replica(const ReplicaChanged& change) override {
    states[change.replica] = change.now;
    ++seen[change.now];
    add("changes", change.replica, change.time, " to " + std::string(name(change.now)));
  }
  /// Whether a step of this replica may be planned or end.
  bool runs(std::int32_t replica) const {
    const auto found = states.find(replica);
    return found == states.end() || found->second == Lifecycle::ready ||
           found->second == Lifecycle::draining;
  }
  void on_arrival(const Request& request, Picoseconds now) override {
    add("arrives", request.id, now);
  }
  void on_queued(const Request& request, Picoseconds now) override {
    CHECK(ends.count(request.id) == 0);
    add("queues", request.id, now);
  }
  void on_preempt(const Request& request, Picoseconds now) override {
    CHECK(ends.count(request.id) == 0);
    add("loses its seat", request.id, now);
  }
  void on_step(const StepDone& step) override {
    CHECK(runs(step.replica));
    CHECK((step.discarded >= 0 && step.discarded <= step.batch->decodes));
    std::int32_t completed = 0;
    for (const PrefillWork& work : step.prefills) {
      completed += work.completes;
      if (work.completes != 0) CHECK(aborted.count(work.id) == 0);
    }
    CHECK(step.batch->sampled == step.batch->decodes + completed);
    for (const Row& row : step.rows) CHECK((row.discarded || ends.count(row.id) == 0));
    const auto gaps = step.common_gaps + static_cast<std::int64_t>(step.other_gaps.size());
    CHECK((gaps >= 0 && gaps <= step.batch->sampled));
    CHECK((step.common_gaps >= 0 && step.tokens_landed() >= 0));
    add("step", step.replica, step.end,
        " tokens " + std::to_string(step.tokens_landed()) + " of " +
            std::to_string(step.batch->tokens) + " blocks " + std::to_string(step.used_blocks));
  }
  void on_done(const RequestDone& done) override {
    ++ends[done.id];
    tokens += done.output_tokens;
    if (ends_early(done.outcome)) aborted.insert(done.id);
    CHECK((done.first_token == never || done.first_token <= done.now));
    CHECK((done.last_token == never || done.last_token <= done.now));
    CHECK(done.output_tokens >= 0);
    add("ends", done.id, done.now,
        " " + std::string(name(done.outcome)) + " with " + std::to_string(done.output_tokens) +
            " at " + std::to_string(done.last_token));
  }

 private:
  void add(const char* what, std::int32_t who, Picoseconds now, const std::string& more = "") {
    lines.push_back(std::to_string(who) + " " + what + " at " + std::to_string(now) + more);
  }
};

/// Engines in turn. Their ranks may have one queue: the rank with the most seats left takes from it.
class EnginesInTurn : public InTurn {
 public:
  CommonQueue queue = CommonQueue::none;
  CommonQueue common_queue() const override { return queue; }
  std::int32_t place(const Request&, const RouteView& view) override {
    std::int32_t best = view.candidates[0];
    const auto seats = [&](std::int32_t rank) {
      return view.source->fact(view, rank, RouterFact::rank_seats);
    };
    for (std::int32_t i = 1; i < view.candidate_count; ++i)
      if (seats(view.candidates[i]) > seats(best)) best = view.candidates[i];
    return best;
  }
};

/// A random cluster with its policies.
class Scenario {
 public:
  explicit Scenario(std::uint64_t seed) : seed_(seed), it_(random_case(seed, seed % 2 == 0)) {
    Dice dice(seed + 9);
    for (std::int32_t left = dice.upto(0, 3); left > 0; --left)
      replicas().push_back(
          random_case(seed * 7 + static_cast<std::uint64_t>(left), false).cluster.replicas[0]);
    if (replicas().size() > 1 && dice.upto(0, 1) == 1) split(dice);
    if (dice.upto(0, 2) == 0) it_.cluster.frontend = {0.125, 1.0 / 256, 0.25};
    speculates_ = dice.upto(0, 3) == 0;
    if (!speculates_) stages_or_groups(dice);
    if (is_split()) draw_disaggregation(seed, it_.cluster);
    // A request that drafts alone must not take its own blocks for ever.
    if (speculates_)
      for (ReplicaConfig& each : replicas()) each.kv_blocks += 200;
    specs_ = it_.specs;
  }

  ClusterConfig& cluster() { return it_.cluster; }
  /// Further policies of a run, where there are some.
  struct Run;
  std::function<void(Run&, Bindings&)> more;

  /// Pools: one of all replicas, or where prefill and decode are split one of each replica, and
  /// none where those are groups.
  void make_pools(Dice& dice) {
    const auto count = static_cast<std::int32_t>(replicas().size());
    const auto groups = static_cast<std::int32_t>(rank_groups(replicas()).size());
    const bool over_link = dice.upto(0, 1) == 1;
    if (over_link) it_.cluster.links.push_back({"store", 64, 0.125, LinkScope::cluster, true, 0});
    const bool grouped = replicas().front().group >= 0;
    if (is_split() && grouped) return;
    for (std::int32_t first = 0; first < count; first += is_split() ? 1 : count) {
      PoolConfig pool;
      pool.first = first;
      pool.replicas = is_split() ? 1 : count;
      pool.max = is_split() ? 1 : groups;
      pool.min = dice.upto(0, 1);
      pool.count = dice.upto(pool.min, pool.max);
      pool.drain = static_cast<Drain>(dice.upto(0, 2));
      pool.grace_s = 0.25 * dice.upto(0, 3) * dice.upto(0, 3);
      pool.start.provision_s = 0.5 * dice.upto(0, 3);
      pool.start.init_s = 0.5 * dice.upto(0, 3);
      if (over_link) {
        pool.start.image_bytes = dice.upto(0, 100);
        pool.start.weight_bytes = dice.upto(1, 100);
        pool.start.link = {"store"};
      }
      it_.cluster.pools.push_back(pool);
    }
  }
  std::vector<RequestSpec> specs() const { return specs_; }

  /// One run of it. Its policies are its own.
  struct Run {
    std::unique_ptr<Loop> workload;
    std::vector<Fcfs> schedulers;
    EnginesInTurn router;
    SplitsSome decider;
    LinearSteps model{0.5, 1.0 / 64, 1.0 / 4096};
    Fixed speculator{3, true};
    Rates acceptance{{0.7, 0.5, 0.2}};
    Told told;
    std::unique_ptr<Simulation> simulation;
  };

  std::unique_ptr<Run> open() {
    auto run = std::make_unique<Run>();
    run->workload = std::make_unique<Loop>(specs_, seed_);
    run->schedulers.assign(replicas().size(), it_.scheduler);
    run->router.queue = static_cast<CommonQueue>(seed_ % 3);
    run->simulation = std::make_unique<Simulation>(cluster(), bindings(*run));
    return run;
  }

  std::unique_ptr<Run> fork(const Run& other) {
    auto run = std::make_unique<Run>();
    run->workload = std::make_unique<Loop>(*other.workload);
    run->schedulers = other.schedulers;
    run->router = other.router;
    run->told = other.told;
    run->simulation = other.simulation->fork(bindings(*run));
    return run;
  }

 private:
  std::vector<ReplicaConfig>& replicas() { return it_.cluster.replicas; }

  void split(Dice& dice) {
    for (std::size_t i = 0; i < replicas().size(); ++i)
      replicas()[i].role = i % 2 == 0 ? Role::prefill : Role::decode;
    it_.cluster.transfer = {0.25, 64, 1};
    if (dice.upto(0, 2) == 0) return;
    it_.cluster.links = {
        {"nic", 48, 0.125, LinkScope::node, dice.upto(0, 1) == 1, dice.upto(0, 2)}};
    it_.cluster.transfer.path.between = {"nic"};
    for (ReplicaConfig& each : replicas()) each.node = dice.upto(-1, 1);
  }

  bool is_split() { return replicas().front().role == Role::prefill; }

  void stages_or_groups(Dice& dice) {
    const std::int32_t depth = dice.upto(1, 2);
    const bool grouped = dice.upto(0, 2) == 0;
    for (ReplicaConfig& each : replicas()) {
      if (grouped) {
        each.async_depth = depth;
        each.group = static_cast<std::int32_t>(each.role);
        each.dp_sync_s = 0.125;
      } else if (dice.upto(0, 2) == 0) {
        each.stages.shares = {0.25, 0.5, 0.25};
        each.stages.links = {{0.125, 0}, {0, 0.001}};
      }
    }
  }

  Bindings bindings(Run& run) {
    Bindings out;
    for (Fcfs& each : run.schedulers) out.schedulers.push_back(&each);
    out.steps.assign(replicas().size(), &run.model);
    out.router = &run.router;
    out.workload = run.workload.get();
    out.observers = {&run.told};
    out.decider = &run.decider;
    if (more) more(run, out);
    if (!speculates_) return out;
    for (const ReplicaConfig& each : replicas()) {
      const bool drafts = each.role != Role::prefill;
      out.speculators.push_back(drafts ? &run.speculator : nullptr);
      out.acceptances.push_back(drafts ? &run.acceptance : nullptr);
    }
    return out;
  }

  std::uint64_t seed_;
  Case it_;
  std::vector<RequestSpec> specs_;
  bool speculates_ = false;
};

/// Ids of requests that were sent and have not ended.
inline std::vector<std::int32_t> live_ids(const Simulation& simulation) {
  std::vector<std::int32_t> out;
  for (const RequestDone& each : simulation.unfinished()) out.push_back(each.id);
  return out;
}

/// What holds between any two instants.
inline void check_counts(const Simulation& simulation, const Told& told) {
  const Totals& totals = simulation.totals();
  const std::int64_t ended =
      std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0});
  const std::vector<std::int32_t> alive = live_ids(simulation);
  CHECK(totals.arrived == ended + static_cast<std::int64_t>(alive.size()));
  CHECK(ended == static_cast<std::int64_t>(told.ends.size()));
  for (const std::int32_t id : alive) {
    REQUIRE(told.ends.count(id) == 0);
    CHECK(simulation.is_live(simulation.slot_of(id)));
  }
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    const Replica& replica = simulation.replica(i);
    const ReplicaView& view = replica.view();
    CHECK(replica.kv().used_blocks() + replica.kv().free_blocks() == view.total_blocks);
    CHECK(view.free_blocks == replica.kv().free_blocks());
    CHECK(view.seats == view.decodes + view.prefilling + view.finishing + view.in_flight);
    CHECK(simulation.outstanding(i) >= 0);
  }
}

/// The cluster has nothing left, and has told everything once.
inline void check_end(const Scenario::Run& run, std::size_t listed) {
  const Simulation& simulation = *run.simulation;
  const Totals& totals = simulation.totals();
  CHECK(simulation.requests().alive() == 0);
  CHECK(simulation.unfinished().empty());
  CHECK(totals.arrived == static_cast<std::int64_t>(listed) + run.workload->sent);
  CHECK(totals.arrived ==
        std::accumulate(totals.ended.begin(), totals.ended.end(), std::int64_t{0}));
  CHECK(static_cast<std::int64_t>(run.told.ends.size()) == totals.arrived);
  for (const auto& [id, times] : run.told.ends) CHECK(times == 1);
  CHECK(totals.output_tokens == run.told.tokens);
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    const Replica& replica = simulation.replica(i);
    const ReplicaView& view = replica.view();
    CHECK(replica.kv().free_blocks() == replica.kv().total_blocks());
    CHECK(view.seats + view.waiting + view.decodes + view.in_flight + view.finishing == 0);
    CHECK(view.decode_context_tokens == 0);
    CHECK(view.waiting_tokens == 0);
    CHECK(replica.queued() == 0);
    CHECK(replica.queued_tokens() == 0);
    CHECK(replica.planned_steps() == 0);
    CHECK(simulation.outstanding(i) == 0);
  }
}

/// Aborts some of the live requests. @returns how many
inline int abort_some(Simulation& simulation, Dice& dice) {
  int aborted = 0;
  const bool all = dice.upto(0, 19) == 0;
  for (const std::int32_t id : live_ids(simulation)) {
    if (!all && dice.upto(0, 3) > 0) continue;
    CHECK(simulation.abort_by_id(id, early[dice.upto(0, 3)]));
    CHECK(simulation.slot_of(id) == -1);
    CHECK_FALSE(simulation.abort_by_id(id, Outcome::cancelled));  // it has ended
    ++aborted;
  }
  return aborted;
}

}  // namespace rooflua::test
