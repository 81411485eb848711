#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

TEST_CASE("a live simulation stops where it is told and shows what waits and what runs") {
  Bench bench(100, 16);
  ListedWorkload workload({spec(0, 16, 4), spec(0.5, 40, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(0.25);
  CHECK(simulation.now_s() == 0.25);
  CHECK(simulation.replica(0).view().seats == 1);
  CHECK(simulation.slot_of(1) == -1);
  simulation.run_until(0.75);
  const ReplicaView& view = simulation.replica(0).view();
  CHECK(view.waiting == 1);
  CHECK(simulation.requests()[view.waiting_head].id == 1);
  CHECK(simulation.slot_of(1) == view.waiting_head);
  REQUIRE(simulation.step());
  CHECK(simulation.now_s() == 1);
  CHECK(view.prefilling == 1);
  CHECK(pending_tokens(view, simulation.requests()[simulation.slot_of(1)]) == 40 - 15);
  CHECK(emitted_tokens(view, simulation.requests()[simulation.slot_of(0)]) == 2);
  simulation.run();
  CHECK(simulation.totals().ended[0] == 2);
  CHECK_FALSE(simulation.step());
  CHECK_FALSE(simulation.advance());
}

TEST_CASE("the scheduler and the step model can be swapped in mid-run") {
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 10), spec(1.5, 16, 1)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(2.5);
  class Patient : public Fcfs {  // decodes only
    void plan(const VisibleReplica&, Plan& plan) override { plan.decode_all(); }
  } patient;
  LinearSteps slow(2);
  simulation.set_steps(0, slow);
  simulation.run_until(3);
  CHECK(simulation.totals().steps == 3);
  simulation.set_scheduler(0, patient);
  simulation.run();
  CHECK(bench.recorder.steps[3] == "3..5: d1 w0 u2");
  CHECK(bench.recorder.of(1).outcome == Outcome::completed);  // it was served at 2

  Bench other(100, 64);
  ListedWorkload more({spec(0, 16, 2), spec(0, 16, 1)});
  Simulation waits(other.cluster, other.bindings(more));
  waits.set_scheduler(0, patient);
  waits.run_until(5);
  CHECK(waits.totals().ended[static_cast<int>(Outcome::starved)] == 2);
}

TEST_CASE("a swapped scheduler is asked at once when the replica is idle") {
  class Nothing : public SchedulerPolicy {
    void plan(const VisibleReplica&, Plan&) override {}
  } nothing;
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 1), spec(100, 16, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&nothing};
  Simulation simulation(bench.cluster, bindings);
  simulation.run_until(7);
  CHECK(simulation.totals().steps == 0);
  simulation.set_scheduler(0, bench.scheduler);
  simulation.run();
  CHECK(bench.recorder.steps == Lines{"7..8: p0:16+0* w0 u1", "100..101: p1:16+0* w0 u1"});
}

TEST_CASE("keys order the queue, ties by arrival, and a preempted request returns by its key") {
  class ByPriority : public Fcfs {
   public:
    bool has_key() const override { return true; }
    double key(const Request& request) override { return request.priority; }
  } scheduler;
  Bench bench(100, 16);
  std::vector<RequestSpec> specs{spec(0, 16, 1), spec(0, 16, 1), spec(0, 16, 1), spec(0, 16, 1)};
  specs[0].priority = specs[3].priority = 2;
  specs[1].priority = specs[2].priority = 1;
  ListedWorkload workload(specs);
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&scheduler};
  simulate(bench.cluster, bindings);
  CHECK(bench.recorder.steps == Lines{"0..1: p1:16+0* w3 u1", "1..2: p2:16+0* w2 u1",
                                      "2..3: p0:16+0* w1 u1", "3..4: p3:16+0* w0 u1"});
}

TEST_CASE(
    "a policy that chooses victims is asked for each, and a planned victim gives back its token") {
  class Oldest : public Fcfs {
   public:
    bool has_victim() const override { return true; }
    std::int32_t victim(const VisibleReplica& replica) override {
      return replica.view().running_head;
    }
  } scheduler;
  Bench bench(4, 16, 4);
  bench.replica().prefix_caching = false;
  ListedWorkload workload({spec(0, 7, 3), spec(0, 8, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&scheduler};
  simulate(bench.cluster, bindings);
  // At 1 request 0 decodes into its second block; request 1 needs a third, and 0 has to go.
  CHECK(bench.recorder.steps == Lines{"0..1: p0:7+0* p1:8+0* w0 u4", "1..2: d1 w1 u3",
                                      "2..3: d1 w1 u3", "3..4: p0:8+0* w0 u2", "4..5: d1 w0 u3"});
  CHECK(bench.recorder.preempted == Lines{"1:0"});
}

TEST_CASE("a scheduler can sleep until a time") {
  class Sleepy : public Fcfs {
    void plan(const VisibleReplica& replica, Plan& plan) override {
      if (replica.view().now_s < 5) return plan.wake_at(5);
      Fcfs::plan(replica, plan);
    }
  } sleepy;
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&sleepy};
  simulate(bench.cluster, bindings);
  CHECK(bench.recorder.steps == Lines{"5..6: p0:16+0* w0 u1"});
}

TEST_CASE("the engine's structs that scripts read are plain") {
  CHECK(std::is_trivially_copyable_v<Request>);
  CHECK(std::is_standard_layout_v<Request>);
  CHECK(std::is_standard_layout_v<ReplicaView>);
  CHECK(std::is_standard_layout_v<PlanView>);
  CHECK(std::is_standard_layout_v<Batch>);
  CHECK(std::is_standard_layout_v<StepPrice>);
  CHECK(std::is_standard_layout_v<ReplicaSignals>);
  CHECK(std::is_standard_layout_v<RouteView>);
  CHECK(sizeof(Request) + sizeof(Progress) < 512);  // per request in flight
}
