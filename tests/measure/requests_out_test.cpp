#include <sstream>

#include "measure/write/requests.h"
#include "serve/traces/read.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

TEST_CASE("one row per request, times exact, cells empty where it did not get that far") {
  std::ostringstream out;
  RequestsCsv csv(out, "r.csv", {{"batch", "chat, fast"}});
  test::play(csv);
  csv.finish();
  CHECK(out.str() ==
        "id,class,session,replica,prefill_replica,outcome,arrival_s,prompt_tokens,output_tokens,"
        "cached_tokens,preemptions,priority,queue_s,ttft_s,tpot_s,e2e_s\n"
        "2,batch,,,,exceeds_kv_cache,0.002,100000,0,0,0,0,,,,\n"
        "0,batch,7,1,,completed,0,100,4,0,0,0,0,0.01,0.0026666666666666666,0.018\n"
        "1,\"chat, fast\",7,1,,completed,0.001,50,3,0,0,0,0.009,0.013,0.002,0.017\n");
}

TEST_CASE("where it is speculated, a row ends with its rounds and drafts, and replays as well") {
  std::ostringstream out;
  RequestsCsv csv(out, "r.csv", {{}, true});
  RequestDone done = test::done(1, 0, 5 * test::ms, 10, 20 * test::ms, 30 * test::ms, 50, 8);
  done.rounds = 4;
  done.drafted_tokens = 12;
  done.accepted_tokens = 3;
  csv.on_done(done);
  csv.finish();
  const std::string text = out.str();
  CHECK(text.substr(0, text.find('\n')).ends_with(",e2e_s,rounds,drafted_tokens,accepted_tokens"));
  CHECK(text.ends_with(",4,12,3\n"));
  const Trace trace = parse_trace(text, "r.csv");
  CHECK(trace.format == TraceFormat::requests);
  CHECK(trace.rows.at(0).output_tokens == 8);
}

TEST_CASE("the rows of a run are a trace that replays") {
  std::ostringstream out;
  RequestsCsv csv(out, "r.csv");
  csv.on_done(test::done(1, 0, 5 * test::ms, 10, 20 * test::ms, 30 * test::ms, 50, 3));
  csv.on_done(test::done(0, 0, 1 * test::ms, 10, 20 * test::ms, 40 * test::ms, 60, 4));
  csv.finish();
  const Trace trace = parse_trace(out.str(), "r.csv");
  CHECK(trace.format == TraceFormat::requests);
  REQUIRE(trace.rows.size() == 2);  // rows come as requests end, and are sorted by arrival
  CHECK(trace.rows[0].arrival_s == 0.001);
  CHECK(trace.rows[0].prompt_tokens == 60);
  CHECK(trace.rows[1].output_tokens == 3);
}

TEST_CASE("vLLM's benchmark file has its names and units") {
  VllmBench bench;
  SummaryObserver summary;
  test::play(bench);
  test::play(summary);
  VllmBenchOptions traffic;
  traffic.model = "llama-2-7b";
  traffic.request_rate = 4;
  const Json json = bench.result(summary.summary(), traffic);
  CHECK(json.find("completed")->integer() == 2);
  CHECK(json.find("failed")->integer() == 1);
  CHECK(json.find("total_output_tokens")->integer() == 7);
  CHECK(json.find("output_throughput")->number() == Approx(7 / 0.018));
  CHECK(json.find("mean_ttft_ms")->number() == Approx(11.5));
  CHECK(json.find("median_tpot_ms")->number() == Approx(7.0 / 3));
  CHECK(json.find("p99_e2el_ms")->number() == Approx(17.99));
  CHECK(json.find("input_lens")->items().at(2).integer() == 100000);
  CHECK(json.find("output_lens")->items().at(2).integer() == 0);
  CHECK(json.find("ttfts")->items().at(1).number() == 0.013);
  CHECK(json.find("errors")->items().at(2).text() == "exceeds_kv_cache");
  CHECK(json.find("model_id")->text() == "llama-2-7b");
  CHECK(json.find("request_rate")->number() == 4);
  CHECK(json.find("max_concurrency")->is_null());
}
