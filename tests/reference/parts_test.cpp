// Parts of a run that meet: small questions whose times are known by hand.

#include <vector>

#include "tests/catch.h"
#include "tests/reference/cases/cluster.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

namespace {

Prompt prompt_at(Ps arrival, int prompt, int output, int adapter = 0) {
  Prompt out;
  out.plain.arrival = arrival;
  out.plain.prompt = prompt;
  out.plain.output = out.plain.max_new = output;
  out.plain.adapter = adapter;
  return out;
}

/// Room for all requests at once.
VllmConfig wide() {
  VllmConfig out;
  out.blocks = 100;
  out.max_num_seqs = 10;
  out.max_num_batched_tokens = 1000;
  return out;
}

/// One replica, whose steps take 10,000 ps.
ClusterCase one_replica(std::vector<Prompt> prompts) {
  ClusterCase out;
  out.question.config = wide();
  out.question.prompts = std::move(prompts);
  out.question.spell_tokens();
  ClusterReplica replica;
  replica.config = wide();
  replica.tariff.step = 10'000;
  out.replicas = {replica};
  return out;
}

/// Admits first, so that decodes may take the blocks of what it has just admitted.
class AdmitsFirst : public SchedulerPolicy {
 public:
  void plan(const VisibleReplica& replica, Plan& plan) override {
    const ReplicaView& view = replica.view();
    while (view.waiting_head >= 0) {
      Admission wish;
      wish.tokens = replica.request(view.waiting_head).prompt_tokens;
      if (plan.admit(view.waiting_head, wish) == 0) break;
    }
    plan.decode_all(Plan::no_limit);
  }
};

}  // namespace

TEST_CASE("a replica that is repaired before its failure is found out is not taken for ready") {
  ClusterCase cluster = one_replica({prompt_at(100, 10, 1)});
  PoolCase pool;
  pool.replicas = pool.count = pool.min = pool.max = 1;
  pool.interval = 1'000'000;
  pool.init = 5'000;
  cluster.pools = {pool};
  cluster.faults.list = {{.time = 10, .replica = 0, .lasts = 1}};
  cluster.faults.detect = 900'000;
  cluster.faults.connect = 50;
  const History found = run_engine(cluster);
  CHECK(found.requests[0].aborted == unset);
  CHECK(found.requests[0].scheduled == 5'011);
  CHECK(found.requests[0].held == 5'011 - 100);
}

TEST_CASE("a gate is asked when a request has been aborted between two instants") {
  ClusterCase cluster = one_replica({prompt_at(0, 10, 5), prompt_at(50, 10, 1)});
  cluster.gate.kind = 1;
  cluster.gate.most_in_flight = 1;
  cluster.aborts = {{.time = 1'234, .id = 0}};
  SECTION("with the next tick of its clock") {
    cluster.gate.interval = 100;
    cluster.gate.rules.interval_s = seconds(100);
    CHECK(run_engine(cluster).requests[1].held == 1'300 - 50);
  }
  SECTION("with the next signals") {
    cluster.gate.staleness = 70;
    cluster.gate.rules.staleness_s = seconds(70);
    CHECK(run_engine(cluster).requests[1].held == 1'260 - 50);
  }
}

// Request 1 takes the last two blocks, and request 0 needs one of them in the same plan.
TEST_CASE("a request that loses its seat in the plan that gave it loads no adapter") {
  ServingCase question;
  question.config = wide();
  question.config.blocks = 3;
  question.config.max_loras = 2;
  question.tariff.step = 1'000;
  question.prompts = {prompt_at(0, 16, 5, 1), prompt_at(500, 32, 1, 2)};
  question.spell_tokens();
  const AdapterCase adapters{
      .count = 2, .slots = 2, .cpu_slots = 2, .slot = {100, 700}, .fetch = {0, 0}};
  AdmitsFirst scheduler;
  EngineRun run(question, scheduler, {}, &adapters);
  run.simulation().run();
  const std::vector<StepLog>& steps = run.history().steps;
  REQUIRE(steps.size() == 6);
  CHECK(steps[0].end == 1'100);
  CHECK(steps[1].end == 2'100);  // request 1 came and went
  CHECK(steps[4].end == 5'100);
  CHECK(steps[5].end == 6'800);
  CHECK(run.history().requests[1].preemptions == 1);
}

}  // namespace rooflua::reference
