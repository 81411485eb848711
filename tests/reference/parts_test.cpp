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

}  // namespace rooflua::reference
