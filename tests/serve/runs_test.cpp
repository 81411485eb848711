// Prices of steps ahead, and the short way of a step that repeats the one before it.

#include "serve/replica/priced_run.h"

#include <algorithm>
#include <utility>

#include "serve/replica/remembered_prices.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// One second, and one more per million tokens of context; counts what it is asked.
class CountedSteps : public StepModel {
 public:
  explicit CountedSteps(bool prices_runs) : prices_runs_(prices_runs) {}
  int alone = 0, runs = 0, steps_of_runs = 0;

  static double time_s(double context_tokens) { return 1 + context_tokens / 1e6; }
  void price(const Batch& batch, StepPrice& price) override {
    ++alone;
    price.time_s = time_s(batch.decode_context_tokens);
  }
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override {
    ++runs;
    if (!prices_runs_) return 0;
    double tokens = first.decode_context_tokens;
    for (StepPrice& price : prices) {
      price.time_s = time_s(tokens);
      tokens += growth.decode_context_tokens;
      ++steps_of_runs;
    }
    return static_cast<std::int32_t>(prices.size());
  }

 private:
  bool prices_runs_;
};

/// The same, and prices of runs are kept.
class RememberedSteps : public CountedSteps {
 public:
  RememberedSteps() : CountedSteps(true), kept_(RememberedPrices::new_table(), 0) {}
  RememberedPrices* remembered() override { return &kept_; }

 private:
  RememberedPrices kept_;
};

Batch decodes(std::int32_t count, double context_tokens) {
  Batch batch;
  batch.decodes = batch.tokens = batch.requests = batch.sampled = count;
  batch.decode_context_tokens = context_tokens;
  return batch;
}

/// Everything that a run tells, with a recorder that reads prices (the long way) or does not.
struct Told : Recorder {
  explicit Told(bool reads_steps) : reads(reads_steps) {}
  bool reads;
  std::vector<double> pairs;
  std::size_t most_at_once = 1;
  bool reads_prices() const override { return reads; }
  void on_steps(const StepsDone& those) override {
    most_at_once = std::max(most_at_once, those.steps.size());
    Recorder::on_steps(those);
  }
  void on_step(const StepDone& step) override {
    Recorder::on_step(step);
    pairs.push_back(step.batch->decode_pairs);
  }
};

struct Outcomes {
  std::vector<std::string> steps;
  std::vector<double> pairs;
  std::vector<Picoseconds> gaps, ends;
  Totals totals;
  std::size_t most_at_once = 1;
};

/// @param slices  of instants, and of seconds, in turns; else the whole at once
Outcomes run(bool reads_prices, bool prices_runs, std::int32_t depth, std::int32_t kv_blocks,
             bool slices = false) {
  std::vector<RequestSpec> specs;
  for (int i = 0; i < 12; ++i) specs.push_back(spec(13.5 * i, 5 + 3 * i, 40 + 7 * i));
  Bench bench(kv_blocks, 64);
  bench.replica().async_depth = depth;
  bench.replica().max_num_seqs = 6;
  CountedSteps steps(prices_runs);
  ListedWorkload workload(specs);
  Told told(reads_prices);
  Bindings bindings = bench.bindings(workload);
  bindings.steps = {&steps};
  bindings.observers = {&told};
  Simulation simulation(bench.cluster, bindings);
  for (int i = 1; slices; ++i) {
    const double until_s = simulation.now_s() + 7.25;
    while (!simulation.run_until(until_s, nullptr, 2))
      CHECK(simulation.now_s() < until_s + 1e-9);
    CHECK(simulation.now_s() < until_s + 1e-9);
    const std::int64_t before = simulation.totals().steps;
    const bool over = simulation.run(nullptr, i % 7);
    CHECK(simulation.totals().steps <= before + i % 7);
    const std::int64_t so_far = simulation.totals().steps;
    CHECK(simulation.step() == !over);
    CHECK(simulation.totals().steps == so_far + (over ? 0 : 1));
    if (over) break;
  }
  simulation.run();
  Outcomes out{told.steps, told.pairs, told.gaps, {}, simulation.totals(), told.most_at_once};
  for (const RequestDone& done : told.done) out.ends.push_back(done.last_token);
  return out;
}

}  // namespace

TEST_CASE("the third batch of a steady growth begins a run, whose length doubles") {
  CountedSteps steps(true);
  PricedRun run;
  double context = 100;
  for (int i = 0; i < 2 + 8 + 16; ++i, context += 4)
    CHECK(run.price(steps, decodes(4, context)).time_s == CountedSteps::time_s(context));
  CHECK(steps.alone == 2);
  CHECK(steps.runs == 2);
  CHECK(steps.steps_of_runs == 8 + 16);
}

TEST_CASE("a batch that is not the next one of the run is priced alone") {
  CountedSteps steps(true);
  PricedRun run;
  for (int i = 0; i < 5; ++i) run.price(steps, decodes(4, 100 + 4 * i));
  CHECK(steps.alone == 2);
  CHECK(run.price(steps, decodes(4, 1000)).time_s == CountedSteps::time_s(1000));
  CHECK(run.price(steps, decodes(3, 1003)).time_s == CountedSteps::time_s(1003));
  CHECK(steps.alone == 4);
  CHECK(run.next(4, 120, nullptr) == nullptr);
}

TEST_CASE("a run that was priced before is not priced again") {
  RememberedSteps steps;
  for (int pass = 0; pass < 2; ++pass) {
    CAPTURE(pass);
    PricedRun run;  // of another replica, or of other requests
    for (int i = 2 * pass; i < 300; ++i)
      CHECK(run.price(steps, decodes(4, 103 + 4 * i)).time_s == CountedSteps::time_s(103 + 4 * i));
  }
  CHECK(steps.alone == 2);
  CHECK(steps.steps_of_runs == 485);  // to the end of the last chunk
  PricedRun run;                      // begins in front of what is known, and goes on in it
  for (int i = -7; i < 300; ++i)
    CHECK(run.price(steps, decodes(4, 103 + 4 * i)).time_s == CountedSteps::time_s(103 + 4 * i));
  CHECK(steps.alone == 4);
  CHECK(steps.steps_of_runs == 485 + 7);
}

TEST_CASE("what is remembered is the price of the batch, whatever came before") {
  RememberedSteps steps;
  std::vector<PricedRun> runs(3);
  std::vector<Batch> last(3);
  std::uint64_t dice = 1;
  const auto upto = [&](int most) {
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int>((dice >> 33) % static_cast<std::uint64_t>(most));
  };
  for (int i = 0; i < 200000; ++i) {
    const auto which = static_cast<std::size_t>(upto(3));
    Batch& batch = last[which];
    if (batch.decodes == 0 || upto(20) == 0) {
      batch = decodes(1 + upto(upto(8) == 0 ? 20 : 4), upto(2000));
      batch.group_tokens = batch.group_max_tokens = batch.tokens + upto(2);
    } else {
      batch.decode_context_tokens += batch.decodes;
    }
    REQUIRE(runs[which].price(steps, batch).time_s ==
            CountedSteps::time_s(batch.decode_context_tokens));
  }
  CHECK(steps.alone + steps.steps_of_runs < 120000);
}

TEST_CASE("nothing is known of another step model") {
  CountedSteps steps(true);
  PricedRun run;
  for (int i = 0; i < 5; ++i) run.price(steps, decodes(1, 10 + i));
  REQUIRE(run.next(1, 15, nullptr) != nullptr);
  run.forget();
  CHECK(run.next(1, 16, nullptr) == nullptr);
}

TEST_CASE("a model that prices no runs is asked for one less and less often") {
  CountedSteps steps(false);
  PricedRun run;
  for (int i = 0; i < 100; ++i)
    CHECK(run.price(steps, decodes(1, i)).time_s == CountedSteps::time_s(i));
  CHECK(steps.alone == 100);
  CHECK(steps.runs > 1);
  CHECK(steps.runs < 10);
}

TEST_CASE("the short way of a step tells the same as the long one, with and without runs") {
  for (const std::int32_t depth : {1, 2}) {
    for (const std::int32_t kv_blocks : {200, 30}) {
      CAPTURE(depth, kv_blocks);
      const Outcomes plain = run(true, false, depth, kv_blocks);
      CHECK(plain.totals.plain_steps == 0);
      CHECK(plain.most_at_once == 1);
      for (const auto& [prices_runs, slices] :
           {std::pair{false, false}, {true, false}, {true, true}}) {
        const Outcomes fast = run(false, prices_runs, depth, kv_blocks, slices);
        CHECK(fast.steps == plain.steps);
        CHECK(fast.pairs == plain.pairs);
        CHECK(fast.gaps == plain.gaps);
        CHECK(fast.ends == plain.ends);
        CHECK(fast.totals.plans_asked == plain.totals.plans_asked);
        CHECK(fast.totals.steps == plain.totals.steps);
        CHECK(fast.totals.output_tokens == plain.totals.output_tokens);
        CHECK(fast.totals.preemptions == plain.totals.preemptions);
        CHECK((fast.most_at_once > 1) == prices_runs);
        if (prices_runs && kv_blocks == 200)
          CHECK(4 * fast.totals.plain_steps > plain.totals.steps);
      }
    }
  }
}
