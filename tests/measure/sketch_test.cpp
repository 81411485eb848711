#include "measure/record/sketch.h"

#include <cmath>
#include <random>

#include "measure/record/summary.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

namespace {

Batch batch_of(std::int32_t id, PrefillWork& work) {
  work = {id, 0, 1, 0, id};
  Batch batch;
  batch.prefills = &work;
  batch.prefill_count = 1;
  batch.tokens = id;
  return batch;
}

StepPrice price_of(double time_s) {
  StepPrice price;
  price.time_s = price.own_s = time_s;
  return price;
}

double sum(const std::vector<double>& values) {
  double out = 0;
  for (const double value : values) out += value;
  return out;
}

}  // namespace

TEST_CASE("a step of a rank without tokens is not sampled, and one of a group keeps what it has") {
  StepSurvey sample;
  sample.add(Batch{}, price_of(1));
  CHECK(sample.steps().empty());
  PrefillWork work;
  Batch batch = batch_of(3, work);
  GroupWork{4, 30, 12, 2}.write_to(batch);
  StepPrice price = price_of(2);
  price.own_s = 1.5;
  sample.add(batch, price);
  REQUIRE(sample.steps().size() == 1);
  const SampledStep step = sample.steps().front();
  CHECK(step.time_s == 2);
  CHECK(step.own_s == 1.5);
  CHECK((step.group.ranks == 4 && step.group.tokens == 30));
  CHECK((step.group.max_tokens == 12 && step.group.prefills == 2));
}

TEST_CASE("bins keep the integral however often they widen, and stay few") {
  std::mt19937_64 random(3);
  TimeBins bins;
  double integral = 0;
  Picoseconds now = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto lasts = static_cast<Picoseconds>(random() % 5'000'000'000);
    const auto value = static_cast<double>(random() % 100);
    bins.add(now, now + lasts, value);
    integral += value * static_cast<double>(lasts);
    now += lasts + static_cast<Picoseconds>(random() % 1'000'000'000);
  }
  CHECK(sum(bins.sums()) == Approx(integral).epsilon(1e-9));
  CHECK(bins.sums().size() <= TimeBins::most);
  CHECK(bins.sums().size() > TimeBins::most / 2 - 1);
}

TEST_CASE("a constant has the same mean in every bin") {
  TimeBins bins;
  bins.add(0, 3'000'000'000'000, 7);
  REQUIRE(bins.sums().size() > 2);
  for (std::size_t i = 0; i + 1 < bins.sums().size(); ++i)
    CHECK(bins.sums()[i] / static_cast<double>(bins.width()) == Approx(7));
}

TEST_CASE("sampled steps stand for equal parts of the busy time") {
  // Two kinds of step, 1 ms and 9 ms, half of each: 10 % and 90 % of the time.
  StepSurvey sample;
  PrefillWork work;
  for (int i = 0; i < 100000; ++i) {
    sample.add(batch_of(1, work), price_of(1e-3));
    sample.add(batch_of(2, work), price_of(9e-3));
  }
  double all = 0, longer = 0;
  const auto steps = sample.steps();
  REQUIRE(!steps.empty());
  for (const SampledStep& step : steps) {
    REQUIRE(step.prefills.size() == 1);
    all += static_cast<double>(step.weight);
    if (step.prefills[0].id == 2) longer += static_cast<double>(step.weight);
    CHECK(step.time_s == (step.prefills[0].id == 2 ? 9e-3 : 1e-3));
  }
  CHECK(all <= StepSurvey::most);
  CHECK(all > StepSurvey::most / 2 - 1);
  CHECK(longer / all == Approx(0.9).margin(0.15));
}

TEST_CASE("steps with prompts that are too short for a moment are kept without weight") {
  StepSurvey sample;
  PrefillWork work;
  Batch decodes;
  decodes.tokens = decodes.decodes = decodes.decode_tokens = 1;
  for (int i = 0; i < 2000; ++i) {
    sample.add(batch_of(i, work), price_of(1e-6));
    for (int k = 0; k < 5; ++k) sample.add(decodes, price_of(10e-3));
  }
  std::int64_t prompts = 0, weights = 0;
  for (const SampledStep& step : sample.steps()) {
    prompts += step.prefills.empty() ? 0 : 1;
    weights += step.weight;
    if (step.weight == 0) CHECK(!step.prefills.empty());
  }
  CHECK(weights <= StepSurvey::most);
  CHECK(prompts >= StepSurvey::most_prompts / 2);
  CHECK(prompts <= StepSurvey::most_prompts + StepSurvey::most);
}

TEST_CASE("one long step weighs as much as the time it took") {
  StepSurvey sample;
  PrefillWork work;
  for (int i = 0; i < 50; ++i) sample.add(batch_of(1, work), price_of(1e-3));
  sample.add(batch_of(2, work), price_of(50e-3));
  double all = 0, longer = 0;
  for (const SampledStep& step : sample.steps()) {
    all += static_cast<double>(step.weight);
    if (step.prefills[0].id == 2) longer += static_cast<double>(step.weight);
  }
  CHECK(longer / all == Approx(0.5).margin(0.03));
}

TEST_CASE("a sketch's curves agree with the summary within the histogram's error") {
  Sketch sketch;
  SummaryObserver observer;
  test::play(sketch);
  test::play(observer);
  const Json json = sketch.json();
  const Summary summary = observer.summary();
  const auto ends = [&](const char* key, const Statistics& s) {
    const Json::Array& points = json.find("quantiles")->find(key)->items();
    REQUIRE(points.size() >= 2);
    CHECK(points.front().items()[1].number() == Approx(s.min).epsilon(1e-3));
    CHECK(points.back().items()[1].number() == Approx(s.max).epsilon(1e-3));
    for (std::size_t i = 1; i < points.size(); ++i)
      CHECK(points[i].items()[0].number() > points[i - 1].items()[0].number());
  };
  ends("ttft_s", summary.ttft_s);
  ends("tpot_s", summary.tpot_s);
  ends("itl_s", summary.itl_s);
  ends("e2e_s", summary.e2e_s);
  const Json& timeline = *json.find("timeline");
  double tokens = 0;
  const double bin_s = timeline.find("bin_s")->number(), end_s = timeline.find("end_s")->number();
  double begin_s = 0;
  for (const Json& rate : timeline.find("output_tokens_per_s")->items()) {
    tokens += rate.number() * (end_s > begin_s ? std::min(bin_s, end_s - begin_s) : bin_s);
    begin_s += bin_s;
  }
  CHECK(tokens == Approx(static_cast<double>(summary.output_tokens)));
}
