// Where the model degenerates to a queue with a known answer, it gives that answer. One seat, one
// token in, one out: a request is served for as long as its only step takes.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/random.h"
#include "serve/loop/simulation.h"
#include "serve/replica/replica.h"
#include "tests/catch.h"
#include "tests/reference/lua_policies.h"

namespace rooflua::reference {

namespace {

/// The only step of request i takes service_s[i].
class Service : public StepModel {
 public:
  explicit Service(std::vector<double> service_s) : service_s_(std::move(service_s)) {}
  void price(const Batch& batch, StepPrice& price) override {
    price.time_s = service_s_[static_cast<std::size_t>(batch.prefills[0].id)];
  }

 private:
  std::vector<double> service_s_;
};

struct Queue {
  std::vector<double> arrival_s, service_s;
};

Queue draw_queue(std::uint64_t seed, int requests, double rate, double mean_service,
                 bool exponential_service) {
  RandomStream gaps = random_stream(seed, "gaps"), services = random_stream(seed, "services");
  Queue queue;
  double now = 0;
  for (int i = 0; i < requests; ++i) {
    queue.arrival_s.push_back(now += exponential(gaps, 1 / rate));
    queue.service_s.push_back(exponential_service ? exponential(services, mean_service)
                                                  : mean_service);
  }
  return queue;
}

/// Times of everybody, and the number in the system integrated over time as events tell it.
class Ledger : public Observer {
 public:
  explicit Ledger(std::size_t requests) : done(requests) {}
  void on_arrival(const rooflua::Request&, Picoseconds now) override { count(now, +1); }
  void on_done(const RequestDone& one) override {
    done[static_cast<std::size_t>(one.id)] = one;
    count(one.now, -1);
  }

  std::vector<RequestDone> done;
  double integral_s = 0;
  int present = 0;

 private:
  void count(Picoseconds now, int change) {
    integral_s += present * seconds(now - last_);
    last_ = now;
    present += change;
  }
  Picoseconds last_ = 0;
};

Ledger serve_one_by_one(const Queue& queue, SchedulerPolicy& scheduler) {
  std::vector<RequestSpec> specs;
  for (const double arrival_s : queue.arrival_s) {
    RequestSpec spec;
    spec.arrival_s = arrival_s;
    spec.prompt_tokens = spec.output_tokens = spec.max_output_tokens = 1;
    specs.push_back(spec);
  }
  ListedWorkload workload(std::move(specs));
  Service steps(queue.service_s);
  ClusterConfig config;
  config.replicas.resize(1);
  config.replicas[0].kv_blocks = 8;
  config.replicas[0].max_num_seqs = 1;
  Ledger ledger(queue.arrival_s.size());
  simulate(config, Bindings{{&scheduler}, {&steps}, nullptr, &workload, {&ledger}});
  return ledger;
}

struct Mean {
  double value = 0, error = 0;  // standard error over seeds
};

Mean mean_of(const std::vector<double>& values) {
  Mean mean;
  for (const double value : values) mean.value += value / static_cast<double>(values.size());
  double square = 0;
  for (const double value : values) square += (value - mean.value) * (value - mean.value);
  const double n = static_cast<double>(values.size());
  mean.error = std::sqrt(square / (n - 1) / n);
  return mean;
}

/// Mean time in the queue over seeds, in seconds.
Mean mean_wait(LuaPolicies& lua, double rate, double mean_service, bool exponential_service) {
  std::vector<double> means;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const Queue queue = draw_queue(seed, 12000, rate, mean_service, exponential_service);
    const auto scheduler = lua.make("vllm_v1", "max_num_seqs = 1");
    const Ledger ledger = serve_one_by_one(queue, *scheduler);
    double sum = 0;
    for (const RequestDone& done : ledger.done) sum += seconds(done.scheduled - done.arrival);
    means.push_back(sum / static_cast<double>(ledger.done.size()));
  }
  return mean_of(means);
}

/// Within four standard errors, which are small themselves.
void check_wait(const char* name, Mean found, double expected) {
  std::printf("%s: mean wait %.5f s +- %.5f, theory %.5f s\n", name, found.value, found.error,
              expected);
  CHECK(std::abs(found.value - expected) < 4 * found.error);
  CHECK(found.error < 0.03 * expected);
}

}  // namespace

TEST_CASE("M/M/1: the mean wait is rho / (mu - lambda)") {
  LuaPolicies lua;
  const double lambda = 6, mu = 10;
  check_wait("M/M/1", mean_wait(lua, lambda, 1 / mu, true), (lambda / mu) / (mu - lambda));
}

TEST_CASE("M/D/1: the mean wait is half of that") {
  LuaPolicies lua;
  const double lambda = 6, mu = 10, rho = lambda / mu;
  check_wait("M/D/1", mean_wait(lua, lambda, 1 / mu, false), rho / (2 * mu * (1 - rho)));
}

TEST_CASE("one seat is Lindley's recursion, to the picosecond") {
  LuaPolicies lua;
  const Queue queue = draw_queue(99, 5000, 8, 0.1, true);
  const auto scheduler = lua.make("vllm_v1", "max_num_seqs = 1");
  const Ledger ledger = serve_one_by_one(queue, *scheduler);
  Picoseconds free_at = 0;
  for (std::size_t i = 0; i < queue.arrival_s.size(); ++i) {
    const Picoseconds arrival = std::llround(queue.arrival_s[i] * 1e12);
    const Picoseconds start = std::max(free_at, arrival);
    free_at = start + std::max<Picoseconds>(1, std::llround(queue.service_s[i] * 1e12));
    REQUIRE(ledger.done[i].arrival == arrival);
    REQUIRE(ledger.done[i].scheduled == start);
    REQUIRE(ledger.done[i].last_token == free_at);
  }
}

TEST_CASE("Little: the mean number in the system is the rate times the mean time in it") {
  LuaPolicies lua;
  for (const char* name : {"vllm_v1", "sglang", "vllm_v0", "orca"}) {
    CAPTURE(name);
    const Queue queue = draw_queue(7, 4000, 8, 0.1, true);
    const auto scheduler = lua.make(name, "max_num_seqs = 1");
    const Ledger ledger = serve_one_by_one(queue, *scheduler);
    double sojourn_s = 0;
    Picoseconds last = 0;
    for (const RequestDone& done : ledger.done) {
      sojourn_s += seconds(done.last_token - done.arrival);
      last = std::max(last, done.last_token);
    }
    const double span_s = seconds(last), count = static_cast<double>(ledger.done.size());
    const double mean_number = ledger.integral_s / span_s;
    CHECK(ledger.present == 0);
    CHECK(mean_number == Approx((count / span_s) * (sojourn_s / count)).epsilon(1e-9));
    CHECK(mean_number > 1);
  }
}

}  // namespace rooflua::reference
