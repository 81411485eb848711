// Prompts whose KV sets off before they are computed, leases, and prompts that their decode replica
// computes itself. Steps last one second.

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;
using Lines = std::vector<std::string>;

/// Replica 1 computes prompts in chunks of 4 tokens, replica 2 decodes; blocks of four tokens. A
/// token of KV is a byte; KV takes 0.5 s + bytes / 8 s.
struct Split : Bench {
  Split(Push push, std::int32_t decode_blocks = 64, std::int32_t prefill_blocks = 64)
      : Bench(prefill_blocks, 64, 4) {
    replica().role = Role::prefill;
    cluster.replicas.push_back(replica());
    cluster.replicas[1].role = Role::decode;
    cluster.replicas[1].kv_blocks = decode_blocks;
    cluster.transfer = {0.5, 8, 1};
    cluster.disaggregation.push = push;
    scheduler.chunk = 4;
    scheduler.full_must_fit = true;
  }
  void over_links() {
    cluster.links = {{"nic", 8, 0, LinkScope::node}};
    cluster.transfer.path.between = {"nic"};
  }
};

class Transfers : public Observer {
 public:
  Lines lines;
  void on_transfer(const TransferSeen& seen) override {
    char text[80];
    std::snprintf(text, sizeof text, "%d: %g..%g %g bytes", seen.id, seconds(seen.start),
                  seconds(seen.end), seen.bytes);
    lines.push_back(text);
  }
};

Lines transfers(Split& bench, std::vector<RequestSpec> specs, Decider* decider = nullptr) {
  Transfers seen;
  ListedWorkload workload(std::move(specs));
  Bindings bindings = bench.bindings(workload);
  bindings.observers.push_back(&seen);
  bindings.decider = decider;
  simulate(bench.cluster, bindings);
  return seen.lines;
}

/// Splits requests with odd ids.
class Odd : public Decider {
 public:
  std::vector<std::int32_t> cached;
  double queued_tokens = -1, budget_tokens = -1, transfer_s = -1;
  bool split(const Request& request, const PairView& view) override {
    CHECK(view.decode == 1);
    REQUIRE(view.pool.candidate_count == 1);
    CHECK(view.pool.candidates[0] == 0);
    cached.push_back(view.cached_tokens);
    const PairMember member = view.source->member(view, 0);
    queued_tokens = member.queued_tokens;
    budget_tokens = member.budget_tokens;
    transfer_s = member.transfer_s;
    return request.id % 2 == 1;
  }
};

}  // namespace

// The prompt is computed from 0 to 1 and from 1 to 2. At the end of it: 0.5 + 8 / 8 s. By chunks:
// each takes 0.5 + 4 / 8 s from its end on. By layers: each takes 0.5 s and as long as its step.
TEST_CASE("KV of a chunk sets off with the end of its step, and that of layers with its start") {
  for (const bool over_links : {false, true}) {
    CAPTURE(over_links);
    const auto seen = [&](Push push) {
      Split bench(push);
      if (over_links) bench.over_links();
      const Lines lines = transfers(bench, {spec(0, 8, 2)});
      return std::pair(lines, bench.recorder.of(0).first_token);
    };
    CHECK(seen(Push::end) == std::pair(Lines{"0: 2..3.5 8 bytes"}, 9 * s / 2));
    CHECK(seen(Push::chunks) == std::pair(Lines{"0: 1..2 4 bytes", "0: 2..3 4 bytes"}, 4 * s));
    CHECK(seen(Push::layers) ==
          std::pair(Lines{"0: 0..1.5 4 bytes", "0: 1..2.5 4 bytes"}, 7 * s / 2));
  }
}

TEST_CASE("layers whose KV takes longer than their step end when it is there") {
  for (const bool over_links : {false, true}) {
    Split bench(Push::layers);
    bench.cluster.transfer.bytes_per_s = 2;
    if (over_links) bench.over_links();
    CHECK(transfers(bench, {spec(0, 4, 2)}) == Lines{"0: 0..2.5 4 bytes"});
  }
}

TEST_CASE("blocks of the decode replica are taken when the first KV sets off") {
  Split bench(Push::chunks);
  ListedWorkload workload({spec(0, 8, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  const auto blocks_at = [&](double time_s) {
    simulation.run_until(time_s);
    return std::pair(simulation.replica(0).kv().used_blocks(),
                     simulation.replica(1).kv().used_blocks());
  };
  CHECK(blocks_at(0.5) == std::pair(1, 0));
  CHECK(simulation.outstanding(1) == 0);
  CHECK(blocks_at(1.5) == std::pair(2, 2));
  CHECK(simulation.outstanding(1) == 1);
  CHECK(blocks_at(2.5) == std::pair(2, 2));
  CHECK(blocks_at(3.5) == std::pair(0, 2));
  CHECK(blocks_at(9) == std::pair(0, 0));
  const RequestDone& done = bench.recorder.of(0);
  CHECK(done.computed == 2 * s);
  CHECK(done.room == 1 * s);
  CHECK(done.arrived == 3 * s);
  CHECK(done.kept_blocks == 2);
  CHECK(done.sent_bytes == 8);
}

// Request 0 takes 2 of 3 blocks of the decode replica, and from its second token on all of them,
// until 9 tokens are there. Request 1 finds no room and waits as where nothing is pushed.
TEST_CASE("a prompt for which there is no room queues at the decode replica when it is computed") {
  const auto lines = [](Push push) {
    Split bench(push, 3);
    return transfers(bench, {spec(0, 8, 4), spec(2, 8, 2)});
  };
  CHECK(lines(Push::end) == Lines{"0: 2..3.5 8 bytes", "1: 7.5..9 8 bytes"});
  CHECK(lines(Push::chunks) == Lines{"0: 1..2 4 bytes", "0: 2..3 4 bytes", "1: 7..8.5 8 bytes"});
}

TEST_CASE("what layers keep at most goes with the last chunk") {
  Split bench(Push::chunks);
  bench.cluster.transfer.fixed_bytes = 3;
  bench.cluster.transfer.bounded = {{2, 5}};
  CHECK(transfers(bench, {spec(0, 8, 2)}) == Lines{"0: 1..2 4 bytes", "0: 2..4.625 17 bytes"});
}

// The prefill replica has 3 blocks. Request 0 has one chunk computed and sent, request 1 another;
// neither finds the rest of its blocks beside the other, until request 1 gives up its own.
TEST_CASE("a request whose KV is read is not preempted; one that is sends all of its KV again") {
  Split bench(Push::chunks, 64, 3);
  bench.scheduler.full_must_fit = false;
  const Lines seen = transfers(bench, {spec(0, 8, 2), spec(0, 8, 2)});
  REQUIRE(seen.size() >= 4);
  double bytes_of_1 = 0;
  for (const std::string& line : seen)
    if (line.starts_with("1:")) bytes_of_1 += std::stod(line.substr(line.rfind("..") + 4));
  CHECK(bench.recorder.preempted.size() >= 1);
  CHECK(bench.recorder.done.size() == 2);
  CHECK(bench.recorder.of(1).outcome == Outcome::completed);
  CHECK(bench.recorder.of(1).sent_bytes > 8);
}

TEST_CASE("with the decode replica chosen first, it computes what the decider does not split") {
  Split bench(Push::end);
  bench.cluster.disaggregation.order = SplitOrder::decode_first;
  Odd odd;
  CHECK(transfers(bench, {spec(0, 8, 2), spec(0, 8, 2), spec(4, 8, 2)}, &odd) ==
        Lines{"1: 2..3.5 8 bytes"});
  CHECK(bench.recorder.of(0).prefill_replica == -1);
  CHECK(bench.recorder.of(0).first_token == 2 * s);
  CHECK(bench.recorder.of(0).computed == never);
  CHECK(bench.recorder.of(1).prefill_replica == 0);
  CHECK(bench.recorder.of(2).prefill_replica == -1);
  for (const RequestDone& each : bench.recorder.done) CHECK(each.replica == 1);
  CHECK(odd.cached == std::vector<std::int32_t>{0, 0, 0});
  CHECK(odd.queued_tokens == 0);
  CHECK(odd.budget_tokens == 64);
  CHECK(odd.transfer_s == 1.5);
}

TEST_CASE("a request counts at its decode replica from the choice on") {
  Split bench(Push::end);
  bench.cluster.disaggregation.order = SplitOrder::decode_first;
  ListedWorkload workload({spec(0, 8, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(0.5);
  CHECK(simulation.outstanding(0) == 1);
  CHECK(simulation.outstanding(1) == 1);
  CHECK(simulation.abort_by_id(0, Outcome::cancelled));
  CHECK(simulation.outstanding(0) == 0);
  CHECK(simulation.outstanding(1) == 0);
}

// The decode replica is full until 7.5. Request 1 is computed at 4; its lease ends at 5, and its
// blocks are free. When there is room, all of it is computed again.
TEST_CASE("a prompt that waits for room longer than its lease is computed by the decode replica") {
  Split bench(Push::end, 3);
  bench.scheduler.chunk = 0;
  bench.cluster.disaggregation.lease_s = 1;
  ListedWorkload workload({spec(0, 8, 4), spec(2, 8, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  simulation.run_until(3.5);
  CHECK(simulation.replica(0).kv().used_blocks() == 2);
  simulation.run_until(4.25);
  CHECK(simulation.replica(0).kv().used_blocks() == 0);
  CHECK(simulation.outstanding(0) == 0);
  simulation.run();
  const RequestDone& done = bench.recorder.of(1);
  CHECK(done.outcome == Outcome::completed);
  CHECK(done.computed == 3 * s);
  CHECK(done.room == never);
  CHECK(done.arrived == 4 * s);
  CHECK(bench.recorder.steps.back().find("d1") != std::string::npos);
  CHECK(std::count(bench.recorder.steps.begin(), bench.recorder.steps.end(),
                   "6.5..7.5: p1:8+0* w0 u2") == 1);
}

TEST_CASE("settings of replicas that are split are refused where they make no sense") {
  const auto problem = [](auto change) -> std::string {
    Split bench(Push::end);
    change(bench.cluster);
    try {
      validate(bench.cluster);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem([](ClusterConfig&) {}).empty());
  CHECK(problem([](ClusterConfig& c) {
          c.disaggregation.order = SplitOrder::decode_first;
          c.replicas.push_back(c.replicas[0]);
          c.replicas[2].role = Role::both;
        }) ==
        "replicas[3].role: is both, and with disaggregation.order = \"decode_first\" every "
        "replica is of the role prefill or decode");
  CHECK(problem([](ClusterConfig& c) {
          c.disaggregation.push = Push::layers;
          c.replicas[0].stages.shares = {0.5, 0.5};
          c.replicas[0].stages.links = {{0, 0}};
        }) ==
        "replicas[1].stages: disaggregation.push = \"layers\" is not modelled with several "
        "stages of layers; \"chunks\" is");
  CHECK(problem([](ClusterConfig& c) {
          c.disaggregation.lease_s = -1;
        }).starts_with("disaggregation.lease_s"));
}
