// Speculation meets ranks that step together, prompts that are computed elsewhere, bounds of
// contexts, speculators that are replaced, forks and stages.

#include "base/error.h"
#include "tests/catch.h"
#include "tests/serve/kv/walked_bounds.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"
#include "tests/serve/speculation/drafts.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

class InTurn : public Router {
 public:
  std::int32_t route(const Request& request, const RouteView& view) override {
    return request.id % view.replica_count;
  }
};

/// The batches that were priced, by replica.
class Priced : public Observer {
 public:
  std::vector<Batch> of[2];  // pointers in it are stale
  void on_priced(const StepPriced& step) override { of[step.batch.replica].push_back(step.batch); }
};

/// How many rows of the step that landed last accepted draft 1, 2, ...
class Accepted : public Observer {
 public:
  std::vector<std::int32_t> at;
  void on_step(const StepDone& step) override {
    at.assign(step.accepted_at.begin(), step.accepted_at.end());
  }
};

/// What a batch says of its bounds is the sum over its rows.
class Bounds : public Observer {
 public:
  std::int64_t wide = 0;  // rows of several tokens
  void on_priced(const StepPriced& step) override {
    const Batch& batch = step.batch;
    const ReplicaConfig& config = step.replica.config();
    REQUIRE(wrong_bounds(batch, {config.context_caps.data(), config.context_chunk}) == "");
    // What the rows read under a window w: min(c + q, w + q - 1) tokens of each.
    const std::int32_t* contexts = decode_contexts(batch);
    const std::int32_t* widths = decode_widths(batch);
    const std::int32_t window = config.context_caps[0];
    double read = 0;
    for (std::int32_t i = 0; i < batch.decodes; ++i) {
      read += std::min(contexts[i] + widths[i], window + widths[i] - 1);
      wide += widths[i] > 1;
    }
    REQUIRE(batch.bounded_tokens[0] + batch.decode_tokens - batch.decodes == read);
  }
};

}  // namespace

TEST_CASE("speculators of ranks see what the whole group has in the step") {
  Bench bench(1000, 64);
  bench.replica().group = 0;
  bench.cluster.replicas.push_back(bench.replica());
  FixedDrafts first(2), second(2);
  Chances chances({0.7, 0.5});
  InTurn router;
  Priced priced;
  std::vector<RequestSpec> specs;
  for (int i = 0; i < 20; ++i) specs.push_back(spec(0.5 * i, 10 + 7 * i, 5 + 3 * i));
  ListedWorkload workload(specs);
  Bindings bindings = bench.bindings(workload);
  bindings.router = &router;
  bindings.observers = {&priced};
  bindings.speculators = {&first, &second};
  bindings.acceptances = {&chances, &chances};
  simulate(bench.cluster, bindings);
  for (const int rank : {0, 1}) {
    std::vector<Batch> sampling;
    for (const Batch& batch : priced.of[rank]) {
      if (batch.sampled > 0) sampling.push_back(batch);
    }
    const std::vector<Batch>& asked = rank == 0 ? first.asked : second.asked;
    REQUIRE(asked.size() == sampling.size());
    REQUIRE(asked.size() > 30);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      CHECK(asked[i].group_ranks == 2);
      CHECK(asked[i].group_tokens == sampling[i].group_tokens);
      CHECK(asked[i].group_max_tokens == sampling[i].group_max_tokens);
      CHECK(asked[i].group_prefills == sampling[i].group_prefills);
    }
  }
}

TEST_CASE("a decode replica speculates for prompts that another replica computed") {
  for (const std::int32_t depth : {1, 2}) {
    Bench bench(1000, 64);
    bench.replica().async_depth = depth;
    bench.replica().role = Role::prefill;
    bench.cluster.replicas.push_back(bench.replica());
    bench.cluster.replicas[1].role = Role::decode;
    bench.cluster.transfer = {0.5, 1e30, 1};
    FixedDrafts drafts(3);
    Chances always({1, 1, 1});
    std::vector<RequestSpec> specs;
    for (int i = 0; i < 12; ++i) specs.push_back(spec(0.5 * i, 10 + i, 1 + 5 * i));
    ListedWorkload workload(specs);
    Bindings bindings = bench.bindings(workload);
    bindings.speculators = {nullptr, &drafts};
    bindings.acceptances = {nullptr, &always};
    const Totals totals = simulate(bench.cluster, bindings);
    REQUIRE(bench.recorder.done.size() == specs.size());
    std::int64_t tokens = 0;
    for (const RequestDone& done : bench.recorder.done) {
      CHECK(done.outcome == Outcome::completed);
      CHECK(done.replica == 1);
      CHECK(done.output_tokens == 1 + 5 * done.id);
      CHECK(done.rounds == (done.output_tokens - 1 + 3) / 4);
      tokens += done.output_tokens;
    }
    CHECK(totals.output_tokens == tokens);
    for (const Batch& batch : drafts.asked) CHECK(batch.replica == 1);
  }
}

TEST_CASE("sums under bounds are those of the first token of each row") {
  Bounds bounds;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, false);
    ReplicaConfig& replica = it.cluster.replicas.front();
    replica.kv_blocks += 11 / replica.block_size + 1;
    if (replica.context_caps[0] == 0) replica.context_caps[0] = 64;
    FixedDrafts drafts(3);
    Chances chances({0.8, 0.7, 0.6});
    LinearSteps model;
    ListedWorkload workload(it.specs);
    Bindings bindings{{&it.scheduler}, {&model}, nullptr, &workload, {&bounds}};
    bindings.speculators = {&drafts};
    bindings.acceptances = {&chances};
    simulate(it.cluster, bindings);
  }
  CHECK(bounds.wide > 5000);
}

TEST_CASE("rows that a deeper speculator drafted land under the one that takes its place") {
  Bench bench(1000, 64);
  bench.replica().async_depth = 2;
  FixedDrafts deep(3), shallow(1);
  Chances always({1, 1, 1});
  Accepted accepted;
  ListedWorkload workload({spec(0, 16, 100)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers = {&accepted};
  bindings.speculators = {&deep};
  bindings.acceptances = {&always};
  Simulation simulation(bench.cluster, bindings);
  for (int i = 0; i < 4; ++i) simulation.step();
  REQUIRE(accepted.at == std::vector<std::int32_t>{1, 1, 1});
  simulation.set_speculation(0, shallow, always);
  simulation.step();
  CHECK(accepted.at == std::vector<std::int32_t>{1, 1, 1});
  for (int i = 0; i < 4; ++i) simulation.step();
  CHECK(accepted.at == std::vector<std::int32_t>{1});
}

TEST_CASE("a copy of a simulation speculates where the original does") {
  for (const bool speculates : {true, false}) {
    Bench bench(1000, 64);
    FixedDrafts drafts(3);
    Chances chances({0.5});
    ListedWorkload workload({spec(0, 16, 20)});
    const Bindings without = bench.bindings(workload);
    Bindings with = without;
    with.speculators = {&drafts};
    with.acceptances = {&chances};
    Simulation simulation(bench.cluster, speculates ? with : without);
    simulation.step();
    CHECK_THROWS_WITH(simulation.fork(speculates ? without : with),
                      speculates
                          ? "speculators: replica 1 speculates, and its copy has none"
                          : "speculators: replica 1 does not speculate, and its copy has one");
  }
}

TEST_CASE("drafts through several stages are refused") {
  Bench bench(100, 16);
  bench.replica().stages.shares = {0.5, 0.5};
  bench.replica().stages.links = {{0, 0}};
  FixedDrafts drafts(1);
  Chances chances({0.5});
  ListedWorkload workload({spec(0, 16, 2)});
  Bindings bindings = bench.bindings(workload);
  bindings.speculators = {&drafts};
  bindings.acceptances = {&chances};
  CHECK_THROWS_WITH(simulate(bench.cluster, bindings),
                    "replicas[1].stages: a replica that speculates has one stage");
}
