#include <cmath>
#include <functional>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

class Scripted : public SchedulerPolicy {
 public:
  explicit Scripted(std::function<void(const VisibleReplica&, Plan&)> what)
      : what_(std::move(what)) {}
  void plan(const VisibleReplica& replica, Plan& plan) override { what_(replica, plan); }

 private:
  std::function<void(const VisibleReplica&, Plan&)> what_;
};

/// Two requests, 16 + 3 and 32 + 3 tokens, one-second steps, ten blocks.
void run_with(std::function<void(const VisibleReplica&, Plan&)> what, std::int32_t budget = 64,
              std::int32_t depth = 1) {
  Bench bench(10, budget);
  bench.replica().async_depth = depth;
  Scripted scheduler(std::move(what));
  ListedWorkload workload({spec(0, 16, 3), spec(0, 32, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&scheduler};
  simulate(bench.cluster, bindings);
}

std::int32_t head(const VisibleReplica& replica) {
  return replica.view().waiting_head;
}

}  // namespace

TEST_CASE("a scheduler that does the impossible is told what it did") {
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) {
                      const std::int32_t slot = head(r);
                      p.admit(slot, 16);
                      p.admit(slot, 16);
                    }),
                    ContainsSubstring("at 0 s, replica 1, plan 0: admit(request 0, prefilling)") &&
                        ContainsSubstring("only a waiting request"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.admit(head(r), 17); }),
                    ContainsSubstring("more tokens than the request has pending"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.admit(head(r), 0); }),
                    ContainsSubstring("at least one token"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.admit(head(r), 16); }, 15),
                    ContainsSubstring("max_num_batched_tokens"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.decode(head(r)); }),
                    ContainsSubstring("decode(request 0, waiting)"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.prefill(head(r), 1); }),
                    ContainsSubstring("only a prefilling request"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) { p.preempt(head(r)); }),
                    ContainsSubstring("only a running request can be preempted"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica&, Plan& p) { p.preempt(1 << 30); }),
                    ContainsSubstring("no such request"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica&, Plan& p) { p.decode(-5); }),
                    ContainsSubstring("no such request"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica&, Plan& p) { p.decode_all(-7); }),
                    ContainsSubstring("limit"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica&, Plan& p) { p.wake_at(0); }),
                    ContainsSubstring("wake_at"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica&, Plan& p) { p.wake_at(NAN); }),
                    ContainsSubstring("wake time"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) {
                      const std::int32_t slot = head(r);
                      p.admit(slot, 16);
                      p.preempt(slot);
                    }),
                    ContainsSubstring("admitted in this very step"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) {
                      p.decode_all();
                      p.decode_all();
                      if (head(r) >= 0) p.admit(head(r), 16);
                    }),
                    ContainsSubstring("decode_all"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) {
                      if (head(r) >= 0) p.admit(head(r), 16);
                      if (r.view().decodes == 0) return;
                      const std::int32_t slot = r.view().running_head;
                      p.preempt(slot);
                      CHECK_FALSE(p.admit(slot, 17));
                      p.reject(slot);
                    }),
                    ContainsSubstring("preempted in this very step"));
  CHECK_THROWS_WITH(run_with([](const VisibleReplica& r, Plan& p) {
                      if (head(r) >= 0) p.admit(head(r), 16);
                      if (r.view().decodes == 0) return;
                      p.decode(r.view().running_head);
                      p.decode(r.view().running_head);
                    }),
                    ContainsSubstring("scheduled in this step already"));
}

TEST_CASE("a refusal is a number for callers that must not see exceptions") {
  run_with([](const VisibleReplica& r, Plan& p) {
    if (head(r) < 0) return;
    CHECK(p.try_admit(head(r), {1 << 20, 0, 0, 0}) == -1);
    CHECK(p.view().refusal == Refusal::too_many_tokens);
    CHECK(p.view().tokens == 0);
    CHECK(p.try_shed(0) == -1);
    p.reject(head(r));
    if (head(r) >= 0) p.reject(head(r));
  });
}

TEST_CASE("no means that nothing changed") {
  run_with([](const VisibleReplica& r, Plan& p) {
    if (head(r) < 0) return;
    const std::int32_t slot = head(r);
    CHECK_FALSE(p.admit(slot, {16, 161, 0, 0}));
    CHECK_FALSE(p.admit(slot, {16, 0, 161, 0}));
    CHECK_FALSE(p.admit(slot, {16, 0, 0, 10}));
    CHECK(r.view().free_blocks == 10);
    CHECK(r.view().seats == 0);
    CHECK(p.view().tokens == 0);
    CHECK(head(r) == slot);
    p.reject(slot);
  });
}

TEST_CASE("a scheduler that plans nothing for ever starves its requests, it does not hang") {
  Bench bench(10, 64);
  Scripted nothing([](const VisibleReplica&, Plan&) {});
  ListedWorkload workload({spec(0, 16, 3), spec(4, 32, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.schedulers = {&nothing};
  const Totals totals = simulate(bench.cluster, bindings);
  CHECK(totals.ended[static_cast<int>(Outcome::starved)] == 2);
  CHECK(totals.ended[0] == 0);

  Scripted sleeps([](const VisibleReplica& r, Plan& p) { p.wake_at(r.view().now_s + 1e-3); });
  ListedWorkload again({spec(0, 16, 3)});
  bindings.schedulers = {&sleeps};
  bindings.workload = &again;
  CHECK(simulate(bench.cluster, bindings).ended[static_cast<int>(Outcome::starved)] == 1);
}

TEST_CASE("requests that are preempted for ever starve, and those after them still run") {
  for (const std::int32_t depth : {1, 2}) {
    Bench bench(10, 64);
    bench.replica().async_depth = depth;
    // Request 0 is admitted and preempted in turn; once it is gone, the others are served.
    Scripted fights([](const VisibleReplica& r, Plan& p) {
      const std::int32_t seated = r.view().running_head;
      if (seated >= 0 && r.request(seated).id == 0) p.preempt(seated);
      if (p.view().preempted > 0) return;
      if (r.view().decodes > 0) p.decode_all();
      if (r.view().seats == 0 && r.view().waiting > 0)
        p.admit(r.view().waiting_head, r.request(r.view().waiting_head).id == 0 ? 1 : 16);
    });
    ListedWorkload workload({spec(0, 16, 3), spec(0.5, 16, 3), spec(1e6, 16, 2)});
    Bindings bindings = bench.bindings(workload);
    bindings.schedulers = {&fights};
    const Totals totals = simulate(bench.cluster, bindings);
    CHECK(totals.ended[static_cast<int>(Outcome::starved)] == 1);
    CHECK(totals.ended[0] == 2);
    CHECK(bench.recorder.of(0).outcome == Outcome::starved);
    CHECK(bench.recorder.of(0).preemptions > 100'000);
    CHECK(bench.recorder.of(1).outcome == Outcome::completed);
  }
}

TEST_CASE("a scheduler's own exception ends the run and reaches the caller") {
  CHECK_THROWS_WITH(
      run_with([](const VisibleReplica&, Plan&) { throw Error("mine.lua:3", "oops"); }),
      "mine.lua:3: oops");
}

TEST_CASE("requests that cannot be are refused with their number") {
  const auto run = [](RequestSpec request) { Bench(10, 64).run({spec(0, 1, 1), request}); };
  CHECK_THROWS_WITH(run(spec(0, 0, 1)), ContainsSubstring("request 2: prompt_tokens: found 0"));
  CHECK_THROWS_WITH(run(spec(0, 1, -3)), ContainsSubstring("output_tokens: found -3"));
  CHECK_THROWS_WITH(run(spec(-1, 1, 1)), ContainsSubstring("finite and not negative"));
  CHECK_THROWS_WITH(run(spec(NAN, 1, 1)), ContainsSubstring("nan"));
  CHECK_THROWS_WITH(run(spec(1e9, 1, 1)), ContainsSubstring("106 days"));
  RequestSpec torn = spec(0, 10, 1);
  const std::vector<Segment> segments{{1, 4}};
  torn.segments = segments;
  CHECK_THROWS_WITH(run(torn), ContainsSubstring("they add up to 4 tokens; the prompt has 10"));
  CHECK_THROWS_WITH(Bench(10, 64).run({spec(2, 1, 1), spec(1, 1, 1)}),
                    ContainsSubstring("request 2") && ContainsSubstring("must not decrease"));
}

TEST_CASE("a prompt that never fits fails at once and the others go on") {
  Bench bench(2, 64);
  bench.replica().max_model_len = 30;
  const Totals totals = bench.run({spec(0, 33, 1), spec(0, 30, 1), spec(0, 20, 99)});
  CHECK(totals.ended[static_cast<int>(Outcome::exceeds_kv_cache)] == 0);
  CHECK(totals.ended[static_cast<int>(Outcome::exceeds_max_model_len)] == 2);
  CHECK(bench.recorder.of(2).output_tokens == 10);  // 30 - 20
  Bench tight(2, 64);
  CHECK(tight.run({spec(0, 33, 1), spec(0, 32, 1)})
            .ended[static_cast<int>(Outcome::exceeds_kv_cache)] == 1);
}

TEST_CASE("step times that cannot be end the run") {
  const auto run = [](double time_s) {
    Bench bench(10, 64);
    bench.model.base_s = time_s;
    bench.run({spec(0, 16, 3)});
    return bench.recorder.steps.size();
  };
  CHECK_THROWS_WITH(run(-1), ContainsSubstring("step model"));
  CHECK_THROWS_WITH(run(NAN), ContainsSubstring("nan"));
  CHECK_THROWS_WITH(run(INFINITY), ContainsSubstring("inf"));
  CHECK_THROWS_WITH(run(5e6), ContainsSubstring("end of the clock"));
  CHECK(run(0) == 3);  // a step lasts at least a picosecond
}

TEST_CASE("configurations that cannot be name the key") {
  const auto check = [](std::function<void(ClusterConfig&)> spoil, const char* message) {
    Bench bench(10, 64);
    spoil(bench.cluster);
    CHECK_THROWS_WITH(validate(bench.cluster), ContainsSubstring(message));
  };
  check([](ClusterConfig& c) { c.replicas.clear(); }, "at least one");
  check([](ClusterConfig& c) { c.replicas[0].kv_blocks = 0; },
        "replicas[1].kv_blocks: expected 1 to 1e+09 blocks, found 0");
  check([](ClusterConfig& c) { c.replicas[0].block_size = 0; }, "block_size");
  check([](ClusterConfig& c) { c.replicas[0].async_depth = 3; },
        "async_depth: expected 1 to 2 steps, found 3");
  check([](ClusterConfig& c) { c.replicas[0].max_num_seqs = -1; }, "max_num_seqs");
  check([](ClusterConfig& c) { c.replicas[0].seat_blocks = -1; },
        "replicas[1].seat_blocks: expected 0 to 1e+09 blocks, found -1");
  check([](ClusterConfig& c) { c.replicas[0].context_caps[2] = -1; }, "context_caps[3]: found -1");
  check([](ClusterConfig& c) { c.replicas[0].context_chunk = -5; },
        "context_chunk: expected 0 to 1e+09 tokens, found -5");
  check([](ClusterConfig& c) { c.replicas[0].role = Role::prefill; }, "need decode replicas");
  check([](ClusterConfig& c) { c.frontend.base_s = NAN; }, "frontend.base_s");
  check([](ClusterConfig& c) { c.transfer.alpha_s = -1; }, "transfer.alpha_s");
  Bench two(10, 64);
  two.cluster.replicas.push_back(two.replica());
  CHECK_THROWS_WITH(two.run({spec(0, 1, 1)}), ContainsSubstring("several replicas need one"));
}
