// --requests F.json writes the file of `vllm bench serve --save-result --save-detailed`; the tests
// read it back.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "base/csv.h"
#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// The keys of a file that vLLM wrote, in their order (benchmarks/serve.py, 2026).
constexpr const char* vllm_keys[] = {"date",
                                     "endpoint_type",
                                     "backend",
                                     "label",
                                     "model_id",
                                     "tokenizer_id",
                                     "num_prompts",
                                     "request_rate",
                                     "burstiness",
                                     "max_concurrency",
                                     "duration",
                                     "completed",
                                     "failed",
                                     "total_input_tokens",
                                     "total_output_tokens",
                                     "request_throughput",
                                     "request_goodput",
                                     "output_throughput",
                                     "total_token_throughput",
                                     "input_lens",
                                     "output_lens",
                                     "ttfts",
                                     "itls",
                                     "start_times",
                                     "generated_texts",
                                     "errors",
                                     "max_output_tokens_per_s",
                                     "max_concurrent_requests",
                                     "rtfx",
                                     "mean_ttft_ms",
                                     "median_ttft_ms",
                                     "std_ttft_ms",
                                     "p99_ttft_ms",
                                     "mean_tpot_ms",
                                     "median_tpot_ms",
                                     "std_tpot_ms",
                                     "p99_tpot_ms",
                                     "mean_itl_ms",
                                     "median_itl_ms",
                                     "std_itl_ms",
                                     "p99_itl_ms"};

std::string temporary(const std::string& name) {
  return (rooflua::test::scratch() / ("vllm_" + name)).string();
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum / static_cast<double>(values.size());
}

/// numpy's linear percentile.
double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double rank = p / 100 * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (rank - static_cast<double>(low)) * (values[high] - values[low]);
}

struct Case {
  const char* what;
  std::string scenario;
};

std::string scenario(const std::string& more) {
  return "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200', seed = 7, title = 'T',\n"
         "  slo = { ttft_s = 0.5, tpot_s = 0.02 },\n"
         "  workload = require 'workloads.poisson' { rate_per_s = 30, num_requests = 120, "
         "prompt_tokens = { distribution = 'uniform', min = 100, max = 900 },\n"
         "    output_tokens = { distribution = 'uniform', min = 1, max = 90 } },\n" +
         more + "}\n";
}

/// Column `name` of our CSV by id; empty cells are NaN.
std::map<std::int64_t, double> column(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::getline(lines, line);
  std::vector<std::string> header;
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) header.push_back(cell);
  std::map<std::int64_t, double> out;
  while (std::getline(lines, line)) {
    std::vector<std::string> row;
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) row.push_back(cell);
    row.resize(header.size());
    const auto at =
        static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
    out[std::stoll(row[0])] = row[at].empty() ? std::nan("") : std::stod(row[at]);
  }
  return out;
}

}  // namespace

TEST_CASE("--requests F.json is what vLLM's serving benchmark would have written") {
  const Case cases[] = {
      {"one replica", scenario("")},
      {"preemptions",
       scenario("deployment = { kv_blocks = 130 }, scheduler = require 'schedulers.vllm_v1' { "
                "max_num_seqs = 8 },\n")},
      {"preemptions, one step in flight",
       scenario("deployment = { kv_blocks = 130 }, async_depth = 1, scheduler = require "
                "'schedulers.vllm_v1' { max_num_seqs = 8 },\n")},
      {"prefill and decode replicas",
       scenario("replicas = { { role = 'prefill' }, { role = 'decode' } },\n")},
      {"a frontend", scenario("frontend = { base_s = 0.01, per_output_token_s = 0.001 },\n")},
      {"sglang", scenario("deployment = { kv_blocks = 130 }, scheduler = require "
                          "'schedulers.sglang' { default_max_new_tokens = 10 },\n")},
  };
  for (const Case& each : cases) {
    INFO(each.what);
    const std::string file = temporary("s.lua"), json = temporary("r.json"),
                      csv = temporary("r.csv");
    std::ofstream(file) << each.scenario;
    const Said said =
        rooflua::test::rooflua("run " + file + " --quiet --json - --requests " + json);
    REQUIRE(said.status == 0);
    REQUIRE(rooflua::test::rooflua("run " + file + " --quiet --requests " + csv).status == 0);
    const Json bench = parse_json(read(json), json);
    const Json summary =
        *parse_json(said.text, "stdout").find("variants")->items().at(0).find("summary");
    for (const char* key : vllm_keys) {
      INFO(key);
      CHECK(bench.find(key) != nullptr);
    }
    CHECK(bench.find("label")->text() == "T");
    CHECK(bench.find("request_rate")->number() == 30);
    CHECK(bench.find("burstiness")->number() == 1);
    const std::string rows = read(csv);
    const auto ttft = column(rows, "ttft_s"), e2e = column(rows, "e2e_s"),
               lengths = column(rows, "output_tokens"), arrivals = column(rows, "arrival_s");
    std::vector<double> ttfts, tpots, itls;
    std::int64_t good = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      const auto id = static_cast<std::int64_t>(i);
      const auto at = [&](const char* key) { return bench.find(key)->items().at(i); };
      const Json gaps = at("itls");
      CHECK(at("start_times").number() == arrivals.at(id));
      CHECK(at("ttfts").number() == ttft.at(id));
      REQUIRE(static_cast<double>(at("output_lens").integer()) == lengths.at(id));
      REQUIRE(static_cast<std::int64_t>(gaps.items().size()) + 1 == at("output_lens").integer());
      double sum = at("ttfts").number();
      for (const Json& gap : gaps.items()) {
        CHECK(gap.number() > 0);
        sum += gap.number();
        itls.push_back(gap.number() * 1e3);
      }
      CHECK(sum == Approx(e2e.at(id)).epsilon(1e-12));
      ttfts.push_back(ttft.at(id) * 1e3);
      const double n = lengths.at(id);
      const double tpot = n > 1 ? (e2e.at(id) - ttft.at(id)) / (n - 1) : 0;
      if (n > 1) tpots.push_back(tpot * 1e3);
      good += ttft.at(id) <= 0.5 && tpot <= 0.02;
    }
    const double duration = bench.find("duration")->number();
    CHECK(bench.find("mean_ttft_ms")->number() == Approx(mean(ttfts)));
    CHECK(bench.find("median_ttft_ms")->number() == Approx(percentile(ttfts, 50)));
    CHECK(bench.find("p99_ttft_ms")->number() == Approx(percentile(ttfts, 99)));
    CHECK(bench.find("mean_tpot_ms")->number() == Approx(mean(tpots)));
    CHECK(bench.find("p99_tpot_ms")->number() == Approx(percentile(tpots, 99)));
    CHECK(bench.find("mean_itl_ms")->number() == Approx(mean(itls)));
    CHECK(bench.find("median_itl_ms")->number() == Approx(percentile(itls, 50)).epsilon(2e-3));
    CHECK(bench.find("request_goodput")->number() == Approx(static_cast<double>(good) / duration));
    CHECK(bench.find("request_throughput")->number() == Approx(120 / duration));
    if (contains(each.what, "preemptions") || contains(each.what, "sglang"))
      CHECK(summary.find("preemptions")->integer() > 0);
    for (const std::string& path : {file, json, csv}) std::filesystem::remove(path);
  }
}
