// Clients with patience, one by one: when they end a request, what they send again, and who is told
// what. Steps last a second.

#include <memory>

#include "serve/contract/client.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

class Fixed : public ClientPolicy {
 public:
  Patience wait;
  int retries = 0;
  double delay_s = 0;
  bool keeps = false;
  std::vector<Outcome> asked;
  Patience patience(const Request&, RandomStream&) override { return wait; }
  std::optional<Again> again(const Request&, const Ending& ending, RandomStream&) override {
    asked.push_back(ending.outcome);
    if (ending.attempt >= retries) return {};
    return Again{delay_s, keeps};
  }
};

/// Counts the ends that it is told.
class Listens : public ListedWorkload {
 public:
  using ListedWorkload::ListedWorkload;
  std::vector<RequestDone> ended;
  void on_done(const RequestDone& done, FollowUps&) override { ended.push_back(done); }
};

class Refuses : public Router {
 public:
  int times = 1;
  bool may_refuse() const override { return true; }
  std::int32_t route(const Request&, const RouteView& view) override {
    return times-- > 0 ? refused : view.candidates[0];
  }
};

RequestSpec with_content(RequestSpec spec, std::vector<Segment>& segments, std::uint64_t answer) {
  spec.segments = segments;
  spec.output_content = answer;
  return spec;
}

}  // namespace

TEST_CASE("patience counts from the sending, and a first token in time counts") {
  Bench bench(100, 64);
  bench.replica().max_num_seqs = 1;
  Fixed client;
  client.wait.first_token_s = 2;
  Listens workload({spec(0, 16, 4), spec(0.5, 16, 2)});  // one after the other: 0..4, 4..6
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  Simulation simulation(bench.cluster, bindings);
  simulation.run();
  CHECK(bench.recorder.of(0).outcome == Outcome::completed);
  CHECK(bench.recorder.of(1).outcome == Outcome::timed_out);
  CHECK(bench.recorder.of(1).now == 5 * s / 2);
  CHECK(client.asked == std::vector<Outcome>{Outcome::timed_out});
  CHECK(workload.ended.size() == 2);
  CHECK(simulation.now() == 4 * s);  // no instant at the patience that was not needed
}

TEST_CASE("a first token that comes when patience ends is in time, with a frontend it is late") {
  for (const double delay_s : {0.0, 0.25}) {
    Bench bench(100, 64);
    bench.cluster.frontend.per_output_token_s = delay_s;
    Fixed client;
    client.wait.first_token_s = 1;
    Listens workload({spec(0, 16, 3)});
    Bindings bindings = bench.bindings(workload);
    bindings.client = &client;
    simulate(bench.cluster, bindings);
    CHECK(bench.recorder.of(0).outcome == (delay_s == 0 ? Outcome::completed : Outcome::timed_out));
  }
}

TEST_CASE("a request that is sent again has its content, and the workload is told the last end") {
  Bench bench(100, 64);
  Fixed client;
  client.wait.total_s = 2.5;
  client.retries = 2;
  client.delay_s = 0.5;
  RequestSpec first = spec(1, 16, 4);
  first.klass = 1;
  first.session = 7;
  first.tenant = 3;
  first.deadline_s = 9;
  Listens workload({first});
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  Simulation simulation(bench.cluster, bindings);
  simulation.run();
  REQUIRE(bench.recorder.done.size() == 3);
  for (std::int32_t id = 0; id < 3; ++id) {
    const RequestDone& done = bench.recorder.of(id);
    CAPTURE(id);
    CHECK(done.arrival == s + 3 * id * s);
    CHECK(done.now == done.arrival + 5 * s / 2);
    CHECK(done.attempt == id);
    CHECK(done.origin == (id == 0 ? -1 : 0));
    CHECK(done.is_retried == (id < 2));
    CHECK((done.klass == 1 && done.session == 7 && done.tenant == 3));
    CHECK((done.prompt_tokens == 16 && done.output_tokens == 2));
  }
  REQUIRE(workload.ended.size() == 1);
  CHECK(workload.ended[0].id == 2);
  CHECK(simulation.totals().arrived == 3);
  CHECK(simulation.requests().alive() == 0);
}

TEST_CASE("a client that keeps its output goes on with it, and no token is generated twice") {
  Bench bench(100, 64, 4);
  bench.replica().prefix_caching = true;
  Fixed client;
  client.wait.total_s = 5.5;  // five tokens
  client.retries = 5;
  client.keeps = true;
  std::vector<Segment> question{{11, 8}};
  std::vector<Segment> later{{11, 8}, {12, 12}, {13, 4}};  // repeats the answer
  std::vector<RequestSpec> specs{with_content(spec(0, 8, 12), question, 12),
                                 with_content(spec(40, 24, 1), later, 14)};
  class Both : public Listens {
   public:
    using Listens::Listens;
    bool shares_content() const override { return true; }
  } workload(specs);
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  simulate(bench.cluster, bindings);
  const RequestDone &first = bench.recorder.of(0), &second = bench.recorder.of(1),
                    &third = bench.recorder.of(2);
  CHECK((first.output_tokens == 5 && first.keeps_output && first.carried_tokens == 0));
  CHECK((second.prompt_tokens == 13 && second.output_tokens == 5 && second.carried_tokens == 5));
  CHECK((third.prompt_tokens == 18 && third.output_tokens == 2 && third.carried_tokens == 10));
  CHECK(third.outcome == Outcome::completed);
  CHECK(first.output_tokens + second.output_tokens + third.output_tokens == 12);
  // What was generated in three parts is one content: all whole blocks of 8 + 12 - 1 tokens.
  CHECK(bench.recorder.of(3).cached_tokens == 16);
}

TEST_CASE("what is refused may be sent again, and what does not fit is final") {
  Bench bench(10, 64);
  bench.replica().max_model_len = 100;
  Fixed client;
  client.retries = 3;
  Refuses router;
  router.times = 2;
  Listens workload({spec(0, 16, 1), spec(1, 100, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  bindings.router = &router;
  simulate(bench.cluster, bindings);
  CHECK(client.asked == std::vector<Outcome>{Outcome::refused, Outcome::refused});
  REQUIRE(workload.ended.size() == 2);
  CHECK(workload.ended[0].attempt == 2);
  CHECK(workload.ended[0].now == s);  // refused, refused and served at one instant
  CHECK(workload.ended[1].outcome == Outcome::exceeds_max_model_len);
}

TEST_CASE("a cancel is final, and comes at its time") {
  Bench bench(100, 64);
  Fixed client;
  client.wait.cancel_s = 1.25;
  client.wait.total_s = 9;
  client.retries = 3;
  Listens workload({spec(0, 16, 4)});
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  simulate(bench.cluster, bindings);
  CHECK(bench.recorder.done.size() == 1);
  CHECK(bench.recorder.of(0).outcome == Outcome::cancelled);
  CHECK(bench.recorder.of(0).now == 5 * s / 4);
  CHECK(client.asked.empty());
}

TEST_CASE("a client that never gives up and does not wait is an error") {
  Bench bench(100, 64);
  Fixed client;
  client.retries = INT32_MAX;
  Refuses router;
  router.times = INT32_MAX;
  Listens workload({spec(0, 16, 1)});
  Bindings bindings = bench.bindings(workload);
  bindings.client = &client;
  bindings.router = &router;
  Simulation simulation(bench.cluster, bindings);
  CHECK_THROWS_WITH(simulation.run(), ContainsSubstring("give up"));
}
