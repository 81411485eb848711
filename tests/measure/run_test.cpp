// Observers on real runs of the engine, with native policies.

#include <map>
#include <sstream>

#include "measure/record/why.h"
#include "measure/write/requests.h"
#include "measure/write/result.h"
#include "measure/write/timeline.h"
#include "serve/traces/read.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Prompts of 20 to 119 tokens and answers of 1 to 60, 20 per second on average: a tight cache of
/// 40 blocks preempts. Every third ends by its end token.
std::vector<RequestSpec> requests(std::int32_t count) {
  std::vector<RequestSpec> out;
  std::uint64_t state = 5;
  const auto below = [&](std::uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state >> 33) % limit);
  };
  double now_s = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    now_s += below(1000) * 1e-4;
    out.push_back(spec(now_s, 20 + below(100), 1 + below(60)));
    if (i % 3 == 0) out.back().max_output_tokens += 1 + i % 20;
    out.back().klass = i % 2;
    out.back().session = i % 7;
  }
  out.push_back(spec(now_s, 5000, 10));  // never fits
  return out;
}

struct Tight : Bench {
  explicit Tight(std::int32_t depth) : Bench(40, 256) {
    replica().max_num_seqs = 16;
    replica().async_depth = depth;
    model = LinearSteps(20e-3, 1e-5, 1e-7);
  }
  Totals observe(std::vector<Observer*> observers) {
    ListedWorkload workload(requests(400));
    Bindings b = bindings(workload);
    b.observers = std::move(observers);
    return simulate(cluster, b);
  }
};

}  // namespace

TEST_CASE("the summary of a run adds up to the engine's own counts") {
  for (const std::int32_t depth : {1, 2}) {
    SummaryObserver observer;
    const Totals totals = Tight(depth).observe({&observer});
    const Summary s = observer.summary();
    CHECK(s.requests == 401);
    CHECK(s.requests == totals.arrived);
    CHECK(s.ended == totals.ended);
    CHECK(s.completed == 400);
    CHECK(s.steps == totals.steps);
    CHECK(s.preemptions == totals.preemptions);
    CHECK(s.preemptions > 10);
    CHECK(s.output_tokens == totals.output_tokens);
    CHECK(s.itl_s.count == s.output_tokens - s.completed);  // all tokens but the first of each
    CHECK(s.kv_used_frac_max > 0.9);
    CHECK(s.kv_used_frac_max <= 1);
    CHECK(s.evidence[static_cast<std::size_t>(Evidence::assumed)] == 1);
    CHECK(s.replicas.at(0).busy_frac <= 1);
    CHECK(s.sessions->count == 7);
  }
}

TEST_CASE("rows after end tokens are steps' work and no request's tokens") {
  struct Rows : Observer {
    std::int64_t sampled = 0, discarded = 0;
    void on_step(const StepDone& step) override {
      sampled += step.batch->sampled;
      discarded += step.discarded;
    }
  } rows;
  std::ostringstream out;
  Timeline timeline(out, "trace");
  const Totals totals = Tight(2).observe({&rows, &timeline});
  timeline.finish();
  CHECK(rows.discarded > 100);
  CHECK(rows.sampled == totals.output_tokens + rows.discarded);
  std::int64_t shown = 0;
  const Json trace = parse_json(out.str(), "trace");
  for (const Json& event : trace.find("traceEvents")->items()) {
    const Json* arguments = event.find("args");
    const Json* discarded = arguments != nullptr ? arguments->find("discarded") : nullptr;
    if (discarded != nullptr) shown += discarded->integer();
  }
  CHECK(shown == rows.discarded);

  // A burst in one second: only what landed counts.
  SummaryObserver summary;
  Bench bench(1000, 256);
  bench.replica().async_depth = 2;
  bench.model = LinearSteps(0.1);
  RequestSpec short_answer = spec(0, 16, 3);
  short_answer.max_output_tokens = 9;
  ListedWorkload workload({short_answer, short_answer});
  Bindings b = bench.bindings(workload);
  b.observers = {&summary};
  simulate(bench.cluster, b);
  CHECK(summary.summary().steps == 4);
  CHECK(summary.summary().peak_output_tokens_per_s == 6);
}

TEST_CASE("mean time per token, weighted by gaps, is the mean gap between tokens") {
  SummaryObserver observer;
  Recorder recorder;
  Tight(1).observe({&observer, &recorder});
  double decode_s = 0, gaps = 0;
  for (const RequestDone& done : recorder.done) {
    if (done.outcome != Outcome::completed) continue;
    decode_s += seconds(done.last_token - done.first_token);
    gaps += done.output_tokens - 1;
  }
  CHECK(observer.summary().itl_s.mean == Approx(decode_s / gaps).epsilon(1e-12));
}

TEST_CASE("the time of every request is explained to the last picosecond") {
  for (const std::int32_t depth : {1, 2}) {
    Recorder recorder;
    Tight(depth).observe({&recorder});
    std::int32_t preempted = 0, recomputed = 0;
    std::vector<std::int32_t> ids{0, 50, 133, 200, 301, 399};
    for (const RequestDone& done : recorder.done) {
      if (done.preemptions > 0 && ids.size() < 16) ids.push_back(done.id);
    }
    for (const std::int32_t id : ids) {
      WhyObserver observer(id);
      Tight(depth).observe({&observer});
      REQUIRE(observer.why().has_value());
      const Why& why = *observer.why();
      Picoseconds sum = 0;
      for (const Picoseconds part : why.time) sum += part;
      const RequestDone& done = recorder.of(id);
      CHECK(sum == done.last_token - done.arrival);
      CHECK(why.time[static_cast<std::size_t>(LatencyHeading::prefill)] > 0);
      const auto lost = why.time[static_cast<std::size_t>(LatencyHeading::recompute)];
      if (lost > 0) CHECK(done.preemptions > 0);
      recomputed += lost > 0;
      preempted += done.preemptions > 0;
      CHECK(parse_json(dump_json(to_json(why, nullptr)), "why").find("request")->integer() == id);
    }
    CHECK(preempted >= 10);
    CHECK(recomputed >= 5);  // the others kept whole blocks in the cache
  }
}

namespace {

/// Two operations a step: 1/3 of it measured, the rest assumed.
class ExplainedSteps : public StepModel {
 public:
  explicit ExplainedSteps(LinearSteps& model) : model_(&model) {}
  void price(const Batch& batch, StepPrice& price) override { model_->price(batch, price); }
  void explain(const Batch& batch, PriceDetail detail, StepPrice& price,
               std::vector<OpTime>& operations) override {
    model_->price(batch, price);
    if (detail != PriceDetail::operations) return;
    operations = {{"first", Evidence::measured, price.time_s / 3},
                  {"second", Evidence::assumed, price.time_s - price.time_s / 3}};
  }

 private:
  LinearSteps* model_;
};

/// The run of `bench` with one request followed, step by step.
Why followed(Bench& bench, std::vector<RequestSpec> specs, std::int32_t id) {
  ListedWorkload workload(std::move(specs));
  WhyObserver observer(id);
  ExplainedSteps steps(bench.model);
  Bindings b = bench.bindings(workload);
  b.steps.assign(b.steps.size(), &steps);
  b.observers = {&observer};
  simulate(bench.cluster, b);
  REQUIRE(observer.why().has_value());
  return *observer.why();
}

Picoseconds at(const Why& why, LatencyHeading w) {
  return why.time[static_cast<std::size_t>(w)];
}

}  // namespace

TEST_CASE("operations and reasons add up to their headings, to the last picosecond") {
  for (const std::int32_t depth : {1, 2}) {
    Recorder recorder;
    Tight(depth).observe({&recorder});
    std::vector<std::int32_t> ids{0, 50, 133, 200, 301, 399};
    for (const RequestDone& done : recorder.done) {
      if (done.preemptions > 0 && ids.size() < 26) ids.push_back(done.id);
    }
    REQUIRE(ids.size() == 26);
    std::array<Picoseconds, wait_reason_count> reasons{};
    for (const std::int32_t id : ids) {
      Tight bench(depth);
      const Why why = followed(bench, requests(400), id);
      const RequestDone& done = recorder.of(id);
      Picoseconds sum = 0;
      for (const Picoseconds part : why.time) sum += part;
      CHECK(sum == done.last_token - done.arrival);  // followed or not, the same run
      CHECK(why.lost_seats == done.preemptions);
      std::array<Picoseconds, latency_heading_count> of_ops{};
      for (const auto& [op, time] : why.ops)
        of_ops[static_cast<std::size_t>(std::get<0>(op))] += time;
      for (const LatencyHeading w : {LatencyHeading::prefill, LatencyHeading::recompute,
                                     LatencyHeading::decode, LatencyHeading::decode_mixed})
        CHECK(of_ops[static_cast<std::size_t>(w)] == at(why, w));
      Picoseconds held = 0, behind = 0;
      for (std::size_t i = 0; i < wait_reason_count; ++i) {
        held += why.held[i];
        reasons[i] += why.held[i];
      }
      for (const auto& [holder, time] : why.behind) behind += time;
      const Picoseconds waited = at(why, LatencyHeading::queue_prefill) +
                                 at(why, LatencyHeading::queue_decode) +
                                 at(why, LatencyHeading::preempted);
      CHECK(held == behind);
      CHECK(held == waited);
      CHECK(why.behind.count(id) == 0);
    }
    for (const WaitReason reason :
         {WaitReason::cache, WaitReason::order, WaitReason::preempting, WaitReason::pipeline})
      CHECK(reasons[static_cast<std::size_t>(reason)] > 0);
  }
}

TEST_CASE("a request that waits is told what for, and behind which others") {
  SECTION("one seat: three steps of request 0, then the rest of those of request 1") {
    Bench bench(1000, 64);
    bench.replica().max_num_seqs = 1;
    const Why why = followed(bench, {spec(0, 32, 3), spec(0, 32, 2), spec(0, 32, 1)}, 2);
    CHECK(why.held[static_cast<std::size_t>(WaitReason::seats)] == picoseconds(5.0, "test"));
    CHECK(why.behind == std::map<std::int32_t, Picoseconds>{{0, picoseconds(3.0, "test")},
                                                            {1, picoseconds(2.0, "test")}});
    CHECK(at(why, LatencyHeading::prefill) == picoseconds(1.0, "test"));
    CHECK(why.ops.at({LatencyHeading::prefill, "first", Evidence::measured}) == 333'333'333'333);
    CHECK(why.ops.at({LatencyHeading::prefill, "second", Evidence::assumed}) == 666'666'666'667);
  }
  SECTION("a budget of 64: 48 tokens of request 0 and 16 of request 1 fill the first step") {
    Bench bench(1000, 64);
    const Why why = followed(bench, {spec(0, 48, 1), spec(0, 20, 1), spec(0, 8, 1)}, 2);
    CHECK(why.held[static_cast<std::size_t>(WaitReason::budget)] == picoseconds(1.0, "test"));
    CHECK(why.behind == std::map<std::int32_t, Picoseconds>{{0, picoseconds(0.75, "test")},
                                                            {1, picoseconds(0.25, "test")}});
  }
  SECTION("six blocks: request 0 holds four of them for two steps") {
    Bench bench(6, 256);
    const Why why = followed(bench, {spec(0, 64, 1), spec(0, 48, 1)}, 1);
    CHECK(why.held[static_cast<std::size_t>(WaitReason::cache)] == picoseconds(1.0, "test"));
    CHECK(why.behind == std::map<std::int32_t, Picoseconds>{{0, picoseconds(1.0, "test")}});
  }
  SECTION("it came while a step ran") {
    Bench bench(1000, 64);
    const Why why = followed(bench, {spec(0, 32, 2), spec(0.25, 32, 1)}, 1);
    CHECK(why.held[static_cast<std::size_t>(WaitReason::pipeline)] == picoseconds(0.75, "test"));
    CHECK(why.behind == std::map<std::int32_t, Picoseconds>{{0, picoseconds(0.75, "test")}});
  }
}

TEST_CASE("a request that waits after a prefill is told so") {
  Bench bench(1000, 64);
  WhyObserver observer(1);
  ListedWorkload workload({spec(0, 128, 3), spec(0.5, 32, 3)});
  Bindings b = bench.bindings(workload);
  b.observers = {&observer};
  simulate(bench.cluster, b);
  // Steps of one second: 0..1 and 1..2 prefill request 0; 2..3 it decodes beside the prefill of
  // request 1; 3..4 both decode, 4..5 request 1 alone.
  const std::string text = report(*observer.why(), nullptr);
  const std::string headings = R"(request 1  32 tokens in, 3 out, completed, TTFT 2.500 s

  queue behind prefill  1.500 s   33.3 %  2 steps
  prefill               1.000 s   22.2 %  1 steps
  decode                2.000 s   44.4 %  2 steps
  -----------------------------------------------
  end to end            4.500 s  100.0 %
)";
  CHECK(text.substr(0, headings.size()) == headings);
  CHECK(
      text.find("waited: the step was planned before it came 500.0 ms, the token budget was spent "
                "1.000 s\nbehind: request 0 1.500 s\n") != std::string::npos);
  CHECK(text.find("unrecorded") != std::string::npos);  // the model does not tell its operations
  CHECK(text.ends_with("its own steps rest on assumed 100.0 %\n"));
}

TEST_CASE("the rows of a run replay as a trace, request by request") {
  std::ostringstream out;
  RequestsCsv csv(out, "r.csv");
  Tight(1).observe({&csv});
  csv.finish();
  const Trace trace = parse_trace(out.str(), "r.csv");
  const auto specs = requests(400);
  REQUIRE(trace.rows.size() == 400);
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    CHECK(trace.rows[i].prompt_tokens == specs[i].prompt_tokens);
    CHECK(trace.rows[i].output_tokens == specs[i].output_tokens);
    CHECK(trace.rows[i].arrival_s == Approx(specs[i].arrival_s).epsilon(1e-11));
  }
}

TEST_CASE("the trace of a run is JSON, and the same run gives the same bytes") {
  std::string texts[2];
  for (std::string& text : texts) {
    std::ostringstream out;
    Timeline timeline(out, "t.json");
    Tight(2).observe({&timeline});
    timeline.finish();
    text = out.str();
  }
  CHECK(texts[0] == texts[1]);
  CHECK(parse_json(texts[0], "t.json").find("traceEvents")->items().size() > 1000);
}
