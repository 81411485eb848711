// Blocks that a request holds besides those of its tokens: windows and recurrent states.
// Steps last one second; blocks have four tokens.

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

using Lines = std::vector<std::string>;

/// Each request holds `seat_blocks` beside its tokens.
struct Seated : Bench {
  Seated(std::int32_t blocks, std::int32_t seat_blocks) : Bench(blocks, 64, 4) {
    replica().seat_blocks = seat_blocks;
    replica().prefix_caching = false;
  }
};

}  // namespace

// A request of 4 + 2 tokens needs 2 blocks and 3 for its seat. 8 blocks hold the first step of two.
TEST_CASE("admission needs the blocks of the seat, and the end gives them back") {
  Seated bench(8, 3);
  bench.scheduler.full_must_fit = true;
  bench.run({spec(0, 4, 1), spec(0, 4, 1), spec(0, 4, 1)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:4+0* p1:4+0* w1 u8", "1..2: p2:4+0* w0 u4"});
  Seated plain(8, 0);
  plain.run({spec(0, 4, 1), spec(0, 4, 1), spec(0, 4, 1)});
  CHECK(plain.recorder.steps == Lines{"0..1: p0:4+0* p1:4+0* p2:4+0* w0 u3"});
}

// 8 blocks: both have 1 + 3. The first needs one more for its fifth token: the second gives 4 back.
TEST_CASE("preemption gives back the blocks of the seat, and admission takes them again") {
  Seated bench(8, 3);
  bench.run({spec(0, 4, 3), spec(0, 4, 3)});
  CHECK(bench.recorder.preempted == Lines{"1:1"});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:4+0* p1:4+0* w0 u8", "1..2: d1 w1 u5",
                                      "2..3: d1 w1 u5", "3..4: p1:5+0* w0 u5", "4..5: d1 w0 u5"});
}

TEST_CASE("a request fits only beside the blocks of its own seat") {
  Seated bench(5, 3);
  bench.run({spec(0, 8, 1), spec(0, 9, 1), spec(0, 8, 2)});
  CHECK(bench.recorder.of(0).outcome == Outcome::completed);
  CHECK(bench.recorder.of(1).outcome == Outcome::exceeds_kv_cache);
  // Its ninth token has no room: it loses its seat, and can never come back.
  CHECK(bench.recorder.of(2).outcome == Outcome::exceeds_kv_cache);
  Seated none(3, 3);
  none.run({spec(0, 1, 1)});
  CHECK(none.recorder.of(0).outcome == Outcome::exceeds_kv_cache);
}

TEST_CASE("the blocks of a seat carry no content, and take the place of content") {
  for (const bool shared : {false, true}) {
    const auto cached = [&](std::int32_t blocks) {
      Seated bench(blocks, 2);
      bench.replica().prefix_caching = true;
      const Segment same[] = {{7, 9}}, other[] = {{8, 9}};
      std::vector<RequestSpec> specs{spec(0, 9, 1), spec(5, 9, 1), spec(10, 9, 1)};
      for (RequestSpec& each : specs) each.segments = same;
      if (shared) specs[1].segments = other;
      bench.run(specs);
      return bench.recorder.of(shared ? 2 : 1).cached_tokens;
    };
    // Three blocks of tokens, two of them full, and two of the seat.
    CHECK(cached(5) == (shared ? 0 : 8));
    CHECK(cached(7) == 8);
  }
}

// While KV moves, windows and states are on both sides.
TEST_CASE("both replicas of a transfer hold the blocks of the seat until the KV has come") {
  Seated bench(8, 3);
  bench.replica().role = Role::prefill;
  bench.cluster.replicas.push_back(bench.replica());
  bench.cluster.replicas[1].role = Role::decode;
  bench.cluster.replicas[1].seat_blocks = 2;
  bench.cluster.transfer = {1, 1e30, 1};
  ListedWorkload workload({spec(0, 8, 2)});
  Simulation simulation(bench.cluster, bench.bindings(workload));
  const auto used_at = [&](double time_s) {
    simulation.run_until(time_s);
    return std::pair(simulation.replica(0).kv().used_blocks(),
                     simulation.replica(1).kv().used_blocks());
  };
  CHECK(used_at(0.5) == std::pair(5, 0));  // being computed
  CHECK(used_at(1.5) == std::pair(5, 4));  // on its way
  CHECK(used_at(2.5) == std::pair(0, 4));  // here, its last token is being computed
  CHECK(used_at(9) == std::pair(0, 0));
}

TEST_CASE("a prompt is sent with its states, and of a window no more than the window") {
  const KvTransfer transfer{0, 1, 10, 1000, {{2, 100}, {3, 50}}};
  CHECK(transfer.bytes(20) == 1000 + 200 + 40 + 60);
  CHECK(transfer.bytes(70) == 1000 + 700 + 140 + 150);
  CHECK(transfer.bytes(500) == 1000 + 5000 + 200 + 150);
  CHECK(KvTransfer{0, 1, 10}.bytes(7) == 70);
}
