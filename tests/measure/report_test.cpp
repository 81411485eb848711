#include "measure/write/report.h"

#include <cmath>
#include <limits>

#include "measure/write/progress.h"
#include "measure/write/step_report.h"
#include "measure/write/table.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

namespace {

/// The text on a line of its own, as the literals below have it.
std::string below(const std::string& text) {
  return std::string("\n").append(text);
}

Summary synthetic() {
  SummaryObserver observer;
  test::play(observer);
  return observer.summary();
}

}  // namespace

TEST_CASE("the report of the synthetic run, as people see it") {
  SummaryOptions options;
  options.slo.ttft_s = 0.012;
  options.classes = {"batch", "chat"};
  SummaryObserver observer(options);
  test::play(observer);
  CHECK(below(report(observer.summary())) == R"(
requests  2 of 3 completed (1 exceeds_kv_cache) in 18.00 ms
rates     111.1 requests/s, 388.9 output tokens/s (peak second 7)
goodput   55.56 requests/s (TTFT <= 12.00 ms)
tokens    150 in, 7 out

            mean    p50    p90    p95    p99    max
TTFT   ms  11.50  11.50  12.70  12.85  12.97  13.00
TPOT   ms  2.333  2.333  2.600  2.633  2.660  2.667
ITL    ms  2.400  2.000  3.200  3.599  3.919  4.000
E2E    ms  17.50  17.50  17.90  17.95  17.99  18.00
queue  ms  4.500  4.500  8.100  8.550  8.910  9.000
TTFT is   prefill 100.0 %
TPOT is   decodes 71.4 %, prefill 28.6 %; of the slowest 1 %: prefill 50.0 %, decodes 50.0 %
66.7 % of the requests completed: quantiles are of these alone

class  completed  requests/s  tokens/s  TTFT p50  TTFT p99  TPOT p50  E2E mean  goodput/s
batch          1       55.56     222.2  10.00 ms  10.00 ms  2.667 ms  18.00 ms      55.56
chat           1       55.56     166.7  13.00 ms  13.00 ms  2.000 ms  17.00 ms          0

sessions  1, 2.000 turns, 18.00 ms on average

engine    steps: 4, preemptions: 1, KV cache at most 60.0 % full, requests at once at most 3, idle 0.0 %
evidence  measured 55.6 %, interpolated 22.2 %, modelled 11.1 %, assumed 11.1 %
)");
}

TEST_CASE("variants stand side by side in one unit per column") {
  Variant slow{"chunk=512", Json::object(), synthetic()},
      fast{"chunk=2048", Json::object(), synthetic()};
  slow.summary.ttft_s.p99 = 12;
  for (Variant* each : {&slow, &fast}) each->summary.classes.clear();
  CHECK(below(comparison({slow, fast})) == R"(
variant     req/s  tok/s  TTFT p50 ms  TTFT p99 s  TPOT p50 ms  TPOT p99 ms  E2E mean ms  preempted  failed  unsupported
------------------------------------------------------------------------------------------------------------------------
chunk=512   111.1  388.9        11.50       12.00        2.333        2.660        17.50          1       1       22.2 %
chunk=2048  111.1  388.9        11.50     0.01297        2.333        2.660        17.50          1       1       22.2 %

66.7 % of the requests of chunk=512 completed: quantiles are of these alone
unsupported: share of time that is extrapolated, stand_in, modelled or assumed
)");
}

TEST_CASE("variants whose time rests on unlike evidence are told, with both names") {
  Variant tables{"engine=vllm", Json::object(), synthetic()},
      borrowed{"engine=sglang", Json::object(), synthetic()};
  CHECK(comparison({tables, borrowed}).find("unlike evidence") == std::string::npos);
  borrowed.summary.evidence = {0.1, 0, 0, 0.8, 0.1, 0};
  const std::string text = comparison({tables, borrowed});
  CHECK(text.find("unlike evidence: 22.2 % of the time of engine=vllm is unsupported, 90.0 % of "
                  "engine=sglang; a difference between them may come from what they rest on\n") !=
        std::string::npos);
}

TEST_CASE("variants whose requests have classes have a row for each class") {
  const Variant one{"chunk=512", Json::object(), synthetic()};
  const std::string text = comparison({one, one});
  CHECK(text.find("\nvariant    class    completed  requests/s  tokens/s") != std::string::npos);
  CHECK(text.find("\nchunk=512  class 1          1       55.56     166.7") != std::string::npos);
  const std::string many = comparison(std::vector<Variant>(40, one));
  CHECK(many.find("by class: 80 rows, which --json and --html have") != std::string::npos);
  CHECK(many.find("class 1") == std::string::npos);
}

TEST_CASE("an explained step shows every op and its corrections") {
  LedgerRow qkv, attention, correction;
  qkv.name = "qkv_proj";
  qkv.kind = "gemm";
  qkv.shape = "m=64 k=4096 n=6144";
  qkv.flop = 3.2e9;
  qkv.bytes = 5.1e7;
  qkv.mfu = 0.4;
  qkv.evidence = Evidence::measured;
  qkv.note = "row 12";
  qkv.time_s = 20e-6;
  attention.name = "attention";
  attention.kind = "attention_decode";
  attention.shape = "batch=64 context=1024";
  attention.bytes = 1.3e8;
  attention.mfu = std::nan("");
  attention.evidence = Evidence::modelled;
  attention.time_s = 10e-6;
  qkv.bound = attention.bound = "memory";
  correction.name = "bandwidth";
  correction.kind = "correction";
  correction.note = "x 1.1";
  correction.time_s = 1e-6;
  qkv.count = attention.count = correction.count = 32;
  const std::vector<LedgerRow> rows{qkv, attention, correction};
  const EvidenceShares shares{2.0 / 3, 0, 0, 0, 1.0 / 3, 0};
  CHECK(below(step_report(rows, shares, 1000e-6)) == R"(
op           shape                  runs         work   traffic     MFU  bound   time us    share  evidence  rests on
---------------------------------------------------------------------------------------------------------------------
qkv_proj     m=64 k=4096 n=6144       32  102.4 Gflop  1.632 GB  40.0 %  memory    640.0   64.0 %  measured  row 12
attention    batch=64 context=1024    32               4.160 GB          memory    320.0   32.0 %  modelled
  bandwidth                                                                        32.00    3.2 %  assumed   x 1.1
---------------------------------------------------------------------------------------------------------------------
step                                      102.4 Gflop  5.792 GB                     1000  100.0 %

evidence  measured 66.7 %, modelled 33.3 %
)");
  const Json json = step_json(rows, shares, 1000e-6);
  CHECK(json.find("evidence")->find("measured")->number() == Approx(2.0 / 3));
  CHECK(json.find("rows")->items().size() == 3);
  CHECK(json.find("rows")->items()[1].find("mfu")->is_null());
}

TEST_CASE("numbers are written with four digits and units that fit") {
  CHECK(figure(0) == "0");
  CHECK(figure(0.0123456) == "0.01235");
  CHECK(figure(12.5) == "12.50");
  CHECK(figure(123456) == "123456");
  CHECK(figure(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(duration(0.0125) == "12.50 ms");
  CHECK(duration(1.5) == "1.500 s");
  CHECK(duration(3.2e-6) == "3.200 us");
  CHECK(percent(0.0001) == "<0.1 %");
  CHECK(percent(0.99999) == ">99.9 %");
  CHECK(percent(1) == "100.0 %");
  CHECK(scaled(3.35e12, "B/s") == "3.350 TB/s");
  CHECK(scaled(12, "B") == "12.00 B");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(-1000) == "-1,000");
}

TEST_CASE("a table aligns text that is not ASCII by what is seen") {
  Table table;
  table.add({"a", "µs"});
  table.add({"longer", "1"});
  CHECK(table.text(1) == " a       µs\n longer   1\n");
}

TEST_CASE("a progress bar fits its line") {
  CHECK(ProgressBar::bar("run", 512, 1024, "", 60) ==
        "run  [================                ]   50 %  512 of 1,024");
  CHECK(ProgressBar::bar("run", 1500, 0, "12 s", 60) == "run  1,500  12 s");
  for (int columns = 0; columns < 80; ++columns) {
    CHECK(ProgressBar::bar("a title", 1, 3, "note", columns).size() <=
          static_cast<std::size_t>(columns));
  }
}

TEST_CASE("a comparison ends with a line that counts") {
  const std::string text = report(compare(parse_json("{\"a\": 1, \"b\": 2}", "a"),
                                          parse_json("{\"a\": 2, \"b\": 2}", "b"), 0.1),
                                  0.1);
  CHECK(text == "a  1  2  0.5000\ncompared=2 mismatched=1 max_rel=0.5 tolerance=0.1\n");
}

TEST_CASE("a comparison shows the largest differences, and cuts long values") {
  Json a = Json::array(), b = Json::array();
  for (int i = 1; i <= 300; ++i) {
    a.push_back(1);
    b.push_back(1 + i);
  }
  const std::string many = report(compare(a, b, 0), 0);
  CHECK(many.starts_with("[299]  1  301  "));
  CHECK(many.find("[100]  1  102  ") != std::string::npos);
  CHECK(many.find("[99]") == std::string::npos);
  CHECK(many.find("\nand 100 more, none of them larger\ncompared=300 mismatched=300 ") !=
        std::string::npos);
  const Json one = parse_json("{\"t\": \"short\"}", "a");
  Json other = Json::object();
  other["t"] = std::string(58, 'x') + "\xC3\xA4 and more of it";
  CHECK(report(compare(one, other, 0), 0).starts_with("t  \"short\"  \"" + std::string(58, 'x') +
                                                      "...  differs\n"));
}
