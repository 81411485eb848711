// Observers on real runs of the engine, with native policies.

#include <sstream>

#include "measure/requests_out.h"
#include "measure/result.h"
#include "measure/timeline.h"
#include "measure/why.h"
#include "serve/traces.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// Prompts of 20 to 119 tokens and answers of 1 to 60, 20 per second on average: a tight cache of
/// 40 blocks preempts.
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
      CHECK(why.time[static_cast<std::size_t>(Whereabouts::prefill)] > 0);
      const auto lost = why.time[static_cast<std::size_t>(Whereabouts::recompute)];
      if (lost > 0) CHECK(done.preemptions > 0);
      recomputed += lost > 0;
      preempted += done.preemptions > 0;
      CHECK(parse_json(dump_json(to_json(why)), "why").find("request")->integer() == id);
    }
    CHECK(preempted >= 10);
    CHECK(recomputed >= 5);  // the others kept whole blocks in the cache
  }
}

TEST_CASE("a request that waits behind a prefill is told so") {
  Bench bench(1000, 64);
  WhyObserver observer(1);
  ListedWorkload workload({spec(0, 128, 3), spec(0.5, 32, 3)});
  Bindings b = bench.bindings(workload);
  b.observers = {&observer};
  simulate(bench.cluster, b);
  // Steps of one second: 0..1 and 1..2 prefill request 0; 2..3 it decodes beside the prefill of
  // request 1; 3..4 both decode, 4..5 request 1 alone.
  CHECK(report(*observer.why()) == R"(request 1  32 tokens in, 3 out, completed, TTFT 2.500 s

  queue behind prefill  1.500 s   33.3 %  2 steps
  prefill               1.000 s   22.2 %  1 steps
  decode                2.000 s   44.4 %  2 steps
  -----------------------------------------------
  end to end            4.500 s  100.0 %

its own steps rest on assumed 100.0 %
)");
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
