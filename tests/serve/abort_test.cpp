// Aborts, one by one: where the request is, what it held, and when that is free. Steps last a
// second.

#include <memory>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/speculation/drafts.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// Counts ends, and answers each with one more request, so many times.
class Answers : public ListedWorkload {
 public:
  Answers(std::vector<RequestSpec> specs, int most)
      : ListedWorkload(std::move(specs)), most_(most) {}
  std::vector<std::int32_t> ended;
  void on_done(const RequestDone& done, FollowUps& follow_ups) override {
    ended.push_back(done.id);
    if (most_-- > 0) follow_ups.send(spec(seconds(done.now), 16, 1));
  }

 private:
  int most_;
};

std::int32_t used(const Simulation& simulation, std::int32_t replica = 0) {
  return simulation.replica(replica).kv().used_blocks();
}

bool abort(Simulation& simulation, std::int32_t id, Outcome outcome = Outcome::cancelled) {
  return simulation.abort_by_id(id, outcome);
}

}  // namespace

TEST_CASE("a request that waits leaves the queue at once") {
  Bench bench(100, 64);
  bench.replica().max_num_seqs = 1;
  ListedWorkload workload({spec(0, 16, 4), spec(0, 16, 2), spec(0, 16, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(0.5);
  CHECK(simulation.replica(0).view().waiting == 2);
  REQUIRE(abort(simulation, 1, Outcome::expired));
  CHECK(simulation.replica(0).view().waiting == 1);
  CHECK(bench.recorder.of(1).now == s / 2);
  CHECK(bench.recorder.of(1).outcome == Outcome::expired);
  CHECK(bench.recorder.of(1).scheduled == never);
  CHECK(simulation.totals().ended[static_cast<std::size_t>(Outcome::expired)] == 1);
  simulation.run();
  CHECK(bench.recorder.steps.back() == "5..6: d1 w0 u2");
  CHECK(bench.recorder.of(2).scheduled == 4 * s);
}

TEST_CASE("the seat of a request that decodes is free at the end of the running step") {
  for (const std::int32_t depth : {1, 2}) {
    CAPTURE(depth);
    Bench bench(100, 64);
    bench.replica().async_depth = depth;
    bench.replica().max_num_seqs = 2;
    ListedWorkload workload({spec(0, 16, 9), spec(0, 16, 5), spec(0, 16, 1)});
    Simulation simulation(bench.cluster, bench.bindings(workload));
    simulation.run_until(2.25);
    REQUIRE(abort(simulation, 0));
    // The client's end is now; two tokens have landed.
    const RequestDone& done = bench.recorder.of(0);
    CHECK(done.now == 9 * s / 4);
    CHECK(done.output_tokens == 2);
    CHECK(done.first_token == 1 * s);
    CHECK(done.last_token == never);
    CHECK(simulation.slot_of(0) == -1);
    CHECK(simulation.unfinished().size() == 2);
    CHECK(simulation.outstanding(0) == 2);
    // The engine's is at 3.
    CHECK(simulation.replica(0).view().seats == 2);
    CHECK(used(simulation) == 4);
    simulation.run_until(2.75);
    CHECK(simulation.replica(0).view().seats == 2);
    CHECK_FALSE(abort(simulation, 0));
    simulation.run();
    CHECK(bench.recorder.done.size() == 3);
    if (depth == 1) {
      CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* p1:16+0* w1 u2", "1..2: d2 w1 u4",
                                          "2..3: d2 x1 w1 u4", "3..4: d1 p2:16+0* w0 u3",
                                          "4..5: d1 w0 u2"});
    } else {  // the step after was planned at 2, with a row of it
      CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* p1:16+0* w1 u2", "1..2: d2 w1 u4",
                                          "2..3: d2 x1 w1 u4", "3..4: d2 x1 w1 u4",
                                          "4..5: d1 p2:16+0* w0 u3"});
    }
    CHECK(bench.recorder.gaps == std::vector<Picoseconds>(5, s));
    CHECK(simulation.totals().output_tokens == 2 + 5 + 1);
    CHECK(used(simulation) == 0);
  }
}

TEST_CASE("a prompt that is being computed gives no first token") {
  Bench bench(100, 16);
  bench.scheduler.chunk = 16;
  ListedWorkload workload({spec(0, 40, 3), spec(0, 16, 1)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(2.5);  // its last chunk, 8 tokens, and 8 of the other prompt
  REQUIRE(abort(simulation, 0));
  CHECK(bench.recorder.of(0).first_token == never);
  CHECK(bench.recorder.of(0).output_tokens == 0);
  CHECK(bench.recorder.of(0).scheduled == 0);
  simulation.run();
  CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0 w1 u1", "1..2: p0:16+16 w1 u2",
                                      "2..3: p0:8+32 p1:8+0 w0 u4", "3..4: p1:8+8* w0 u1"});
  CHECK(simulation.totals().output_tokens == 1);
}

TEST_CASE("a seat without a row in flight is free now, and an idle replica plans at once") {
  class Sleeps : public Fcfs {  // prompts only: no decode before 7
    void plan(const VisibleReplica& replica, Plan& plan) override {
      const ReplicaView& view = replica.view();
      if (view.decodes > 0 && view.now_s < 7) plan.wake_at(7);
      if (view.decodes > 0 && view.now_s >= 7) plan.decode_all();
      if (view.waiting > 0) plan.admit(view.waiting_head, 16);
    }
  } sleeps;
  Bench bench(2, 64);
  bench.replica().max_num_seqs = 1;
  ListedWorkload workload({spec(0, 16, 3), spec(0, 16, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&sleeps};
  Simulation simulation(bench.cluster, bindings);
  simulation.run_until(2.5);
  CHECK(simulation.replica(0).view().seats == 1);
  REQUIRE(abort(simulation, 0));
  CHECK(simulation.replica(0).view().seats == 0);
  CHECK(used(simulation) == 0);
  simulation.run();
  CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* w1 u1", "2.5..3.5: p1:16+0* w0 u1"});
}

TEST_CASE("in the frontend it is gone at once, and its slot may be another's") {
  Bench bench(100, 64);
  bench.cluster.frontend.base_s = 1;
  ListedWorkload workload({spec(0, 16, 2), spec(0.5, 16, 1)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(0.25);
  REQUIRE(abort(simulation, 0, Outcome::timed_out));
  CHECK(bench.recorder.of(0).replica == -1);
  CHECK(bench.recorder.of(0).queued == never);
  simulation.run();
  CHECK(bench.recorder.steps == Lines{"1.5..2.5: p1:16+0* w0 u1"});
}

TEST_CASE("the frontend's delay of a token: a client that left did not see it") {
  Bench bench(100, 64);
  bench.cluster.frontend.per_output_token_s = 0.5;
  ListedWorkload workload({spec(0, 16, 5)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(1.25);
  REQUIRE(abort(simulation, 0));
  CHECK(bench.recorder.of(0).now == 5 * s / 4);
  CHECK(bench.recorder.of(0).first_token == never);
  CHECK(bench.recorder.of(0).output_tokens == 1);  // it was generated
  simulation.run();
}

TEST_CASE("the workload is told once and at once, and may answer") {
  Bench bench(100, 64);
  Answers workload({spec(0, 16, 9)}, 1);
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(1.5);
  REQUIRE(abort(simulation, 0));
  CHECK(workload.ended == std::vector<std::int32_t>{0});
  CHECK(simulation.now_s() == 1.5);
  simulation.run();
  CHECK(workload.ended == std::vector<std::int32_t>{0, 1});
  CHECK(bench.recorder.of(1).arrival == 3 * s / 2);
  CHECK(bench.recorder.steps ==
        Lines{"0..1: p0:16+0* w0 u1", "1..2: d1 x1 w0 u2", "2..3: p1:16+0* w0 u1"});
}

TEST_CASE("completion wins at the instant of the last token") {
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(2);
  CHECK_FALSE(abort(simulation, 0));
  CHECK(bench.recorder.of(0).outcome == Outcome::completed);
  CHECK_FALSE(abort(simulation, 7));
  CHECK_FALSE(abort(simulation, -1));
}

namespace {

/// Replica 1 computes prompts, replica 2 decodes; KV takes two seconds.
struct Split : Bench {
  explicit Split(std::int32_t decode_blocks) : Bench(8, 64, 4) {
    replica().role = Role::prefill;
    cluster.replicas.push_back(replica());
    cluster.replicas[1].role = Role::decode;
    cluster.replicas[1].kv_blocks = decode_blocks;
    cluster.transfer = {2, 1e30, 1};
  }
};

}  // namespace

TEST_CASE("blocks on both sides stay until KV that is on its way has come") {
  for (const bool over_links : {false, true}) {
    CAPTURE(over_links);
    Split bench(8);
    if (over_links) {
      bench.cluster.links = {{"nic", 1e30, 0, LinkScope::node}};
      bench.cluster.transfer.path.between = {"nic"};
    }
    ListedWorkload workload({spec(0, 8, 4), spec(0, 8, 1)});
    Simulation simulation(bench.cluster, bench.bindings(workload));
    simulation.run_until(1.5);
    REQUIRE(abort(simulation, 0));
    CHECK(bench.recorder.of(0).now == 3 * s / 2);
    CHECK(bench.recorder.of(0).output_tokens == 0);
    CHECK(used(simulation, 0) == 4);
    CHECK(used(simulation, 1) == 4);
    CHECK(simulation.outstanding(0) == 2);  // its blocks are still there
    CHECK(simulation.outstanding(1) == 1);
    simulation.run_until(3.001);  // over links it takes a picosecond more
    CHECK(used(simulation, 0) == 0);
    CHECK(used(simulation, 1) == 2);
    CHECK(simulation.outstanding(0) == 0);
    CHECK(simulation.requests().alive() == 1);
    simulation.run();
    CHECK(bench.recorder.done.size() == 2);
    CHECK(bench.recorder.steps == Lines{"0..1: p0:8+0* p1:8+0* w0 u4", "3..4: p1:1+7* w0 u2"});
    CHECK(used(simulation, 1) == 0);
  }
}

TEST_CASE("a prompt that waits for room at its decode replica frees the prefill's blocks now") {
  Split bench(3);
  bench.scheduler.full_must_fit = true;
  ListedWorkload workload({spec(0, 8, 4), spec(0, 8, 4)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(4.5);
  CHECK(used(simulation, 0) == 2);
  CHECK(simulation.replica(1).view().waiting == 1);
  REQUIRE(abort(simulation, 1, Outcome::replica_lost));
  CHECK(used(simulation, 0) == 0);
  CHECK(simulation.replica(1).view().waiting == 0);
  CHECK(bench.recorder.of(1).prefill_replica == 0);
  simulation.run();
  CHECK(bench.recorder.of(0).outcome == Outcome::completed);
}

TEST_CASE("drafts of a row that is discarded are counted nowhere") {
  Bench bench(100, 64);
  bench.replica().seed = 3;
  FixedDrafts drafts(3);
  Chances always({1, 1, 1});
  ListedWorkload workload({spec(0, 16, 40), spec(0, 16, 9)});
  Bindings bindings = bench.bindings(workload);
  bindings.speculators = {&drafts};
  bindings.acceptances = {&always};
  class Drafted : public Observer {
   public:
    std::int32_t drafted = 0, accepted = 0, discarded = 0;
    void on_step(const StepDone& step) override {
      drafted += step.drafted, accepted += step.accepted, discarded += step.discarded;
    }
  } seen;
  bindings.observers.push_back(&seen);
  Simulation simulation(bench.cluster, bindings);
  simulation.run_until(2.5);  // 1 + 4 tokens have landed
  REQUIRE(abort(simulation, 0));
  CHECK(bench.recorder.of(0).output_tokens == 5);
  CHECK(bench.recorder.of(0).rounds == 1);
  simulation.run();
  CHECK(seen.discarded == 1);
  CHECK(seen.drafted == 3 * 3);  // of 0: one round; of 1: two
  CHECK(seen.accepted == 3 * 3);
  CHECK(simulation.totals().output_tokens == 5 + 9);
}

TEST_CASE("an abort of no request is a defect of the caller, and so is an end that is no abort") {
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(0.5);
  CHECK(simulation.is_live(0));
  CHECK_THROWS_AS(simulation.abort(0, Outcome::completed), std::logic_error);
  simulation.abort(0, Outcome::cancelled);
  CHECK_FALSE(simulation.is_live(0));
  CHECK_THROWS_AS(simulation.abort(0, Outcome::cancelled), std::logic_error);
}
