#include "measure/timeline.h"

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
  CHECK(count == std::map<std::string, int>{
                     {"KV blocks", 3}, {"batch tokens", 3}, {"running", 2}, {"waiting", 2}});
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
