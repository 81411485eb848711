// Layers in stages, one after the other: the clock of the stages, lanes by hand, and laws.

#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "serve/events/stage_clock.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::test;
using Lines = std::vector<std::string>;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

StageConfig equal_stages(int count, StageLink link = {0, 0}) {
  StageConfig stages;
  stages.shares.assign(static_cast<std::size_t>(count), 1.0 / count);
  stages.links.assign(static_cast<std::size_t>(count - 1), link);
  return stages;
}

/// No request is in two steps at once that both give it a token.
class OneToken : public Observer {
 public:
  void on_priced(const StepPriced& step) override {
    std::vector<std::int32_t>& ids = under_way_[step.serial];
    ids = decode_ids(step.batch);
    for (std::int32_t i = 0; i < step.batch.prefill_count; ++i) {
      if (step.batch.prefills[i].completes != 0) ids.push_back(step.batch.prefills[i].id);
    }
    for (const std::int32_t id : ids) CHECK(in_flight_.insert(id).second);
    most = std::max(most, under_way_.size());
  }
  void on_step(const StepDone& step) override {
    for (const std::int32_t id : under_way_[step.serial]) in_flight_.erase(id);
    under_way_.erase(step.serial);
    CHECK(step.end > last_end_);
    CHECK(step.end > step.start);
    CHECK(step.planned <= step.start);
    CHECK(step.discarded == 0);
    last_end_ = step.end;
  }
  std::size_t most = 0;  // steps under way at once

 private:
  std::map<std::int64_t, std::vector<std::int32_t>> under_way_;  // by serial
  std::set<std::int32_t> in_flight_;
  Picoseconds last_end_ = 0;
};

}  // namespace

TEST_CASE("a step enters a stage when it has come and the step before it has left") {
  StageConfig stages;
  stages.shares = {0.25, 0.75};
  stages.links = {{2.0, 0.5}};
  StageClock clock(stages);
  const auto first = clock.pass(0, 4, 4);  // 0..1, four seconds on the way, 5..8
  CHECK(first.start == 0);
  CHECK(first.end == 8 * s);
  const auto second = clock.pass(0, 4, 2);  // 1..2, three on the way, and the stage is free at 8
  CHECK(second.start == 1 * s);
  CHECK(second.end == 11 * s);
  const auto late = clock.pass(20 * s, 4, 0);
  CHECK(late.start == 20 * s);
  CHECK(late.end == 26 * s);
}

TEST_CASE("the stages of a step take as long as the step, whatever their shares") {
  Dice dice(5);
  for (int i = 0; i < 500; ++i) {
    StageConfig stages = equal_stages(dice.upto(2, 7));
    const double time_s = 1e-12 * dice.upto(1000, 1 << 30);
    StageClock clock(stages);
    CHECK(clock.pass(0, time_s, 1).end == picoseconds(time_s, "test"));
  }
}

TEST_CASE("two prompts that do not fit one step become two lanes, whose tokens alternate") {
  Bench bench(100, 16);
  bench.replica().stages = equal_stages(2);
  bench.model.base_s = 2;
  OneToken one;
  ListedWorkload workload({spec(0, 16, 3), spec(0, 16, 3)});
  Bindings bindings = bench.bindings(workload);
  bindings.observers.push_back(&one);
  simulate(bench.cluster, bindings);
  CHECK(bench.recorder.steps == Lines{
                                    "0..2: p0:16+0* w0 u1",
                                    "1..3: p1:16+0* w0 u2",
                                    "2..4: d1 w0 u3",
                                    "3..5: d1 w0 u4",
                                    "4..6: d1 w0 u4",
                                    "5..7: d1 w0 u4",
                                });
  CHECK(bench.recorder.gaps == std::vector<Picoseconds>(4, 2 * s));
  CHECK(one.most == 2);
}

TEST_CASE("prompts that come together are divided over the lanes, though they fit one step") {
  Bench bench(100, 64);
  bench.replica().stages = equal_stages(2);
  bench.model.base_s = 2;
  bench.run({spec(0, 16, 2), spec(0, 16, 2), spec(0, 16, 2)});
  CHECK(bench.recorder.steps == Lines{"0..2: p0:16+0* p1:16+0* w0 u2", "1..3: p2:16+0* w0 u3",
                                      "2..4: d2 w0 u5", "3..5: d1 w0 u6"});
}

TEST_CASE("with one step under way at a time the second stage idles while the first works") {
  Bench bench(100, 32);
  bench.replica().stages = equal_stages(2);
  bench.replica().stages.pp_batches = 1;
  bench.model.base_s = 2;
  bench.run({spec(0, 16, 3), spec(0, 16, 3)});
  CHECK(bench.recorder.steps ==
        Lines{"0..2: p0:16+0* p1:16+0* w0 u2", "2..4: d2 w0 u4", "4..6: d2 w0 u4"});
}

TEST_CASE("requests of one instant enter with the next plans, as many as steps are under way") {
  const auto entered = [](Reception& reception, std::int32_t plans) {
    std::vector<std::int32_t> slots;
    reception.let_in(plans, slots);
    return slots;
  };
  using Slots = std::vector<std::int32_t>;
  Reception reception;
  for (std::int32_t slot = 0; slot < 5; ++slot) reception.add(slot, 1 * s);
  CHECK(entered(reception, 2) == Slots{0, 1, 2});
  reception.add(5, 2 * s);
  CHECK(entered(reception, 2) == Slots{3, 4, 5});  // in the order in which they were sent
  CHECK(reception.empty());
  CHECK(entered(reception, 2).empty());
  for (std::int32_t slot = 0; slot < 5; ++slot) reception.add(slot, 3 * s);
  CHECK(entered(reception, 1) == Slots{0, 1, 2, 3, 4});
}

TEST_CASE("the next chunk of a prompt follows the one before it through the stages") {
  Bench bench(100, 16);
  bench.replica().stages = equal_stages(4);
  bench.model.base_s = 4;
  bench.run({spec(0, 64, 2)});
  CHECK(bench.recorder.steps == Lines{"0..4: p0:16+0 w0 u1", "1..5: p0:16+16 w0 u2",
                                      "2..6: p0:16+32 w0 u3", "3..7: p0:16+48* w0 u4",
                                      "7..11: d1 w0 u5"});
}

TEST_CASE("a request that comes while steps are under way joins the lane that lands next") {
  Bench bench(100, 32);
  bench.replica().stages = equal_stages(2);
  bench.model.base_s = 2;
  bench.run({spec(0, 16, 4), spec(0.5, 16, 2)});
  CHECK(bench.recorder.steps == Lines{"0..2: p0:16+0* w0 u1", "2..4: d1 p1:16+0* w0 u3",
                                      "4..6: d2 w0 u4", "6..8: d1 w0 u2"});
}

TEST_CASE("a full pipe gives a token per lane in the time of a step of one lane") {
  for (const int pp : {2, 3, 4}) {
    for (const bool full : {true, false}) {
      CAPTURE(pp, full);
      constexpr std::int32_t per_lane = 4;
      Bench bench(10000, full ? 16 * per_lane : 16 * per_lane * pp);
      bench.replica().stages = equal_stages(pp);
      bench.replica().stages.pp_batches = full ? pp : 1;
      bench.model = LinearSteps(0.5, 0.125);
      std::vector<RequestSpec> specs(static_cast<std::size_t>(per_lane * pp), spec(0, 16, 40));
      bench.run(specs);
      // A step of all stages is pp times that of one: pp tau(B / pp), or pp tau(B) in one lane.
      const double decodes = full ? per_lane : per_lane * pp;
      const Picoseconds period = picoseconds(0.5 + 0.125 * decodes, "test");
      std::vector<Picoseconds>& gaps = bench.recorder.gaps;
      REQUIRE(gaps.size() == specs.size() * 39);
      std::sort(gaps.begin(), gaps.end());
      // 1/8 of the gaps at each end: prompts of other lanes are under way.
      // A third of a step is no whole number of picoseconds.
      CHECK(std::abs(gaps[gaps.size() / 8] - period) < pp);
      CHECK(std::abs(gaps[gaps.size() * 7 / 8] - period) < pp);
    }
  }
}

TEST_CASE("what moves from stage to stage is a part of the price with evidence of its own") {
  StageConfig stages = equal_stages(3, {1e-5, 1e-6});
  StepPrice price;
  price.time_s = 1;
  price.evidence_s[static_cast<int>(Evidence::measured)] = 1;
  std::vector<OpTime> operations{{"gemm", Evidence::measured, 1}};
  add_sends(stages, 100, price, operations);
  CHECK(price.time_s == Approx(1 + 2e-5 + 2e-4));
  CHECK(price.evidence_s[static_cast<int>(Evidence::modelled)] == Approx(2e-4));
  CHECK(price.evidence_s[static_cast<int>(Evidence::assumed)] == Approx(2e-5));
  REQUIRE(operations.size() == 3);
  double sum = 0;
  for (const OpTime& each : operations) sum += each.time_s;
  CHECK(sum == Approx(price.time_s));
  CHECK(operations[1].name == "stage_send");
}

TEST_CASE("with stages: in = out, blocks add up, and never two tokens of a request in flight") {
  std::int64_t preemptions = 0, failed = 0, overlapping = 0;
  for (std::uint64_t seed = 3000; seed < 3200; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 2 == 0);
    std::int64_t tokens = -1;
    for (const int pp : {1, 2, 4}) {
      it.cluster.replicas[0].stages = pp > 1 ? equal_stages(pp, {0.125, 0}) : StageConfig{};
      OneToken one;
      Recorder recorder;
      LinearSteps model(0.5, 1.0 / 64);
      ListedWorkload workload(it.specs);
      Bindings bindings{{&it.scheduler}, {&model}, nullptr, &workload, {&recorder}};
      if (pp > 1) bindings.observers.push_back(&one);
      Simulation simulation(it.cluster, bindings);
      while (simulation.advance()) {
        const ReplicaView& v = simulation.replica(0).view();
        const KvCache& kv = simulation.replica(0).kv();
        CHECK(kv.used_blocks() + kv.free_blocks() == kv.total_blocks());
        CHECK(v.seats == v.decodes + v.prefilling + v.finishing + v.in_flight);
        std::int64_t contexts = 0;
        for (std::int32_t slot = v.running_head; slot >= 0;
             slot = simulation.requests()[slot].next) {
          const Request& request = simulation.requests()[slot];
          if (request.phase == Phase::decoding || request.phase == Phase::in_flight)
            contexts += context_tokens(v, request);
        }
        CHECK(simulation.replica(0).signals(false).context_tokens == static_cast<double>(contexts));
      }
      CHECK(simulation.requests().alive() == 0);
      CHECK(simulation.replica(0).kv().used_blocks() == 0);
      CHECK(simulation.replica(0).planned_steps() == 0);
      REQUIRE(recorder.done.size() == it.specs.size());
      std::int64_t completed = 0;
      bool all = true;
      for (const RequestDone& done : recorder.done) {
        all = all && done.outcome == Outcome::completed;
        completed += done.output_tokens;
      }
      failed += !all;
      preemptions += pp > 1 ? simulation.totals().preemptions : 0;
      overlapping += one.most > 1;
      // More stages never change the tokens.
      if (all && tokens < 0) tokens = completed;
      if (all) CHECK(tokens == completed);
      if (all) CHECK(simulation.totals().output_tokens == completed);
    }
  }
  CHECK(preemptions > 500);
  CHECK(failed > 20);
  CHECK(overlapping > 150);
}

TEST_CASE("a fork of a replica with stages has the same future") {
  for (std::uint64_t seed = 4000; seed < 4040; ++seed) {
    CAPTURE(seed);
    Case it = random_case(seed, seed % 2 == 0);
    it.cluster.replicas[0].stages = equal_stages(3, {0.0625, 0});
    Recorder before, after, copied;
    LinearSteps model(0.75, 1.0 / 64);
    ListedWorkload workload(it.specs);
    Simulation simulation(it.cluster,
                          Bindings{{&it.scheduler}, {&model}, nullptr, &workload, {&before}});
    for (int i = 0; i < 25; ++i) simulation.advance();
    const std::unique_ptr<Workload> rest = workload.fork();
    Fcfs scheduler = it.scheduler;
    const std::unique_ptr<Simulation> fork =
        simulation.fork(Bindings{{&scheduler}, {&model}, nullptr, rest.get(), {&copied}});
    simulation.add_observer(after);
    simulation.run();
    fork->run();
    CHECK(after.steps == copied.steps);
    CHECK(after.gaps == copied.gaps);
    CHECK(after.done.size() == copied.done.size());
  }
}

TEST_CASE("stages that cannot be are refused by name") {
  const auto problem = [](const StageConfig& stages, int group = -1) -> std::string {
    Bench bench(10, 16);
    bench.replica().stages = stages;
    bench.replica().group = group;
    try {
      bench.run({spec(0, 1, 1)});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto says = [&](const StageConfig& stages, const char* part, int group = -1) {
    CHECK_THAT(problem(stages, group), ContainsSubstring(part));
  };
  StageConfig stages = equal_stages(2);
  CHECK(problem(stages) == "");
  says(stages, "replicas[1].stages: ranks that step together", 0);
  stages.shares = {0.5, 0.4};
  says(stages, "stages.shares: they add up to 0.9");
  stages.shares = {1.5, -0.5};
  says(stages, "stages.shares[1]: expected a number from 0 to 1, found 1.5");
  stages = equal_stages(2);
  stages.links.clear();
  says(stages, "stages.links: found 0");
  stages = equal_stages(2, {-1, 0});
  says(stages, "stages.links[1].pp_send_s: expected 0 to 9200000 s, found -1");
  stages = equal_stages(2);
  stages.pp_batches = 0;
  says(stages, "stages.pp_batches: expected 1 to 4096 steps, found 0");
}
