// The gaps between tokens in the file of vLLM's benchmark are those that the simulation tells, with
// stages, with speculation, and where prompts are computed elsewhere.

#include <algorithm>
#include <cmath>

#include "measure/write/requests.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"
#include "tests/serve/random_cluster.h"
#include "tests/serve/speculation/drafts.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// By request, in order of arrival.
std::vector<std::vector<Picoseconds>> gaps_of(const VllmBench& bench) {
  std::vector<std::vector<Picoseconds>> out;
  const Json file = bench.result(Summary{}, VllmBenchOptions{});
  for (const Json& each : file.find("itls")->items()) {
    out.emplace_back();
    for (const Json& gap : each.items()) out.back().push_back(std::llround(gap.number() * 1e12));
  }
  return out;
}

struct Setting {
  int stages = 1, drafts = 0;
};

struct Seen {
  Recorder recorder;
  VllmBench bench;
  Totals totals;
};

void run(Case& it, Setting setting, Seen& out) {
  ReplicaConfig& replica = it.cluster.replicas.front();
  const auto stages = static_cast<std::size_t>(setting.stages);
  if (stages > 1) {
    replica.stages.shares.assign(stages, 1.0 / setting.stages);
    replica.stages.links.assign(stages - 1, {0.125, 0});
  }
  replica.kv_blocks += (3 * setting.drafts + 2) / replica.block_size + 1;
  FixedDrafts drafts(setting.drafts);
  Chances chances({0.8, 0.7, 0.6});
  LinearSteps model(1, 0.01);
  ListedWorkload workload(it.specs);
  Bindings bindings{{&it.scheduler}, {&model}, nullptr, &workload, {&out.recorder, &out.bench}};
  if (setting.drafts > 0) bindings.speculators = {&drafts}, bindings.acceptances = {&chances};
  out.totals = simulate(it.cluster, bindings);
}

}  // namespace

TEST_CASE("a request's gaps are those between the steps of its own lane") {
  Case it;
  ReplicaConfig replica;
  replica.kv_blocks = 100;
  replica.max_num_batched_tokens = 16;
  replica.stages.shares = {0.5, 0.5};
  replica.stages.links = {{0, 0}};
  it.cluster.replicas = {replica};
  it.specs = {spec(0, 16, 3), spec(0, 16, 3)};
  LinearSteps model(2);
  ListedWorkload workload(it.specs);
  VllmBench bench;
  simulate(it.cluster, {{&it.scheduler}, {&model}, nullptr, &workload, {&bench}});
  CHECK(gaps_of(bench) == std::vector<std::vector<Picoseconds>>{{2 * s, 2 * s}, {2 * s, 2 * s}});
}

TEST_CASE("the file's gaps add up to each answer, and are all that the simulation tells") {
  for (const Setting setting : {Setting{}, {2, 0}, {4, 0}, {1, 3}}) {
    CAPTURE(setting.stages, setting.drafts);
    std::int64_t preemptions = 0, complete = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      CAPTURE(seed);
      Case it = random_case(seed, seed % 2 == 0);
      Seen out;
      run(it, setting, out);
      preemptions += out.totals.preemptions;
      const auto gaps = gaps_of(out.bench);
      REQUIRE(gaps.size() == out.recorder.done.size());
      std::vector<Picoseconds> all;
      bool completed = true;
      for (std::size_t id = 0; id < gaps.size(); ++id) {
        const RequestDone& done = out.recorder.of(static_cast<std::int32_t>(id));
        completed = completed && done.outcome == Outcome::completed;
        if (done.outcome != Outcome::completed) continue;
        Picoseconds sum = 0;
        for (const Picoseconds gap : gaps[id]) sum += gap;
        REQUIRE(sum == done.last_token - done.first_token);
        if (setting.drafts == 0)
          REQUIRE(static_cast<std::int32_t>(gaps[id].size()) == done.output_tokens - 1);
        all.insert(all.end(), gaps[id].begin(), gaps[id].end());
      }
      if (!completed) continue;
      ++complete;
      std::sort(all.begin(), all.end());
      std::sort(out.recorder.gaps.begin(), out.recorder.gaps.end());
      REQUIRE(all == out.recorder.gaps);
    }
    CHECK(preemptions > 500);
    CHECK(complete > 50);
  }
}

TEST_CASE("the file's gaps are those of each answer where prompts are computed elsewhere") {
  std::map<Push, int> seen;  // completed answers after prompts of other replicas
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Scenario scenario(seed);
    CAPTURE(seed, static_cast<int>(scenario.cluster().disaggregation.push));
    VllmBench bench(prefill_replicas(scenario.cluster()));
    Recorder recorder;
    scenario.more = [&](Scenario::Run&, Bindings& out) {
      out.observers.insert(out.observers.end(), {&recorder, &bench});
    };
    scenario.open()->simulation->run();
    const auto gaps = gaps_of(bench);
    REQUIRE(gaps.size() == recorder.done.size());
    for (std::size_t id = 0; id < gaps.size(); ++id) {
      const RequestDone& done = recorder.of(static_cast<std::int32_t>(id));
      if (done.outcome != Outcome::completed) continue;
      CAPTURE(id, done.prefill_replica, done.replica);
      Picoseconds sum = 0;
      for (const Picoseconds gap : gaps[id]) sum += gap;
      REQUIRE(sum == done.last_token - done.first_token);
      if (done.rounds == 0)
        REQUIRE(static_cast<std::int32_t>(gaps[id].size()) == done.output_tokens - 1);
      if (done.prefill_replica >= 0 && done.prefill_replica != done.replica)
        ++seen[scenario.cluster().disaggregation.push];
    }
  }
  for (const Push each : {Push::end, Push::chunks, Push::layers}) CHECK(seen[each] > 300);
}
