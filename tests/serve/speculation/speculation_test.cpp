// Laws of speculation: what holds whatever the workload.

#include <cstdio>
#include <ctime>

#include "tests/serve/speculation/case.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("drafts that are never accepted change the price of steps and not the schedule") {
  int wider = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Case it = random_case(seed, false);
    ReplicaConfig& replica = it.cluster.replicas.front();
    replica.max_num_batched_tokens = 0;  // neither budget nor blocks bind
    replica.max_model_len = {};
    replica.kv_blocks = 100000;
    Case same = it;
    Fixed speculator(3);
    Rates never({0, 0, 0});
    Answer plain = serve(it.cluster, it.scheduler, it.specs, nullptr, nullptr);
    Answer drafts = serve(same.cluster, same.scheduler, same.specs, &speculator, &never);
    REQUIRE(plain.ledger.done.size() == drafts.ledger.done.size());
    for (std::size_t i = 0; i < plain.ledger.done.size(); ++i) {
      CHECK(plain.ledger.done[i].last_token == drafts.ledger.done[i].last_token);
      CHECK(plain.ledger.done[i].first_token == drafts.ledger.done[i].first_token);
    }
    CHECK(plain.totals.steps == drafts.totals.steps);
    wider += drafts.ledger.verified > drafts.ledger.rows;
  }
  CHECK(wider >= 50);
}

TEST_CASE("tokens, drafts and blocks balance in every step of random cases") {
  std::int64_t preemptions = 0, discarded = 0, overshoot = 0, shared_hits = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 3 == 0);
    ReplicaConfig& replica = it.cluster.replicas.front();
    const int k = static_cast<int>(seed % 6);
    replica.lookahead = seed % 2 == 0 ? k : 0;
    replica.drops_last_hit = seed % 4 == 0;
    replica.seed = seed;
    replica.kv_blocks += (3 * k + 2) / replica.block_size + 1;
    if (seed % 5 == 0) it.scheduler.singly = true;
    Fixed speculator(k, seed % 3 == 1);
    Rates rates({0.8, 0.7, 0.9, 0.2, 0.6}, seed % 7 == 0);
    const Answer answer = serve(it.cluster, it.scheduler, it.specs, &speculator, &rates, 0.01);
    const Ledger& ledger = answer.ledger;
    CHECK(ledger.output_tokens == ledger.landed);
    CHECK(ledger.accepted == ledger.landed_of_rows - ledger.rows + ledger.overshoot);
    CHECK(answer.totals.output_tokens == ledger.landed);
    CHECK(rates.curves <= static_cast<std::int64_t>(it.specs.size()));
    CHECK(speculator.rows == ledger.rows);
    CHECK(static_cast<std::int64_t>(ledger.gaps.size()) >= ledger.rows);
    preemptions += answer.totals.preemptions;
    discarded += ledger.discarded_rows;
    overshoot += ledger.overshoot;
    for (const RequestDone& done : ledger.done) shared_hits += done.cached_tokens > 0;
  }
  CHECK(preemptions > 1000);
  CHECK(discarded > 500);
  CHECK(overshoot > 500);
  CHECK(shared_hits > 50);
}

TEST_CASE("asked on change or at every step, together or one by one: the same drafts") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::vector<std::vector<std::string>> steps;
    for (const int way : {0, 1, 2}) {
      Case it = random_case(seed, seed % 3 == 0);
      ReplicaConfig& replica = it.cluster.replicas.front();
      replica.lookahead = 3;
      replica.kv_blocks += 12 / replica.block_size + 1;
      it.scheduler.always = way >= 1;
      it.scheduler.singly = way == 2;
      Fixed speculator(3);
      Rates rates({0.8, 0.7, 0.6});
      steps.push_back(
          serve(it.cluster, it.scheduler, it.specs, &speculator, &rates, 0.01).ledger.steps);
    }
    CHECK(steps[0] == steps[1]);
    CHECK(steps[0] == steps[2]);
  }
}

TEST_CASE("nothing that is planned before the first rows land knows what will be accepted") {
  for (const int depth : {1, 2}) {
    std::vector<std::vector<double>> asked;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      ClusterConfig cluster = roomy(depth);
      cluster.replicas.front().seed = seed;
      Fcfs scheduler;
      Fixed speculator(3);
      Rates rates({0.5, 0.5, 0.5});
      serve(cluster, scheduler, {spec(0, 50, 40), spec(0, 60, 40), spec(0, 70, 40)}, &speculator,
            &rates);
      // The first rows are planned in the second plan and land after the third at depth 2.
      speculator.asked.resize(static_cast<std::size_t>(depth) + 1);
      asked.push_back(speculator.asked);
    }
    for (const auto& each : asked) CHECK(each == asked.front());
  }
}

TEST_CASE("a request that ends while its next row is planned: the row costs and does not land") {
  Fcfs scheduler;
  Fixed speculator(3);
  Rates always({1, 1, 1});
  RequestSpec ends = spec(0, 16, 6);
  ends.max_output_tokens = 100;
  const Answer answer = serve(roomy(2), scheduler, {ends}, &speculator, &always);
  // First token; rows of 4 land 4 and 1 of 4; the third row was planned before it ended.
  CHECK(answer.ledger.landed == 6);
  CHECK(answer.ledger.rows == 2);
  CHECK(answer.ledger.overshoot == 3);
  CHECK(answer.ledger.discarded_rows == 1);
  CHECK(answer.ledger.verified == 12);
  // The limit is reached by accepted drafts: it was not known that the third row was one too many.
  const Answer limit = serve(roomy(2), scheduler, {spec(0, 16, 5)}, &speculator, &always);
  CHECK(limit.ledger.discarded_rows == 1);
  // With one step in flight nothing is planned after an end.
  CHECK(serve(roomy(1), scheduler, {ends}, &speculator, &always).ledger.discarded_rows == 0);
}

TEST_CASE("a hit loses its last block where the drafter needs it") {
  const std::vector<Segment> prompt{{1, 64}};
  for (const bool drops : {false, true}) {
    ClusterConfig cluster = roomy();
    cluster.replicas.front().drops_last_hit = drops;
    Fcfs scheduler;
    Fixed speculator(2);
    Rates rates({0.5, 0.5});
    std::vector<RequestSpec> specs{spec(0, 64, 4), spec(100, 64, 4)};
    for (RequestSpec& each : specs) each.segments = prompt;
    const Answer answer = serve(cluster, scheduler, specs, &speculator, &rates);
    CHECK(answer.ledger.of(1).cached_tokens == (drops ? 32 : 48));
  }
}

TEST_CASE("a copy of a simulation that speculates has the same future") {
  std::int64_t rows = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Case it = random_case(seed, false);
    it.cluster.replicas.front().kv_blocks += 4;
    Fixed speculator(3), other(3);
    Rates rates({0.8, 0.7, 0.6}), more({0.8, 0.7, 0.6});
    LinearSteps model(1, 0.01);
    ListedWorkload workload(it.specs);
    Recorder one, two;
    Bindings bindings;
    bindings.schedulers = {&it.scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    bindings.observers = {&one};
    bindings.speculators = {&speculator};
    bindings.acceptances = {&rates};
    Simulation simulation(it.cluster, bindings);
    for (int i = 0; i < 25; ++i) simulation.step();
    const auto rest = workload.fork();
    Bindings again = bindings;
    again.workload = rest.get();
    again.observers = {&two};
    again.speculators = {&other};
    again.acceptances = {&more};
    const auto copy = simulation.fork(again);
    const std::size_t done = one.steps.size();
    simulation.run();
    copy->run();
    CHECK(std::vector<std::string>(one.steps.begin() + static_cast<std::ptrdiff_t>(done),
                                   one.steps.end()) == two.steps);
    rows += other.rows;
  }
  CHECK(rows > 200);
}

TEST_CASE("a number of drafts outside of the depth is an error that says so") {
  class Wild : public Fixed {
   public:
    Wild() : Fixed(3) {}
    int drafts(const Batch&, const ReplicaView&) override { return 4; }
  };
  Fcfs scheduler;
  Wild speculator;
  Rates rates({0.5});
  CHECK_THROWS_WITH(serve(roomy(), scheduler, {spec(0, 16, 6)}, &speculator, &rates),
                    "speculator: drafts: found 4 drafts; a whole number from 0 to 3 is right");
}

TEST_CASE("a step of 256 decodes with 3 drafts costs microseconds", "[.][speed]") {
  ClusterConfig cluster = roomy();
  cluster.replicas.front().lookahead = 3;
  cluster.replicas.front().kv_blocks = 10'000'000;
  for (const bool drafts : {false, true}) {
    Fcfs scheduler;
    Fixed speculator(3);
    speculator.asked.reserve(1'000'000);
    Rates rates({0.6, 0.6, 0.5});
    LinearSteps model(1);
    std::vector<RequestSpec> specs;
    for (int i = 0; i < 256; ++i) specs.push_back(spec(0, 100 + i % 64, 400'000 + i));
    ListedWorkload workload(specs);
    Bindings bindings;
    bindings.schedulers = {&scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    if (drafts) {
      bindings.speculators = {&speculator};
      bindings.acceptances = {&rates};
    }
    Simulation simulation(cluster, bindings);
    for (int i = 0; i < 100; ++i) simulation.step();
    const std::clock_t start = std::clock();
    constexpr int steps = 50'000;
    for (int i = 0; i < steps; ++i) simulation.step();
    const double spent_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%s: %.2f us a step\n", drafts ? "256 rows, k 3" : "256 decodes",
                1e6 * spent_s / steps);
    if (drafts) CHECK(spent_s / steps < 20e-6);
  }
}

TEST_CASE(
    "a number of drafts that is exchanged in the middle is that of a rule that changes then") {
  class Changes : public Fixed {
   public:
    Changes(int first, int then) : Fixed(std::max(first, then)), first_(first), then_(then) {}
    int drafts(const Batch&, const ReplicaView& view) override {
      return view.now_s > until_s ? then_ : first_;
    }
    double until_s = 1e9;

   private:
    int first_, then_;
  };
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, false);
    it.cluster.replicas.front().kv_blocks += 12;
    Case same = it, never = it;
    const int first = seed % 2 == 0 ? 3 : 1, then = 4 - first;
    Changes one(first, then), unchanged(first, then);
    Fixed before(first), after(then);
    Rates rates({0.8, 0.7, 0.6});
    LinearSteps model(1, 0.01);
    ListedWorkload workload(it.specs);
    Recorder exchanged;
    Bindings bindings;
    bindings.schedulers = {&it.scheduler};
    bindings.steps = {&model};
    bindings.workload = &workload;
    bindings.observers = {&exchanged};
    bindings.speculators = {&before};
    bindings.acceptances = {&rates};
    Simulation simulation(it.cluster, bindings);
    for (int i = 0; i < 30; ++i) simulation.step();
    one.until_s = simulation.now_s();
    simulation.set_speculation(0, after, rates);
    simulation.run();
    const auto steps = [&](Case& each, SpeculatorPolicy& speculator) {
      return serve(each.cluster, each.scheduler, each.specs, &speculator, &rates, 0.01)
          .ledger.steps;
    };
    CHECK(exchanged.steps == steps(same, one));
    changed += exchanged.steps != steps(never, unchanged);
  }
  CHECK(changed >= 20);
}
