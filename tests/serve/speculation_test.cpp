// Laws of speculation: what holds whatever the workload, and what follows from equations.

#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// k for everybody, or what `other` says of each request.
class Fixed : public SpeculatorPolicy {
 public:
  explicit Fixed(int k, bool mixed = false) : k_(k), mixed_(mixed) {}
  int depth() const override { return k_; }
  int drafts(const Batch& batch, const ReplicaView& view) override {
    asked.push_back(batch.decode_context_tokens + 1e-3 * batch.decode_tokens + view.free_blocks);
    return k_;
  }
  bool has_draft() const override { return mixed_; }
  int draft(const Request& request, int k) override { return k == 0 ? 0 : request.id % (k + 1); }
  void landed(const SpecSeen& seen) override { rows += seen.rows; }
  std::int64_t rows = 0;
  std::vector<double> asked;

 private:
  int k_;
  bool mixed_;
};

class Rates : public AcceptanceModel {
 public:
  explicit Rates(std::vector<double> accepted, bool per_step = false)
      : curve_(std::make_shared<Curve>(Curve{std::move(accepted), {}})), per_step_(per_step) {}
  std::shared_ptr<const Curve> curve(const Request&, RandomStream&) override {
    ++curves;
    return curve_;
  }
  bool per_step() const override { return per_step_; }
  std::int64_t curves = 0;

 private:
  std::shared_ptr<const Curve> curve_;
  bool per_step_;
};

/// Adds up what must balance, step by step.
class Ledger : public Recorder {
 public:
  std::int64_t rows = 0, drafted = 0, accepted = 0, overshoot = 0, landed = 0, verified = 0;
  std::int64_t discarded_rows = 0, output_tokens = 0, landed_of_rows = 0;
  std::int32_t budget = 0;
  void on_step(const StepDone& step) override {
    Recorder::on_step(step);
    if (!step.speculates) return;
    std::int32_t tokens = 0, drafts = 0, taken = 0, cut = 0, all = 0, gone = 0;
    for (const Row& row : step.rows) {
      tokens += row.tokens();
      CHECK((row.accepted >= 0 && row.accepted <= row.drafts));
      gone += row.discarded;
      if (row.discarded) continue;
      ++all;
      CHECK((row.landed >= 1 && row.landed <= 1 + row.accepted));
      landed_of_rows += row.landed;
      drafts += row.drafts;
      taken += row.accepted;
      cut += 1 + row.accepted - row.landed;
    }
    CHECK(tokens == step.batch->decode_tokens);
    CHECK(static_cast<std::int32_t>(step.rows.size()) == step.batch->decodes);
    CHECK(gone == step.discarded);
    CHECK((drafts == step.drafted && taken == step.accepted && cut == step.overshoot));
    if (budget > 0) CHECK(step.batch->tokens <= budget);
    std::int32_t completed = 0;
    for (const PrefillWork& work : step.prefills) completed += work.completes;
    CHECK(step.tokens_landed() == all + taken - cut + completed);
    CHECK((step.used_blocks >= 0 && step.used_blocks <= step.total_blocks));
    rows += all, drafted += drafts, accepted += taken, overshoot += cut, discarded_rows += gone;
    landed += step.tokens_landed();
    verified += tokens;
  }
  void on_done(const RequestDone& request) override {
    Recorder::on_done(request);
    output_tokens += request.output_tokens;
    if (request.outcome != Outcome::completed) return;
    CHECK(request.rounds <= request.output_tokens);
  }
};

struct Answer {
  Totals totals;
  Ledger ledger;
  std::vector<double> asked;
};

Answer serve(ClusterConfig cluster, SchedulerPolicy& scheduler, std::vector<RequestSpec> specs,
             SpeculatorPolicy* speculator, AcceptanceModel* acceptance, double per_token = 0) {
  Answer out;
  LinearSteps model(1, per_token);
  ListedWorkload workload(std::move(specs));
  Bindings bindings;
  bindings.schedulers.assign(cluster.replicas.size(), &scheduler);
  bindings.steps.assign(cluster.replicas.size(), &model);
  bindings.workload = &workload;
  bindings.observers = {&out.ledger};
  out.ledger.budget = cluster.replicas.front().max_num_batched_tokens;
  if (speculator != nullptr) {
    bindings.speculators.assign(cluster.replicas.size(), speculator);
    bindings.acceptances.assign(cluster.replicas.size(), acceptance);
  }
  out.totals = simulate(cluster, bindings);
  return out;
}

ClusterConfig roomy(std::int32_t depth = 1) {
  ReplicaConfig replica;
  replica.kv_blocks = 100000;
  replica.async_depth = depth;
  replica.seed = 7;
  ClusterConfig cluster;
  cluster.replicas = {replica};
  return cluster;
}

}  // namespace

TEST_CASE("drafts that are always accepted land k + 1 tokens a round") {
  for (const int depth : {1, 2}) {
    for (const int k : {1, 2, 3, 7}) {
      Fcfs scheduler;
      Fixed speculator(k);
      Rates always(std::vector<double>(8, 1.0));
      const Answer answer =
          serve(roomy(depth), scheduler, {spec(0, 100, 1), spec(0, 20, 57)}, &speculator, &always);
      CHECK(answer.ledger.of(1).rounds == (57 - 1 + k) / (k + 1));
      CHECK(answer.ledger.of(0).rounds == 0);
      CHECK(answer.ledger.accepted == answer.ledger.drafted);
      CHECK(answer.ledger.landed == 58);
    }
  }
}

TEST_CASE("drafts that are never accepted change the price of steps and not the schedule") {
  int wider = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Case it = random_case(seed, false);
    ReplicaConfig& replica = it.cluster.replicas.front();
    replica.max_num_batched_tokens = 0;  // neither budget nor blocks bind
    replica.max_model_len = 0;
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

TEST_CASE("rounds and overshoot of one request at a time are those of the equations") {
  constexpr int requests = 10000, output = 200, k = 4;
  constexpr double a = 0.7;
  std::vector<RequestSpec> specs;
  for (int i = 0; i < requests; ++i) specs.push_back(spec(0, 10, output));
  ClusterConfig cluster = roomy();
  cluster.replicas.front().max_num_seqs = 1;
  Fcfs scheduler;
  Fixed speculator(k);
  Rates constant(std::vector<double>(k, a));
  const Answer answer = serve(cluster, scheduler, specs, &speculator, &constant);
  double mean_t = 1, var_t = 0, survives = 1, sum_s = 0, square = 0;
  for (int j = 1; j <= k; ++j) {
    survives *= a;
    mean_t += survives;
    sum_s += survives;
    square += (2 * j - 1) * survives;
  }
  var_t = square - sum_s * sum_s;
  const double second_moment = var_t + mean_t * mean_t;
  const double overshoot = (second_moment - mean_t) / (2 * mean_t);
  const double mean_rounds = static_cast<double>(answer.ledger.rows) / requests;
  const double mean_overshoot = static_cast<double>(answer.ledger.overshoot) / requests;
  // Wald: the tokens of all rounds are the answers behind their first token, and what is beyond.
  CHECK(std::abs(mean_rounds * mean_t - (output - 1 + mean_overshoot)) <
        4 * std::sqrt(mean_rounds * var_t / requests));
  CHECK(std::abs(mean_overshoot - overshoot) < 4 * std::sqrt(k * k / 4.0 / requests));
  const double rate = static_cast<double>(answer.ledger.accepted) / answer.ledger.drafted;
  CHECK(rate == Approx(sum_s / k).epsilon(0.01));
  std::printf("a %.1f, k %d: %.3f rounds, %.3f overshoot (%.3f by renewal)\n", a, k, mean_rounds,
              mean_overshoot, overshoot);
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

TEST_CASE("with acceptance that falls with depth, more of it never needs more rounds") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::int32_t before = 1 << 30;
    for (const double best : {0.0, 0.3, 0.6, 0.9, 1.0}) {
      ClusterConfig cluster = roomy();
      cluster.replicas.front().seed = seed;
      Fcfs scheduler;
      Fixed speculator(4);
      Rates rates({best, 0.9 * best, 0.8 * best, 0.5 * best});
      const std::int32_t rounds =
          serve(cluster, scheduler, {spec(0, 30, 300)}, &speculator, &rates).ledger.of(0).rounds;
      CHECK(rounds <= before);
      before = rounds;
    }
    before = 1 << 30;
    for (const int k : {0, 1, 2, 3, 4}) {
      ClusterConfig cluster = roomy();
      cluster.replicas.front().seed = seed;
      Fcfs scheduler;
      Fixed speculator(k);
      Rates rates({0.8, 0.7, 0.6, 0.5});
      const std::int32_t rounds =
          serve(cluster, scheduler, {spec(0, 30, 300)}, &speculator, &rates).ledger.of(0).rounds;
      CHECK(rounds <= before);
      before = rounds;
    }
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
  // The limit is reached by accepted drafts: nobody could know that the third row was one too many.
  const Answer limit = serve(roomy(2), scheduler, {spec(0, 16, 5)}, &speculator, &always);
  CHECK(limit.ledger.discarded_rows == 1);
  // With one step in flight nothing is planned behind an end.
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
