#include "measure/record/summary.h"

#include <cmath>

#include "base/error.h"
#include "measure/write/result.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;
using test::ms;

namespace {

Summary summary_of(SummaryOptions options = {}) {
  SummaryObserver observer(std::move(options));
  test::play(observer);
  return observer.summary();
}

}  // namespace

TEST_CASE("the figures of a run that can be checked in the head") {
  const Summary s = summary_of();
  CHECK(s.requests == 3);
  CHECK(s.completed == 2);
  CHECK(s.ended[static_cast<std::size_t>(Outcome::exceeds_kv_cache)] == 1);
  CHECK(s.steps == 4);
  CHECK(s.preemptions == 1);
  CHECK(s.duration_s == 0.018);
  CHECK(s.output_tokens == 7);
  CHECK(s.prompt_tokens == 150);
  CHECK(s.requests_per_s == 2 / 0.018);
  CHECK(s.output_tokens_per_s == 7 / 0.018);
  CHECK(s.ttft_s.mean == Approx(0.0115).epsilon(1e-15));
  CHECK(s.ttft_s.std == Approx(0.0015).epsilon(1e-13));
  CHECK(s.ttft_s.p99 == Approx(0.01297).epsilon(1e-14));
  CHECK(s.tpot_s.max == Approx(0.008 / 3).epsilon(1e-15));
  CHECK(s.tpot_s.min == 0.002);
  CHECK(s.e2e_s.max == 0.018);
  CHECK(s.queue_s.max == 0.009);
  CHECK(s.itl_s.count == 5);
  CHECK(s.itl_s.mean == Approx(0.0024).epsilon(1e-15));
  CHECK(s.itl_s.std == Approx(0.0008).epsilon(1e-14));
  CHECK(s.itl_s.p50 == Approx(0.002).epsilon(LogHistogram::relative_error));
  CHECK(s.itl_s.max == 0.004);
  CHECK(s.kv_used_frac_max == 0.6);
  CHECK(s.peak_concurrency == 3);
  CHECK(s.peak_output_tokens_per_s == 7);
  CHECK(s.evidence[static_cast<std::size_t>(Evidence::measured)] == Approx(10.0 / 18));
  CHECK(s.unsupported_share() == Approx(4.0 / 18));
  CHECK_FALSE(s.goodput_per_s.has_value());
}

TEST_CASE("every request that came is in one outcome, and groups add up to the whole") {
  SummaryOptions options;
  options.classes = {"batch", "chat"};
  const Summary s = summary_of(options);
  std::int64_t ended = 0, of_classes = 0, failed = 0, tokens = 0;
  for (const std::int64_t count : s.ended) ended += count;
  CHECK(ended == s.requests);
  REQUIRE(s.classes.size() == 2);
  for (const GroupSummary& group : s.classes) {
    of_classes += group.completed;
    failed += group.failed;
    tokens += group.output_tokens;
  }
  CHECK(of_classes == s.completed);
  CHECK(of_classes + failed == s.requests);
  CHECK(tokens == s.output_tokens);
  CHECK(s.classes[1].name == "chat");
  CHECK(s.classes[1].ttft_s.p50 == 0.013);
  REQUIRE(s.replicas.size() == 1);
  CHECK(s.replicas[0].requests.completed == 2);
  CHECK(s.replicas[0].requests.failed == 0);  // it never got to one
  CHECK(s.replicas[0].busy_frac == 1);
  CHECK(s.replicas[0].decode_batch_mean == Approx(5.0 / 3));
}

TEST_CASE("no replica is busy for longer than it was watched") {
  // A run that was stopped: one request of 10 ms is complete, another still decodes.
  SummaryObserver observer;
  observer.on_arrival(test::request(0, 0), 0);
  observer.on_arrival(test::request(1, 0), 0);
  test::play_step(observer, {0, 10 * ms, 0, 100, 0, 0, 7, 0, Evidence::measured, 1}, 0);
  observer.on_done(test::done(0, 0, 0, 0, 10 * ms, 10 * ms, 100, 1));
  test::play_step(observer, {15 * ms, 20 * ms, -1, 0, 1, 0, 7, 1, Evidence::measured, 1}, 1);
  const Summary s = observer.summary();
  CHECK(s.duration_s == 0.010);
  CHECK(s.replicas.at(0).busy_frac == 0.75);
}

TEST_CASE("a replica that always runs a step is busy, and as loaded as its steps are full") {
  Batch batch;
  StepPrice price;
  StepDone step;
  step.batch = &batch;
  step.price = &price;
  step.total_blocks = 100;
  step.max_num_seqs = 64;
  step.max_num_batched_tokens = 1000;
  const auto fill = [&](std::int32_t running, std::int32_t tokens, std::int32_t blocks) {
    step.running = running, batch.tokens = tokens, step.used_blocks = blocks;
    return fill_of_step(step);
  };
  CHECK(fill(1, 1, 1) == 1.0 / 64);  // one decode
  CHECK(fill(2, 500, 10) == 0.5);    // half a budget of prompts
  CHECK(fill(8, 8, 90) == 0.9);      // a cache that is nearly full
  CHECK(fill(80, 80, 10) == 1.0);    // never above 1
  step.max_num_seqs = step.max_num_batched_tokens = 0;
  CHECK(fill(500, 500, 20) == 0.2);  // without limits only the cache counts

  SummaryObserver observer;
  observer.on_arrival(test::request(0, 0), 0);
  step.max_num_seqs = 64;
  for (std::int64_t i = 0; i < 8; ++i) {
    step.start = i * ms, step.end = (i + 1) * ms;
    fill(i < 4 ? 1 : 32, 1, 1);
    observer.on_step(step);
  }
  observer.on_done(test::done(0, 0, 0, 0, 1 * ms, 8 * ms, 100, 8));
  const Summary s = observer.summary();
  CHECK(s.replicas.at(0).busy_frac == 1);
  CHECK(s.replicas.at(0).load_frac == Approx((1.0 / 64 + 0.5) / 2));
}

TEST_CASE("a session lasts from its first arrival to its last token") {
  const Summary s = summary_of();
  REQUIRE(s.sessions.has_value());
  CHECK(s.sessions->count == 1);
  CHECK(s.sessions->turns.mean == 2);
  CHECK(s.sessions->duration_s.mean == 0.018);
}

TEST_CASE("goodput counts requests that hold every limit, the limit itself included") {
  const auto goodput = [](Slo slo) {
    SummaryOptions options;
    options.slo = slo;
    return *summary_of(options).goodput_per_s * 0.018;
  };
  CHECK(goodput({0.013, {}, {}}) == Approx(2));
  CHECK(goodput({0.0129, {}, {}}) == Approx(1));
  CHECK(goodput({0.013, 0.002, {}}) == Approx(1));
  CHECK(goodput({{}, {}, 0.017}) == Approx(1));
  CHECK(goodput({0.001, {}, {}}) == 0);
}

TEST_CASE("a class may have limits of its own") {
  SummaryOptions options;
  options.slo.ttft_s = 0.001;
  options.class_slo[1].ttft_s = 0.1;
  CHECK(*summary_of(options).goodput_per_s == Approx(1 / 0.018));
}

TEST_CASE("limits of classes are settled by name, then by number; a name that no class has is refused") {
  SummaryOptions options;
  options.classes = {"chat", "report"};
  options.named_slo["report"].ttft_s = 3;
  options.named_slo["7"].ttft_s = 5;
  settle_class_slo(options);
  CHECK(options.class_slo.at(1).ttft_s == 3);
  CHECK(options.class_slo.at(7).ttft_s == 5);
  options.named_slo["reports"].ttft_s = 1;
  CHECK_THROWS_AS(settle_class_slo(options), Error);
}

TEST_CASE("a single token has no time per token, and is good by it") {
  SummaryOptions options;
  options.slo.tpot_s = 1e-9;
  SummaryObserver observer(options);
  observer.on_arrival(test::request(0, 0), 0);
  observer.on_done(test::done(0, 0, 0, 0, 5 * ms, 5 * ms, 10, 1));
  const Summary s = observer.summary();
  CHECK(s.tpot_s.count == 0);
  CHECK(std::isnan(s.tpot_s.mean));
  CHECK(*s.goodput_per_s == 200);
}

TEST_CASE("histograms give what kept values give, within their error") {
  SummaryOptions exact, streaming, switching;
  streaming.exact_requests = 0;
  switching.exact_requests = 100;
  SummaryObserver observers[] = {SummaryObserver(exact), SummaryObserver(streaming),
                                 SummaryObserver(switching)};
  std::uint64_t state = 7;
  const auto noise = [&] {
    return static_cast<Picoseconds>((state = state * 6364136223846793005u + 1) >> 30);
  };
  for (std::int32_t i = 0; i < 3000; ++i) {
    const Picoseconds arrival = i * ms, scheduled = arrival + noise(), first = scheduled + noise(),
                      last = first + noise();
    auto done = test::done(i, i % 3, arrival, scheduled, first, last, 10, 2 + i % 50);
    done.replica = i % 2;
    for (SummaryObserver& observer : observers) {
      observer.on_arrival(test::request(i, i % 3), arrival);
      observer.on_done(done);
    }
  }
  const Summary a = observers[0].summary();
  CHECK(a.exact);
  for (const Summary& b : {observers[1].summary(), observers[2].summary()}) {
    CHECK_FALSE(b.exact);
    CHECK_FALSE(b.sessions.has_value());
    CHECK(b.completed == a.completed);
    CHECK(b.duration_s == a.duration_s);
    for (const auto& [x, y] : {std::pair{a.ttft_s, b.ttft_s},
                               {a.e2e_s, b.e2e_s},
                               {a.tpot_s, b.tpot_s},
                               {a.queue_s, b.queue_s},
                               {a.classes[2].e2e_s, b.classes[2].e2e_s},
                               {a.replicas[1].requests.e2e_s, b.replicas[1].requests.e2e_s}}) {
      CHECK(x.count == y.count);
      CHECK(y.mean == Approx(x.mean).epsilon(1e-9));
      CHECK(y.std == Approx(x.std).epsilon(1e-9));
      CHECK(y.max == Approx(x.max).epsilon(1e-9));
      CHECK(y.p50 == Approx(x.p50).epsilon(0.003));  // between two of 1000 values, and 0.1 %
      CHECK(y.p99 == Approx(x.p99).epsilon(0.01));
    }
  }
}

TEST_CASE("switching to histograms changes nothing but the quantiles' error") {
  SummaryOptions streaming, switching;
  streaming.exact_requests = 0;
  switching.exact_requests = 1;
  Summary a = summary_of(streaming), b = summary_of(switching);
  CHECK(dump_json(to_json(a)) == dump_json(to_json(b)));
}

TEST_CASE("a copy goes on by itself") {
  SummaryObserver first;
  test::play(first);
  SummaryObserver second = first;
  second.on_arrival(test::request(3, 0), 20 * ms);
  second.on_done(test::done(3, 0, 20 * ms, 20 * ms, 30 * ms, 40 * ms, 10, 2));
  CHECK(first.summary().completed == 2);
  CHECK(second.summary().completed == 3);
}

TEST_CASE("nothing completed gives zeros and nulls, not garbage") {
  const Summary s = SummaryObserver().summary();
  CHECK(s.duration_s == 0);
  CHECK(s.requests_per_s == 0);
  const Json json = to_json(s);
  CHECK(json.find("ttft_s")->find("p99")->is_number());  // NaN in memory, null in text
  CHECK(dump_json(json).find("\"p99\":null") != std::string::npos);
}

TEST_CASE("steps that are told together count as they do one by one") {
  Batch batch;
  batch.decodes = batch.tokens = batch.sampled = 3;
  std::vector<StepPrice> prices(40);
  std::vector<RepeatedStep> steps;
  Picoseconds now = 5 * ms;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    prices[i].time_s = 0.1 + 0.003 * static_cast<double>(i * i % 7);
    prices[i].evidence_s[i % 3] = prices[i].time_s;
    const Picoseconds end = after(now, prices[i].time_s, "test");
    const auto blocks = static_cast<std::int32_t>(30 + i / 4);
    steps.push_back({now, now, end, &prices[i], blocks, blocks});
    now = end;
  }
  StepDone first;
  first.batch = &batch;
  first.price = steps.front().price;
  first.start = steps.front().start;
  first.end = steps.front().end;
  first.running = 3;
  first.max_num_seqs = 64;
  first.used_blocks = 30;
  first.total_blocks = 50;
  first.common_gap = 111 * ms;
  first.common_gaps = 3;
  SummaryObserver together, one_by_one;
  together.on_arrival(test::request(0, 0), 0);
  one_by_one.on_arrival(test::request(0, 0), 0);
  together.on_steps({first, steps});
  one_by_one.Observer::on_steps({first, steps});
  const Summary a = together.summary(), b = one_by_one.summary();
  CHECK(b.steps == 40);
  CHECK(a.steps == b.steps);
  CHECK(a.itl_s.count == 120);
  CHECK(a.itl_s.count == b.itl_s.count);
  CHECK(a.itl_s.mean == b.itl_s.mean);
  CHECK(a.itl_s.std == b.itl_s.std);
  CHECK(a.itl_s.p50 == b.itl_s.p50);
  CHECK(a.itl_s.max == b.itl_s.max);
  CHECK(a.evidence == b.evidence);
  CHECK(a.kv_used_frac_max == b.kv_used_frac_max);
  CHECK(a.kv_used_frac_max == 39.0 / 50);
  CHECK(a.peak_output_tokens_per_s == b.peak_output_tokens_per_s);
  CHECK(a.peak_output_tokens_per_s > 20);
  REQUIRE(a.replicas.size() == 1);
  CHECK(a.replicas[0].busy_frac == b.replicas[0].busy_frac);
  CHECK(a.replicas[0].load_frac == b.replicas[0].load_frac);
  CHECK(a.replicas[0].load_frac > 0.5);
  CHECK(a.replicas[0].decode_batch_mean == 3);
}
