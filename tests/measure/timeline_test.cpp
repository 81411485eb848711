#include "measure/write/timeline.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

namespace {

Json trace_of(TimelineOptions options = {}) {
  std::ostringstream out;
  Timeline timeline(out, "trace", std::move(options));
  test::play(timeline);
  timeline.finish();
  return parse_json(out.str(), "trace");
}

std::vector<const Json*> events(const Json& trace, const std::string& phase) {
  std::vector<const Json*> out;
  for (const Json& event : trace.find("traceEvents")->items()) {
    if (event.find("ph")->text() == phase) out.push_back(&event);
  }
  return out;
}

}  // namespace

TEST_CASE("a trace is one JSON document with a step event per step") {
  const Json trace = trace_of();
  const auto steps = events(trace, "X");
  REQUIRE(steps.size() == 4);
  CHECK(steps[0]->find("name")->text() == "prefill, compute");
  CHECK(steps[1]->find("name")->text() == "mixed, compute");
  CHECK(steps[3]->find("name")->text() == "decode, memory");
  CHECK(steps[1]->find("ts")->number() == 10000);  // microseconds
  CHECK(steps[1]->find("dur")->number() == 4000);
  CHECK(steps[1]->find("args")->find("decodes")->integer() == 1);
  CHECK(steps[1]->find("args")->find("prefills")->items().at(0).text() == "1: 0+50");
  CHECK(steps[1]->find("args")->find("interpolated_s")->number() == 0.004);
}

TEST_CASE("steps of a replica do not overlap") {
  double free_at = 0;
  const Json trace = trace_of();
  for (const Json* step : events(trace, "X")) {
    CHECK(step->find("ts")->number() >= free_at);
    free_at = step->find("ts")->number() + step->find("dur")->number();
  }
}

TEST_CASE("every span of a request is opened and closed") {
  const Json trace = trace_of();
  std::map<std::string, int> open;
  for (const Json* event : events(trace, "b"))
    ++open[dump_json(*event->find("id")) + event->find("name")->text()];
  for (const Json* event : events(trace, "e"))
    --open[dump_json(*event->find("id")) + event->find("name")->text()];
  CHECK(open.size() ==
        9);  // request, queue, prefill, decode of two; request of the one that failed
  for (const auto& [key, count] : open) CHECK(count == 0);
}

TEST_CASE("counters are written when they change") {
  const Json trace = trace_of();
  std::map<std::string, int> count;
  for (const Json* event : events(trace, "C")) ++count[event->find("name")->text()];
  // and once more at the end, where they fall to rest
  CHECK(count == std::map<std::string, int>{
                     {"KV blocks", 4}, {"batch tokens", 4}, {"running", 3}, {"waiting", 3}});
}

TEST_CASE("counters rest while a replica idles and after its last step") {
  std::ostringstream out;
  Timeline timeline(out, "trace");
  test::play_step(timeline, {0, 10 * test::ms, 0, 100, 0, 2, 7, 0, Evidence::measured, 1}, 0);
  test::play_step(timeline,
                  {50 * test::ms, 60 * test::ms, 1, 30, 0, 0, 3, 0, Evidence::measured, 1}, 1);
  timeline.finish();
  const Json trace = parse_json(out.str(), "trace");
  std::map<std::string, std::vector<std::pair<double, double>>> values;  // us, value
  for (const Json* event : events(trace, "C")) {
    const std::string& name = event->find("name")->text();
    values[name].emplace_back(event->find("ts")->number(),
                              event->find("args")->find(name)->number());
  }
  using Line = std::vector<std::pair<double, double>>;
  CHECK(values["batch tokens"] == Line{{0, 100}, {10000, 0}, {50000, 30}, {60000, 0}});
  CHECK(values["running"] == Line{{0, 1}, {10000, 0}, {50000, 1}, {60000, 0}});
  CHECK(values["waiting"] == Line{{0, 2}, {10000, 0}});
  CHECK(values["KV blocks"] == Line{{0, 7}, {10000, 0}, {50000, 3}, {60000, 0}});
}

TEST_CASE(
    "a preempted request has a span from the loss of its seat to the step that computes again") {
  std::ostringstream out;
  Timeline timeline(out, "trace");
  timeline.on_preempt(test::request(1, 0), 5 * test::ms);
  test::play_step(timeline, {0, 10 * test::ms, 1, 100, 0, 0, 7, 0, Evidence::measured, 1}, 0);
  test::play_step(timeline, {10 * test::ms, 20 * test::ms, 0, 9, 0, 0, 7, 0, Evidence::measured, 1},
                  1);
  test::play_step(timeline, {20 * test::ms, 30 * test::ms, 1, 9, 0, 0, 7, 0, Evidence::measured, 1},
                  2);
  timeline.finish();
  const Json trace = parse_json(out.str(), "trace");
  const auto begins = events(trace, "b"), ends = events(trace, "e");
  REQUIRE(begins.size() == 1);
  CHECK(begins[0]->find("name")->text() == "preempted");
  CHECK(begins[0]->find("ts")->number() == 5000);
  CHECK(ends[0]->find("ts")->number() == 20000);
}

TEST_CASE("preemptions are marked on the track of their replica") {
  const Json trace = trace_of();
  const auto marks = events(trace, "i");
  REQUIRE(marks.size() == 1);
  CHECK(marks[0]->find("pid")->integer() == 1);
  CHECK(marks[0]->find("args")->find("request")->integer() == 1);
}

TEST_CASE("what was left out of a trace is told in it") {
  TimelineOptions options;
  options.requests = 1;
  options.steps = 2;
  const Json trace = trace_of(options);
  CHECK(events(trace, "X").size() == 2);
  CHECK(trace.find("otherData")->find("steps")->integer() == 4);
  CHECK(trace.find("otherData")->find("steps_shown")->integer() == 2);
  CHECK(trace.find("otherData")->find("requests_shown")->integer() == 1);
}

TEST_CASE("picoseconds are written exactly") {
  const auto text = [](Picoseconds time, int digits) {
    std::ostringstream out;
    TextOut text_out(out, "t");
    text_out.decimal(time, digits);
    text_out.flush();
    return out.str();
  };
  CHECK(text(0, 6) == "0");
  CHECK(text(1, 12) == "0.000000000001");
  CHECK(text(1250000, 6) == "1.25");
  CHECK(text(1000000, 6) == "1");
  CHECK(text(-1500000, 6) == "-1.5");
  CHECK(text(9'223'372'036'854'775'807, 12) == "9223372.036854775807");
}

TEST_CASE("a full disk is noticed") {
  std::ostringstream out;
  Timeline timeline(out, "t.json");
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(timeline.finish(), Error);
}

TEST_CASE("a request of a play says which play and which row, and no other request does") {
  std::ostringstream out;
  Timeline timeline(out, "trace");
  timeline.on_row({0, 4, 2, false});
  timeline.on_row({1, 5, 0, true});
  test::play(timeline);
  timeline.finish();
  const Json trace = parse_json(out.str(), "trace");
  int told = 0;
  for (const Json* event : events(trace, "b")) {
    if (event->find("name")->text() != "request") continue;
    const Json& args = *event->find("args");
    const std::int64_t id = args.find("request")->integer();
    CHECK((args.find("play") != nullptr) == (id < 2));
    CHECK((args.find("warm") != nullptr) == (id == 1));
    if (id >= 2) continue;
    CHECK(args.find("play")->integer() == (id == 0 ? 5 : 6));
    CHECK(args.find("row")->integer() == (id == 0 ? 3 : 1));
    ++told;
  }
  CHECK(told == 2);
}
