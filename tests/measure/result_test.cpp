#include "measure/write/result.h"

#include <cmath>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

namespace {

Result synthetic_result() {
  Result result;
  result.scenario = "scenarios/x.lua";
  result.seed = 3;
  Json parameters = Json::object();
  parameters["chunk"] = 512;
  result.variants.push_back({"chunk=512", parameters, test::synthetic_summary()});
  return result;
}

}  // namespace

TEST_CASE("the result document has the promised names, in the promised places") {
  const Json json = parse_json(dump_json(to_json(synthetic_result()), 2), "result");
  CHECK(json.find("schema")->integer() == 1);
  CHECK(json.find("scenario")->text() == "scenarios/x.lua");
  CHECK(json.find("seed")->integer() == 3);
  const Json& variant = json.find("variants")->items().at(0);
  CHECK(variant.find("name")->text() == "chunk=512");
  CHECK(variant.find("parameters")->find("chunk")->integer() == 512);
  const Json& s = *variant.find("summary");
  for (const char* key :
       {"requests", "completed", "preemptions", "steps", "duration_s", "requests_per_s",
        "output_tokens_per_s", "goodput_per_s", "kv_used_frac_max"}) {
    INFO(key);
    REQUIRE(s.find(key) != nullptr);
    CHECK(s.find(key)->is_number());
  }
  for (const char* metric : {"ttft_s", "tpot_s", "itl_s", "e2e_s", "queue_s"}) {
    for (const char* figure : {"mean", "std", "min", "p50", "p90", "p95", "p99", "max"}) {
      INFO(metric << "." << figure);
      REQUIRE(s.find(metric)->find(figure) != nullptr);
      CHECK(s.find(metric)->find(figure)->is_number());
    }
  }
  CHECK(s.find("failed")->find("exceeds_kv_cache")->integer() == 1);
  CHECK(s.find("evidence")->find("measured")->number() == Approx(10.0 / 18));
  double shares = 0;
  for (const auto& member : s.find("evidence")->members()) shares += member.value.number();
  CHECK(shares == Approx(1));
}

TEST_CASE("a summary survives being written and read, to the last bit") {
  const std::string text = dump_json(to_json(test::synthetic_summary()));
  CHECK(dump_json(to_json(summary_from_json(parse_json(text, "s"), "s"))) == text);
  const std::string nothing = dump_json(to_json(SummaryObserver().summary()));
  CHECK(dump_json(to_json(summary_from_json(parse_json(nothing, "s"), "s"))) == nothing);
  CHECK_THROWS_AS(summary_from_json(parse_json("{\"requests\": 1}", "s"), "s"), Error);
}

TEST_CASE("a document does not differ from itself") {
  const Json json = parse_json(dump_json(to_json(synthetic_result())), "a");
  const Comparison same = compare(json, json, 0);
  CHECK(same.differences.empty());
  CHECK(same.largest == 0);
  CHECK(same.compared > 100);
}

TEST_CASE("differences are told with their path, and only above the tolerance") {
  const Json a =
      parse_json(R"({"v": [{"x": 100, "y": "p", "z": null, "gone": 1}], "same": 0})", "a");
  const Json b =
      parse_json(R"({"same": 0.0, "v": [{"x": 101.0, "y": "q", "z": null, "new": true}]})", "b");
  const Comparison all = compare(a, b, 0);
  REQUIRE(all.differences.size() == 4);
  CHECK(all.differences[0].path == "v[0].x");
  CHECK(all.differences[0].relative == Approx(1.0 / 101));
  CHECK(all.differences[1].path == "v[0].y");
  CHECK(std::isinf(all.differences[1].relative));
  CHECK(all.differences[2].path == "v[0].gone");
  CHECK(all.differences[2].b == "absent");
  CHECK(all.differences[3].path == "v[0].new");
  CHECK(all.compared == 6);
  CHECK(compare(a, b, 0.01).differences.size() == 3);
  CHECK(compare(parse_json("[1, 2]", "a"), parse_json("[1]", "b"), 1).differences[0].path == "[1]");
}
