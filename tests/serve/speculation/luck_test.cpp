// Which drafts are accepted: the equations of acceptance, and random numbers that requests have in
// common under every schedule.

#include <cmath>
#include <cstdio>
#include <map>

#include "tests/serve/speculation/case.h"

using namespace rooflua;
using namespace rooflua::test;

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
  // Wald: the tokens of all rounds are the answers after their first token, and what is beyond.
  CHECK(std::abs(mean_rounds * mean_t - (output - 1 + mean_overshoot)) <
        4 * std::sqrt(mean_rounds * var_t / requests));
  CHECK(std::abs(mean_overshoot - overshoot) < 4 * std::sqrt(k * k / 4.0 / requests));
  const double rate = static_cast<double>(answer.ledger.accepted) / answer.ledger.drafted;
  CHECK(rate == Approx(sum_s / k).epsilon(0.01));
  std::printf("a %.1f, k %d: %.3f rounds, %.3f overshoot (%.3f by renewal)\n", a, k, mean_rounds,
              mean_overshoot, overshoot);
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

TEST_CASE("drafts that the engine draws at once are those that are drawn one row at a time") {
  class OneByOne : public Rates {
   public:
    using Rates::Rates;
    bool has_accept() const override { return true; }
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, false);
    it.cluster.replicas.front().kv_blocks += 12;
    Case same = it;
    const int depths[] = {1, 2, 5, 7, 14, 15, 16, 20};  // more than 15 have no fates (fates.h)
    Fixed speculator(depths[seed % 8], seed % 3 == 0);
    std::vector<double> shares(1 + seed % 18);
    for (std::size_t j = 0; j < shares.size(); ++j) shares[j] = j % 3 == 0 ? 0.97 : 0.85;
    Rates rates(shares);
    OneByOne others(shares);
    const Answer drawn = serve(it.cluster, it.scheduler, it.specs, &speculator, &rates, 0.01);
    const Answer asked =
        serve(same.cluster, same.scheduler, same.specs, &speculator, &others, 0.01);
    CHECK(drawn.ledger.steps == asked.ledger.steps);
    CHECK(drawn.ledger.accepted == asked.ledger.accepted);
  }
}

TEST_CASE("a request meets the same luck whatever runs beside it, and on whichever replica") {
  std::vector<RequestSpec> specs;
  for (int i = 0; i < 60; ++i) specs.push_back(spec(0.3 * i, 20 + i % 7, 30 + 5 * (i % 11)));
  std::map<std::int32_t, std::int32_t> expected;
  for (const int seats : {1, 4, 64}) {
    for (const std::size_t replicas : {1, 3}) {
      for (const int depth : {1, 2}) {
        ClusterConfig cluster = roomy(depth);
        cluster.replicas.front().max_num_seqs = seats;
        cluster.replicas.resize(replicas, cluster.replicas.front());
        Fcfs scheduler;
        InTurn router;
        Fixed speculator(3);
        Rates rates({0.8, 0.7, 0.6});
        const Answer answer = serve(cluster, scheduler, specs, &speculator, &rates, 0.01, &router);
        for (const RequestDone& done : answer.ledger.done) {
          const auto [known, is_new] = expected.emplace(done.id, done.rounds);
          CHECK(known->second == done.rounds);
        }
      }
    }
  }
  CHECK(expected.size() == specs.size());
}
