#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// The candidate with the fewest outstanding requests; keeps what it saw.
class Least : public Router {
 public:
  double stale_s = 0;
  bool by_running = false;
  std::vector<std::string> seen;
  double staleness_s() const override { return stale_s; }
  std::int32_t route(const Request& request, const RouteView& view) override {
    std::int32_t best = view.candidates[0];
    std::string line = std::to_string(request.id) + ":";
    for (std::int32_t i = 0; i < view.candidate_count; ++i) {
      const std::int32_t replica = view.candidates[i];
      if (load(view.signals[replica]) < load(view.signals[best])) best = replica;
      line += ' ';
      line += std::to_string(load(view.signals[replica]));
    }
    seen.push_back(line);
    return best;
  }

 private:
  std::int32_t load(const ReplicaSignals& signals) const {
    return by_running ? signals.waiting + signals.running : signals.outstanding;
  }
};

Lines replicas_of(const Recorder& recorder) {
  Lines lines;
  for (const RequestDone& done : recorder.done)
    lines.push_back(std::to_string(done.id) + ">" + std::to_string(done.replica));
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a router sees fresh signals, and ends before arrivals at the same instant") {
  Bench bench(100, 64);
  bench.cluster.replicas.push_back(bench.replica());
  ListedWorkload workload({spec(0, 16, 1), spec(0, 16, 2), spec(1, 16, 1), spec(1, 16, 1)});
  Least router;
  Bindings bindings = bench.bindings(workload);
  bindings.router = &router;
  simulate(bench.cluster, bindings);
  CHECK(router.seen == Lines{"0: 0 0", "1: 1 0", "2: 0 1", "3: 1 1"});
  CHECK(replicas_of(bench.recorder) == Lines{"0>0", "1>1", "2>0", "3>0"});
}

TEST_CASE("stale signals stand still between multiples of the staleness") {
  Bench bench(100, 64);
  bench.cluster.replicas.push_back(bench.replica());
  ListedWorkload workload({spec(0.1, 16, 9), spec(0.2, 16, 9), spec(0.6, 16, 9), spec(1.0, 16, 9)});
  Least router;
  router.stale_s = 0.5;
  router.by_running = true;
  Bindings bindings = bench.bindings(workload);
  bindings.router = &router;
  simulate(bench.cluster, bindings);
  // Taken at 0 (no request), at 0.5 (the first two, on replica 0), at 1.0 before the last arrives.
  CHECK(router.seen == Lines{"0: 0 0", "1: 0 0", "2: 2 0", "3: 2 1"});
}

TEST_CASE("prefill and decode split: KV travels, the first token comes from the decode replica") {
  Bench bench(10, 64);
  bench.replica().role = Role::prefill;
  bench.cluster.replicas.push_back(bench.replica());
  bench.cluster.replicas[1].role = Role::decode;
  bench.cluster.transfer = {0.5, 32, 1};  // 0.5 s + 16 B / 32 B/s
  const Totals totals = bench.run({spec(0, 16, 3), spec(0, 160, 1)});
  CHECK(bench.recorder.steps ==
        Lines{
            "0..1: p0:16+0* p1:48+0 w0 u4",
            "1..2: p1:64+48 w0 u8",  // request 0's block is still being pulled
            "2..3: p1:48+112* w0 u10",
            "2..3: p0:1+15* w0 u1",
            "3..4: d1 w1 u2",  // all ten blocks are needed: request 1 waits where it was computed
            "4..5: d1 w1 u2",
            "10.5..11.5: p1:1+159* w0 u10",
        });
  const RequestDone& done = bench.recorder.of(0);
  CHECK(done.first_token == 3 * s);
  CHECK(done.last_token == 5 * s);
  CHECK(done.prefill_replica == 0);
  CHECK(done.replica == 1);
  CHECK(totals.output_tokens == 4);
  CHECK(totals.ended[0] == 2);
}

TEST_CASE("a decode replica that preempts recomputes the prompt itself") {
  Bench bench(4, 64, 4);
  bench.replica().role = Role::prefill;
  bench.replica().prefix_caching = false;
  bench.cluster.replicas.push_back(bench.replica());
  bench.cluster.replicas[1].role = Role::decode;
  bench.cluster.transfer = {1, 1e30, 1};
  bench.run({spec(0, 8, 3), spec(0, 8, 3)});
  CHECK(bench.recorder.steps == Lines{"0..1: p0:8+0* p1:8+0* w0 u4", "2..3: p0:1+7* p1:1+7* w0 u4",
                                      "3..4: d1 w1 u3", "4..5: d1 w1 u3", "5..6: p1:9+0* w0 u3",
                                      "6..7: d1 w0 u3"});
}

TEST_CASE("the frontend delays requests and tokens, not the replica") {
  Bench bench(10, 64);
  bench.cluster.frontend = {0.25, 1.0 / 64, 0.5};
  bench.run({spec(0, 16, 2)});
  CHECK(bench.recorder.steps == Lines{"0.5..1.5: p0:16+0* w0 u1", "1.5..2.5: d1 w0 u2"});
  const RequestDone& done = bench.recorder.of(0);
  CHECK(done.arrival == 0);
  CHECK(done.queued == s / 2);
  CHECK(done.first_token == 2 * s);
  CHECK(done.last_token == 3 * s);
  CHECK(done.now == 3 * s);
}

namespace {

/// Each end is answered by one more request, until there were enough.
class ClosedLoop : public Workload {
 public:
  ClosedLoop(int requests, double think_s) : left_(requests), think_s_(think_s) {}
  bool next(RequestSpec& out) override {
    if (started_ || left_ == 0) return false;
    started_ = true;
    --left_;
    out = spec(0, 16, 2);
    return true;
  }
  void on_done(const RequestDone& done, FollowUps& follow_ups) override {
    if (left_-- > 0) follow_ups.send(spec(seconds(done.now) + think_s_, 16, 2));
  }

 private:
  int left_;
  double think_s_;
  bool started_ = false;
};

}  // namespace

TEST_CASE("a closed loop answers each end, at once or after a pause") {
  Bench bench(10, 64);
  ClosedLoop at_once(3, 0), thinking(2, 0.5);
  simulate(bench.cluster, bench.bindings(at_once));
  CHECK(bench.recorder.steps == Lines{"0..1: p0:16+0* w0 u1", "1..2: d1 w0 u2",
                                      "2..3: p1:16+0* w0 u1", "3..4: d1 w0 u2",
                                      "4..5: p2:16+0* w0 u1", "5..6: d1 w0 u2"});
  Bench slow(10, 64);
  simulate(slow.cluster, slow.bindings(thinking));
  CHECK(slow.recorder.steps[2] == "2.5..3.5: p1:16+0* w0 u1");
}

TEST_CASE("what is sent at one instant comes in order: the stream, then follow-ups as given") {
  class Meeting : public ListedWorkload {
   public:
    Meeting() : ListedWorkload({spec(0, 16, 1), spec(0, 16, 3), spec(3, 19, 1)}) {}
    void on_done(const RequestDone& done, FollowUps& follow_ups) override {
      if (done.id == 0) follow_ups.send(spec(3, 17, 1));
      if (done.id != 1) return;
      follow_ups.send(spec(seconds(done.now), 18, 1));
      follow_ups.send(spec(seconds(done.now) + 1, 20, 1));
      follow_ups.send(spec(seconds(done.now), 21, 1));
    }
  } meeting;
  Bench bench(20, 200);
  simulate(bench.cluster, bench.bindings(meeting));
  CHECK(bench.recorder.of(1).last_token == 3 * s);
  std::vector<std::int32_t> prompts;
  for (std::int32_t id = 2; id < 7; ++id) prompts.push_back(bench.recorder.of(id).prompt_tokens);
  CHECK(prompts == std::vector<std::int32_t>{19, 17, 18, 21, 20});
  for (std::int32_t id = 2; id < 6; ++id) CHECK(bench.recorder.of(id).arrival == 3 * s);
}

TEST_CASE("a closed loop survives failures: every client goes on") {
  Bench bench(1, 64, 8);  // 16 tokens never fit into 8
  ClosedLoop loop(5, 0);
  const Totals totals = simulate(bench.cluster, bench.bindings(loop));
  CHECK(totals.arrived == 5);
  CHECK(totals.ended[static_cast<int>(Outcome::exceeds_kv_cache)] == 5);
}

TEST_CASE("a replica that is asked for cached tokens by a router answers without side effects") {
  class Probe : public Router {
   public:
    std::vector<std::int32_t> cached;
    std::int32_t route(const Request&, const RouteView& view) override {
      cached.push_back(cached_tokens(view, 0));
      cached.push_back(cached_tokens(view, 1));
      return cached[cached.size() - 1] > 0 ? 1 : 0;
    }
  } probe;
  Bench bench(10, 64);
  bench.cluster.replicas.push_back(bench.replica());
  const std::vector<Segment> prompt{{5, 40}};
  RequestSpec a = spec(0, 40, 1), b = spec(3, 40, 1);
  a.segments = b.segments = prompt;
  ListedWorkload workload({a, b});
  Bindings bindings = bench.bindings(workload);
  bindings.router = &probe;
  simulate(bench.cluster, bindings);
  CHECK(probe.cached == std::vector<std::int32_t>{0, 0, 32, 0});
  CHECK(bench.recorder.of(1).cached_tokens == 32);
}
