// Prompts that are computed by one replica and decoded by another one: which of them holds blocks
// when.
// Steps last one second.   @source SERVING A3

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// Replica 1 computes prompts, replica 2 decodes; blocks of four tokens, KV takes `transfer_s`.
struct Split : Bench {
  Split(std::int32_t prefill_blocks, std::int32_t decode_blocks, double transfer_s)
      : Bench(prefill_blocks, 64, 4) {
    replica().role = Role::prefill;
    cluster.replicas.push_back(replica());
    cluster.replicas[1].role = Role::decode;
    cluster.replicas[1].kv_blocks = decode_blocks;
    cluster.transfer = {transfer_s, 1e30, 1};
    scheduler.full_must_fit = true;
  }
  std::int32_t used(const Simulation& simulation, std::int32_t replica) const {
    return simulation.replica(replica).kv().used_blocks();
  }
};

class Transfers : public Observer {
 public:
  std::vector<std::string> lines;
  void on_transfer(const TransferSeen& seen) override {
    char text[64];
    std::snprintf(text, sizeof text, "%d: %g..%g", seen.id, seconds(seen.start), seconds(seen.end));
    lines.push_back(text);
  }
};

using Lines = std::vector<std::string>;

}  // namespace

// Prompts of 8 tokens are 2 blocks, with 3 tokens of output 3 (8 + 2 = 10 tokens). P has 4 blocks:
// two prompts. D has 3: one prompt, and one block for its output.
//   0..1   P computes 0 and 1 (4 blocks of 4); 2 and 3 wait
//   1      0 takes 2 of D's 3 blocks, its KV moves until 1.5; 1 has no room: P keeps its 2 blocks
//   1.5    0's blocks at P are free: P computes 2 (1.5..2.5), and D runs 0 (1.5..4.5, 3 tokens)
//   2.5    2 is done and has no room either: P is full again, 3 must wait
//   4.5    0 ends: 1 is pulled (..5), then runs 5..8; P has room for 3 at 5, computed 5..6
//   8      1 ends: 2 is pulled (..8.5), runs 8.5..11.5;  11.5: 3 is pulled (..12), runs 12..15
TEST_CASE("a full decode replica holds up the prefill replica") {
  Split bench(4, 3, 0.5);
  Transfers transfers;
  ListedWorkload workload({spec(0, 8, 3), spec(0, 8, 3), spec(0, 8, 3), spec(0, 8, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers.push_back(&transfers);
  const Totals totals = simulate(bench.cluster, bindings);
  CHECK(transfers.lines == Lines{"0: 1..1.5", "1: 4.5..5", "2: 8..8.5", "3: 11.5..12"});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:8+0* p1:8+0* w2 u4",
                                      "1.5..2.5: p2:8+0* w1 u4",  // beside request 1, which is kept
                                      "1.5..2.5: p0:1+7* w1 u2",  // request 1 waits for room
                                      "2.5..3.5: d1 w2 u3", "3.5..4.5: d1 w2 u3",
                                      "5..6: p3:8+0* w0 u4",  // beside request 2
                                      "5..6: p1:1+7* w1 u2", "6..7: d1 w2 u3", "7..8: d1 w2 u3",
                                      "8.5..9.5: p2:1+7* w1 u2", "9.5..10.5: d1 w1 u3",
                                      "10.5..11.5: d1 w1 u3", "12..13: p3:1+7* w0 u2",
                                      "13..14: d1 w0 u3", "14..15: d1 w0 u3"});
  CHECK(bench.recorder.of(0).first_token == 5 * s / 2);
  CHECK(bench.recorder.of(3).first_token == 13 * s);
  CHECK(bench.recorder.of(3).last_token == 15 * s);
  CHECK(totals.ended[static_cast<std::size_t>(Outcome::completed)] == 4);
}

TEST_CASE("blocks are taken on both sides while KV moves, and never counted nowhere") {
  Split bench(8, 8, 1);
  ListedWorkload workload({spec(0, 8, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  const auto blocks_at = [&](double time_s) {
    simulation.run_until(time_s);
    return std::pair(bench.used(simulation, 0), bench.used(simulation, 1));
  };
  CHECK(blocks_at(0.5) == std::pair(2, 0));  // being computed
  CHECK(blocks_at(1.5) == std::pair(2, 2));  // on its way
  CHECK(simulation.outstanding(0) == 1);
  CHECK(simulation.outstanding(1) == 1);
  CHECK(simulation.replica(1).view().free_blocks == 6);
  const std::unique_ptr<Workload> rest = workload.fork();
  Bindings forked = bench.bindings(*rest);
  forked.observers.clear();
  const std::unique_ptr<Simulation> fork = simulation.fork(forked);
  CHECK(blocks_at(2.5) == std::pair(0, 2));  // here, its last token is being computed
  CHECK(blocks_at(9) == std::pair(0, 0));
  CHECK(bench.recorder.of(0).last_token == 4 * s);
  fork->run();
  CHECK(fork->totals().last_end == simulation.totals().last_end);
  CHECK(bench.used(*fork, 0) + bench.used(*fork, 1) == 0);
}

TEST_CASE("a prompt larger than the decode replica's cache fails there and frees the prefill's") {
  Split bench(8, 3, 1);
  const Totals totals = bench.run({spec(0, 16, 2), spec(2, 8, 1)});
  CHECK(bench.recorder.of(0).outcome == Outcome::exceeds_kv_cache);
  CHECK(bench.recorder.of(0).now == 1 * s);
  CHECK(bench.recorder.of(0).replica == 1);
  CHECK(bench.recorder.steps.back() == "4..5: p1:1+7* w0 u2");
  CHECK(bench.recorder.steps[1] == "2..3: p1:8+0* w0 u2");
  CHECK(totals.ended[static_cast<std::size_t>(Outcome::completed)] == 1);
}

TEST_CASE(
    "a decode replica that never makes room ends with the reason: all requests that are left "
    "starve") {
  class Never : public SchedulerPolicy {
    void plan(const VisibleReplica&, Plan&) override {}
  } never_runs;
  Split bench(4, 8, 1);
  ListedWorkload workload({spec(0, 8, 2), spec(0, 8, 2), spec(0, 8, 2)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers[1] = &never_runs;
  Simulation simulation(bench.cluster, bindings);
  simulation.run();
  for (const std::int32_t id : {0, 1, 2}) CHECK(bench.recorder.of(id).outcome == Outcome::starved);
  CHECK(bench.recorder.of(2).replica == 0);  // the prefill replica stayed full
  CHECK(bench.recorder.of(0).replica == 1);
  CHECK(bench.used(simulation, 0) + bench.used(simulation, 1) == 0);
  CHECK(simulation.outstanding(0) + simulation.outstanding(1) == 0);
}

// D has 5 blocks, KV takes 6 s. Request 0 decodes there and needs its fourth block at 12, when it
// has 3 and request 1, whose KV is on its way, the other 2: it loses its seat. At 15 request 1 is
// there, and must not stand after request 0, which needs 4 blocks: only request 1 can free them.
TEST_CASE("a request whose KV is here is seated before a preempted request that waits for blocks") {
  Split bench(12, 5, 6);
  bench.cluster.replicas[1].prefix_caching = false;
  bench.run({spec(0, 8, 9), spec(7.5, 8, 1)});
  CHECK(bench.recorder.preempted == Lines{"12:0"});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:8+0* w0 u2", "7..8: p0:1+7* w0 u2",
                                      "7.5..8.5: p1:8+0* w0 u2", "8..9: d1 w0 u3",
                                      "9..10: d1 w0 u5", "10..11: d1 w0 u5", "11..12: d1 w0 u5",
                                      "15..16: p1:1+7* w1 u2", "16..17: p0:13+0* w0 u4",
                                      "17..18: d1 w0 u4", "18..19: d1 w0 u4", "19..20: d1 w0 u4"});
}

// The same in chunks of 4 tokens. From 17 on request 0 is computed again, a block per step, 4
// blocks in all. Request 2 needs 2 and sees 4 free, of which 3 will be request 0's: it waits for
// its end.
TEST_CASE("blocks that a seated prompt still needs are not given to a prompt on its way") {
  Split bench(12, 5, 6);
  bench.cluster.replicas[1].prefix_caching = false;
  bench.scheduler.chunk = 4;
  Transfers transfers;
  ListedWorkload workload({spec(0, 8, 9), spec(7.5, 8, 1), spec(13, 8, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers.push_back(&transfers);
  simulate(bench.cluster, bindings);
  CHECK(transfers.lines == Lines{"0: 2..8", "1: 10..16", "2: 24..30"});
  CHECK(bench.recorder.preempted == Lines{"13:0"});
}
