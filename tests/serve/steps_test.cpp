// Schedules computed by hand: every step lasts one second.

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

void check_times(const RequestDone& done, Picoseconds first, Picoseconds last) {
  CAPTURE(done.id);
  CHECK(done.outcome == Outcome::completed);
  CHECK(done.first_token == first);
  CHECK(done.last_token == last);
}

}  // namespace

TEST_CASE("a prompt is cut to the budget and the next one fills what is left") {
  Bench bench(100, 32);
  bench.run({spec(0, 40, 3), spec(0, 16, 2)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:32+0 w1 u2",
                                    "1..2: p0:8+32* p1:16+0* w0 u4",
                                    "2..3: d2 w0 u5",  // 41 tokens in 3 blocks, 17 in 2
                                    "3..4: d1 w0 u3",
                                });
  check_times(bench.recorder.of(0), 2 * s, 4 * s);
  check_times(bench.recorder.of(1), 2 * s, 3 * s);
  CHECK(bench.recorder.gaps == std::vector<Picoseconds>{s, s, s});
}

TEST_CASE("a request of one token is over with its prefill and holds ceil(P/16) blocks") {
  Bench bench(2, 64);
  bench.run({spec(0, 32, 1), spec(0, 32, 1)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:32+0* w1 u2", "1..2: p1:32+0* w0 u2"});
}

TEST_CASE("the tail is preempted when a block is missing, keeps its tokens and recomputes them") {
  Bench bench(4, 16, 4);
  bench.replica().prefix_caching = false;
  bench.run({spec(0, 8, 6), spec(0, 7, 4)});
  CHECK(bench.recorder.steps ==
        Lines{
            "0..1: p0:8+0* p1:7+0* w0 u4",
            "1..2: d1 w1 u3",  // request 0 needs its 3rd block
            "2..3: d1 w1 u3",  // 8 tokens of request 1 need 2 blocks, 1 is free
            "3..4: d1 w1 u3",
            "4..5: d1 w1 u3",
            "5..6: d1 w1 u4",
            "6..7: p1:8+0* w0 u2",  // prompt 7 and the token it had
            "7..8: d1 w0 u3",
            "8..9: d1 w0 u3",
        });
  CHECK(bench.recorder.preempted == Lines{"1:1"});
  check_times(bench.recorder.of(0), 1 * s, 6 * s);
  check_times(bench.recorder.of(1), 1 * s, 9 * s);
  CHECK(bench.recorder.of(1).preemptions == 1);
  CHECK(bench.recorder.gaps == std::vector<Picoseconds>{s, s, s, s, s, 6 * s, s, s});
}

TEST_CASE("a resumed request hits the full blocks it left behind, unless they were reused") {
  for (const bool real_blocks : {false, true}) {
    CAPTURE(real_blocks);
    Bench kept(4, 16, 4);
    kept.replica().real_blocks = real_blocks;
    kept.run({spec(0, 8, 5), spec(0, 7, 4)});
    CHECK(kept.recorder.steps == Lines{
                                     "0..1: p0:8+0* p1:7+0* w0 u4",
                                     "1..2: d1 w1 u3",
                                     "2..3: d1 w1 u3",
                                     "3..4: d1 w1 u3",
                                     "4..5: d1 w1 u3",
                                     "5..6: p1:4+4* w0 u2",  // one full block was still there
                                     "6..7: d1 w0 u3",
                                     "7..8: d1 w0 u3",
                                 });
    CHECK(kept.recorder.of(1).cached_tokens == 0);  // at its first admission

    Bench reused(4, 16, 4);
    reused.replica().real_blocks = real_blocks;
    reused.run({spec(0, 8, 6), spec(0, 7, 4)});
    CHECK(reused.recorder.steps[5] == "5..6: d1 w1 u4");       // takes the last free block
    CHECK(reused.recorder.steps[6] == "6..7: p1:8+0* w0 u2");  // so nothing is left to hit
  }
}

TEST_CASE("a lone request that preempts itself and can never fit again fails with the reason") {
  Bench bench(2, 64, 4);
  const Totals totals = bench.run({spec(0, 7, 10)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:7+0* w0 u2", "1..2: d1 w0 u2"});
  REQUIRE(bench.recorder.done.size() == 1);
  CHECK(bench.recorder.done[0].outcome == Outcome::exceeds_kv_cache);
  CHECK(bench.recorder.done[0].output_tokens == 2);
  CHECK(totals.ended[static_cast<int>(Outcome::exceeds_kv_cache)] == 1);
}

TEST_CASE(
    "with depth 2 an arrival during step k runs in step k+2 and a finish frees one step later") {
  Bench bench(100, 32);
  bench.replica().async_depth = 2;
  bench.run({spec(0, 16, 3), spec(0.5, 16, 1)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:16+0* w0 u1",
                                    "1..2: d1 w0 u2",  // planned at 0
                                    "2..3: d1 p1:16+0* w0 u3",
                                });
  check_times(bench.recorder.of(0), 1 * s, 3 * s);
  check_times(bench.recorder.of(1), 3 * s, 3 * s);
}

TEST_CASE("with depth 2 a finishing request keeps its seat until its last step ends") {
  Bench bench(100, 32);
  bench.replica().async_depth = 2;
  bench.replica().max_num_seqs = 1;
  bench.run({spec(0, 16, 3), spec(0.5, 16, 2)});
  CHECK(bench.recorder.steps ==
        Lines{
            "0..1: p0:16+0* w0 u1",
            "1..2: d1 w0 u2",
            "2..3: d1 w1 u2",  // its last token: the plan at 2 finds no seat
            "3..4: p1:16+0* w0 u1",
            "4..5: d1 w0 u2",
        });
}

TEST_CASE("with depth 1 an arrival during step k runs in step k+1, also one at the very end of k") {
  Bench bench(100, 64);
  bench.run({spec(0, 16, 3), spec(1, 16, 1), spec(1.5, 16, 1)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:16+0* w0 u1",
                                    "1..2: d1 p1:16+0* w0 u3",
                                    "2..3: d1 p2:16+0* w0 u3",
                                });
}

TEST_CASE("with depth 2 a preempted request keeps the token that was in flight") {
  // As above with depth 1, but the plan at 1 finds request 1 with its first token landed, and the
  // plan at 0 already needed the block.
  Bench bench(4, 16, 4);
  bench.replica().async_depth = 2;
  bench.replica().prefix_caching = false;
  bench.run({spec(0, 8, 3), spec(0, 7, 2)});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:8+0* p1:7+0* w0 u4",
                                    "1..2: d1 w1 u3",  // planned at 0: request 1 preempted at once
                                    "2..3: d1 w1 u3",  // request 0's last token
                                    "3..4: p1:8+0* w0 u2",  // its 2nd token, from 7 + 1
                                });
  CHECK(bench.recorder.preempted == Lines{"0:1"});
  check_times(bench.recorder.of(1), 1 * s, 4 * s);
}

TEST_CASE(
    "prefixes are shared as soon as they are scheduled, in whole blocks, never the whole prompt") {
  Bench bench(100, 64);
  const std::vector<Segment> long_prompt{{7, 32}, {0, 1}}, other_end{{7, 32}, {0, 8}},
      exact{{7, 32}};
  RequestSpec a = spec(0, 33, 1), b = spec(0, 40, 1), c = spec(2, 32, 1);
  a.segments = long_prompt;
  b.segments = other_end;
  c.segments = exact;
  bench.run({a, b, c});
  CHECK(bench.recorder.steps == Lines{
                                    "0..1: p0:33+0* p1:8+32* w0 u4",
                                    "2..3: p2:16+16* w0 u2",  // at most 31 tokens: one block
                                });
  CHECK(bench.recorder.of(1).cached_tokens == 32);
}

TEST_CASE("the next turn of a session hits the generated tokens of the one before") {
  Bench bench(100, 64, 4);
  const std::vector<Segment> first{{1, 6}}, second{{1, 6}, {2, 6}, {3, 4}};
  RequestSpec a = spec(0, 6, 6), b = spec(10, 16, 1);
  a.segments = first;
  a.output_content = 2;
  b.segments = second;
  bench.run({a, b});
  // 6 + 5 tokens had KV: two full blocks
  CHECK(bench.recorder.steps.back() == "10..11: p1:8+8* w0 u4");
}

TEST_CASE("what is admitted can hold its whole prompt, or all it may ever need") {
  Bench sarathi(3, 16, 16);
  sarathi.scheduler.hold_prompt = true;
  sarathi.run({spec(0, 32, 1), spec(0, 32, 1)});
  CHECK(sarathi.recorder.steps == Lines{"0..1: p0:16+0 w1 u2", "1..2: p0:16+16* w1 u2",
                                        "2..3: p1:16+0 w0 u2", "3..4: p1:16+16* w0 u2"});
  Bench orca(4, 64, 16);
  orca.scheduler.hold_all = true;
  orca.run({spec(0, 16, 17), spec(0, 16, 2), spec(0, 16, 1)});
  CHECK(orca.recorder.steps[0] == "0..1: p0:16+0* w2 u3");  // 33 tokens; 18 more do not fit
  CHECK(orca.recorder.steps[16] == "16..17: d1 w2 u3");     // and it never needed another block
  CHECK(orca.recorder.steps[17] == "17..18: p1:16+0* p2:16+0* w0 u4");
}

TEST_CASE("full_sequence_must_fit admits nothing that is larger than what is free, chunk or not") {
  Bench lax(3, 16, 16), strict(3, 16, 16);
  strict.scheduler.full_must_fit = true;
  const std::vector<RequestSpec> specs{spec(0, 31, 3), spec(0, 32, 1)};
  lax.run(specs);
  strict.run(specs);
  CHECK(lax.recorder.steps[1] == "1..2: p0:15+16* p1:1+0 w0 u3");
  CHECK(strict.recorder.steps[1] == "1..2: p0:15+16* w1 u2");
}

TEST_CASE("a watermark keeps blocks free while a request runs") {
  Bench bench(4, 64, 16);
  bench.scheduler.watermark = 1;
  bench.run({spec(0, 48, 2), spec(0, 16, 1)});
  CHECK(bench.recorder.steps ==
        Lines{"0..1: p0:48+0* w1 u3", "1..2: d1 w1 u4", "2..3: p1:16+0* w0 u1"});
}

TEST_CASE("a static batch admits only when it is empty") {
  Bench bench(100, 64);
  bench.replica().max_num_seqs = 2;
  bench.scheduler.whole_batches = true;
  bench.run({spec(0, 16, 1), spec(0, 16, 3), spec(0, 16, 1)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* p1:16+0* w1 u2", "1..2: d1 w1 u2",
                                      "2..3: d1 w1 u2", "3..4: p2:16+0* w0 u1"});
}

TEST_CASE("more decodes than budget: the oldest go first, the others wait a step") {
  Bench bench(100, 2);
  bench.run({spec(0, 1, 3), spec(0, 1, 3), spec(1, 1, 3)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:1+0* p1:1+0* w0 u2", "1..2: d2 w1 u2",
                                      "2..3: d2 w1 u2", "3..4: p2:1+0* w0 u1", "4..5: d1 w0 u1",
                                      "5..6: d1 w0 u1"});
  Bench tight(100, 3);
  class Two : public Fcfs {
    void plan(const VisibleReplica& replica, Plan& plan) override {
      plan.decode_all(2);
      while (replica.view().waiting > 0) plan.admit(replica.view().waiting_head, 1);
    }
  } two;
  Bindings bindings;
  ListedWorkload workload({spec(0, 1, 3), spec(0, 1, 3), spec(0, 1, 3)});
  bindings = tight.bindings(workload);
  bindings.schedulers = {&two};
  simulate(tight.cluster, bindings);
  CHECK(tight.recorder.steps.size() == 5);
  check_times(tight.recorder.of(1), 1 * s, 3 * s);
  check_times(tight.recorder.of(2), 1 * s, 5 * s);
  CHECK(tight.recorder.gaps == std::vector<Picoseconds>{s, s, s, s, 3 * s, s});
}

TEST_CASE("a step model sees contexts as before the step, one by one if it asks") {
  class Spy : public StepModel {
   public:
    std::vector<std::string> seen;
    void price(const Batch& batch, StepPrice& price) override {
      std::string line = std::to_string(static_cast<int>(batch.decode_context_tokens)) + " of";
      const std::int32_t* contexts = decode_contexts(batch);
      for (std::int32_t i = 0; i < batch.decodes; ++i)
        line.append(1, ' ').append(std::to_string(contexts[i]));
      line += ", max " + std::to_string(decode_context_max(batch)) + ", sampled " +
              std::to_string(batch.sampled);
      seen.push_back(line);
      price.time_s = 1;
    }
  } spy;
  Bench bench(100, 64);
  ListedWorkload workload({spec(0, 16, 3), spec(1, 20, 2)});
  Bindings bindings = bench.bindings(workload);
  bindings.steps = {&spy};
  simulate(bench.cluster, bindings);
  CHECK(spy.seen == Lines{"0 of, max 0, sampled 1", "16 of 16, max 16, sampled 2",
                          "37 of 17 20, max 20, sampled 2"});
}
