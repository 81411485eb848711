// rooflua check finds mistakes with their line, without running the scenario. rooflua new.

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::filesystem::path folder() {
  const auto path = rooflua::test::scratch() / "check";
  std::filesystem::create_directories(path);
  return path;
}

std::string written(const std::string& text, const std::string& name = "scenario.lua") {
  const auto path = folder() / name;
  std::ofstream(path) << text;
  return path.string();
}

/// A correct scenario with some lines replaced or added. Each line from the third on has one key.
std::string scenario(const std::string& more, const std::string& workload = "",
                     const std::string& hardware = "hardware = 'h200',") {
  return "return {\n  rooflua = 1,\n  model = 'llama-3.1-8b',\n  " + hardware +
         "\n  workload = require 'workloads.poisson' {\n    num_requests = 200,\n    " + workload +
         "\n  },\n  " + more + "\n}\n";
}

struct Checked {
  int status = 0;
  Json document;
  const Json& first() const { return document.find("scenarios")->items()[0]; }
  const Json::Array& findings() const { return first().find("findings")->items(); }
};

Checked check(const std::string& text) {
  const Said said = rooflua::test::rooflua("check --json - " + written(text));
  INFO(said.text);
  return {said.status, parse_json(said.text, "check")};
}

/// Whether there is exactly one finding of this level with this text, at this line (0: at any
/// line).
void expect(const std::string& text, const std::string& level, const std::string& part, int line) {
  const Checked checked = check(text);
  INFO(dump_json(checked.first(), 2));
  int found = 0;
  for (const Json& finding : checked.findings()) {
    if (!contains(finding.find("message")->text(), part)) continue;
    ++found;
    CHECK(finding.find("level")->text() == level);
    const Json* at = finding.find("line");
    if (line > 0) CHECK((at != nullptr && at->integer() == line));
  }
  CHECK(found == 1);
  CHECK(checked.status == (level == "error" ? 1 : 0));
}

}  // namespace

TEST_CASE("a scenario that is right has no finding") {
  const Checked checked = check(scenario(""));
  CHECK(checked.status == 0);
  CHECK(checked.findings().empty());
}

TEST_CASE("units that are hardly meant are found, at their line") {
  expect(scenario("deployment = { memory_utilization = 90 },"), "error", "90 % is 0.9", 9);
  expect(scenario("slo = { ttft_s = 2000 },"), "warning", "milliseconds would be 2", 9);
  expect(scenario("slo = { tpot_s = 50 },"), "warning", "milliseconds would be 0.05", 9);
  expect(scenario("frontend = { base_s = 5 },"), "warning", "milliseconds", 9);
  expect(scenario("network = { bytes_per_s = 400 },"), "error", "as GB/s that would be 4e+11", 9);
  expect(scenario("steps = require 'steps.roofline_v2' { overhead_per_layer_s = 5 },"), "warning",
         "milliseconds", 9);
  expect(scenario("", "rate_per_s = 1e6,"), "warning", "more than any service gets", 7);
  expect(scenario("", "", "hardware = { from = 'h200-sxm', memory_bytes_per_s = 3350 },"), "error",
         "3350 GB/s are 3.35e+12", 4);
  expect(scenario("", "", "hardware = { from = 'h200-sxm', memory_bytes = 141 },"), "error",
         "141 GB are 1.41e+11", 4);
}

TEST_CASE("lengths and loads that cannot be served are found") {
  expect(scenario("", "prompt_tokens = 200000, rate_per_s = 0.001,"), "error",
         "200 of 200 requests exceed max_model_len", 5);
  expect(scenario("", "prompt_tokens = { distribution = 'uniform', min = 100, max = 140000 }, "
                      "rate_per_s = 0.001,"),
         "warning", "more than llama-3.1-8b's max_model_len, 131072", 7);
  expect(scenario("deployment = { kv_blocks = 10 },", "prompt_tokens = 200,"), "error",
         "KV cache of 160 tokens", 7);
  expect(scenario("", "rate_per_s = 500,"), "warning", "the queue grows", 7);
  expect(scenario("scheduler = require 'schedulers.vllm_v1' { max_num_batched_tokens = 64, "
                  "max_num_seqs = 256 },"),
         "warning", "cannot hold a token for each", 9);
}

TEST_CASE("what does not exist is found with what may have been meant") {
  expect(scenario("workloat = 1,"), "error", "did you mean 'workload'", 9);
  expect(scenario("scheduler = require 'schedulers.vlm_v1' {},"), "error", "did you mean 'vllm_v1'",
         9);
  expect(scenario("scheduler = 'vlm_v1',"), "error", "did you mean 'vllm_v1'", 9);
  expect(scenario("", "", "hardware = 'h201',"), "error", "h200", 4);
  expect(scenario("mfu = { path = '/nowhere' },"), "error", "no such folder", 9);
  expect(scenario("mfu = { lookup = 'latency_liner' },"), "error", "did you mean 'latency_linear'",
         9);
  expect(scenario("steps = require 'steps.kernels' { host_step = 1 },"), "error", "host_step_s", 9);
  expect(scenario("deployment = { tp = 3 },"), "error", "tp", 9);
  expect(scenario("vary = { ['scheduler.max_num_seq'] = { 4, 8 } },"), "error", "max_num_seqs", 9);
}

TEST_CASE("what does not fit says by how much") {
  const std::string big =
      "return { model = 'llama-3.1-70b', hardware = 'h200',\n"
      "  workload = require 'workloads.poisson' {} }\n";
  expect(big, "error", "GiB", 0);
}

TEST_CASE("every unknown key is found, not only the first") {
  const Checked checked = check(scenario("modell = 1, seeds = 2,"));
  CHECK(checked.findings().size() == 2);
  CHECK(checked.status == 1);
}

TEST_CASE("unknown keys inside a table are told together") {
  expect(scenario("frontend = { base = 1, pro = 2 },"), "error", "also unknown: 'pro'", 0);
  expect(scenario("steps = require 'steps.kernels' { a = 1, bb = 2, c = 3 },"), "error",
         "also unknown: 'bb', 'c'", 0);
}

TEST_CASE("a key of another kind of scenario is refused") {
  expect(scenario("price = { { decodes = 1 } },"), "error",
         "only kind \"price\" reads it: say kind = \"price\", or leave it out", 0);
}

TEST_CASE("a finding of some variants says of which, and the line is shown") {
  const std::string file =
      written(scenario("vary = { ['deployment.memory_utilization'] = { 0.9, 95 } },"));
  const Said said = rooflua::test::rooflua("check " + file);
  INFO(said.text);
  CHECK(said.status == 1);
  CHECK(contains(said.text, "(memory_utilization=95)"));
  CHECK(contains(said.text, ": 1 error\n"));
  CHECK(
      contains(said.text, "    9 |   vary = { ['deployment.memory_utilization'] = { 0.9, 95 } },"));
}

TEST_CASE("what the command line sets is checked too") {
  const std::string file = written(scenario(""));
  CHECK(rooflua::test::rooflua("check " + file + " --set workload.rate_per_s=2").status == 0);
  const Said said =
      rooflua::test::rooflua("check " + file + " --set deployment.memory_utilization=50");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "50 % is 0.5"));
}

TEST_CASE("files that are no scenario are findings, not crashes") {
  CHECK(check("return 5").status == 1);
  CHECK(check("return {").status == 1);
  CHECK(check("error { code = 1 }").status == 1);
  CHECK(check("while true do end").status == 1);
  CHECK(rooflua::test::rooflua("check /nowhere.lua").status == 1);
}

TEST_CASE("evidence is forecast without running, close to what a run gives") {
  const auto shares = [](const Json& evidence) {
    const Json* modelled = evidence.find("modelled");
    return modelled == nullptr ? 0.0 : modelled->number();
  };
  const Said said = rooflua::test::rooflua("check --json - scenarios/02_chunk_size.lua");
  const Said ran = rooflua::test::rooflua("run --quiet --json - scenarios/02_chunk_size.lua");
  const Json checked = parse_json(said.text, "check"), document = parse_json(ran.text, "run");
  const Json::Array& forecasts = checked.find("scenarios")->items()[0].find("forecast")->items();
  REQUIRE(forecasts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& variant = document.find("variants")->items()[i];
    CHECK(forecasts[i].find("name")->text() == variant.find("name")->text());
    CHECK(shares(*forecasts[i].find("evidence")) ==
          Approx(shares(*variant.find("summary")->find("evidence"))).margin(0.02));
  }
  if (!have_shared("tables/infersim/bench_data")) return;
  const std::string tables = "mfu = { path = '" + (source_dir() / "..").string() +
                             "/shared/data/tables/infersim/bench_data', layout = 'infersim' },";
  const Checked with = check(scenario(tables, "", "hardware = 'h20',"));
  INFO(dump_json(with.first(), 2));
  const Json& evidence = *with.first().find("forecast")->items()[0].find("evidence");
  CHECK(shares(evidence) < 0.9);
}

TEST_CASE("errors of run quote the line that is at fault") {
  const std::string file =
      written(scenario("scheduler = require 'schedulers.vllm_v1' { max_num_seq = 4 },"));
  const Said said = rooflua::test::rooflua("run --quiet " + file + " 2>&1");
  INFO(said.text);
  CHECK(contains(said.text, file + ":9: "));
  CHECK(contains(said.text, "did you mean 'max_num_seqs'"));
  CHECK(contains(said.text,
                 "    9 |   scheduler = require 'schedulers.vllm_v1' { max_num_seq = 4 },\n"));
  const std::string plain = written(scenario("deployment = { tp = 3 },"));
  const Said key = rooflua::test::rooflua("run --quiet " + plain + " 2>&1");
  INFO(key.text);
  CHECK(contains(key.text, "    9 |   deployment = { tp = 3 },\n"));
}

TEST_CASE("a new scenario is right, runs, and is never overwritten") {
  const std::string name = (folder() / "fresh").string();
  std::filesystem::remove(name + ".lua");
  const Said said = rooflua::test::rooflua("new " + name);
  CHECK(said.status == 0);
  CHECK(contains(said.text, "rooflua run " + name + ".lua"));
  const Said checked = rooflua::test::rooflua("check --json - " + name + ".lua");
  const Json document = parse_json(checked.text, "check");
  CHECK(document.find("scenarios")->items()[0].find("findings")->items().empty());
  CHECK(rooflua::test::rooflua("run --quiet " + name + ".lua").status == 0);
  std::ofstream(name + ".lua") << "return 1\n";
  CHECK(rooflua::test::rooflua("new " + name + " 2>&1").status == 1);
  CHECK(rooflua::test::rooflua("new " + name + ".lua 2>&1").status == 1);
  std::ifstream in(name + ".lua");
  std::string line;
  std::getline(in, line);
  CHECK(line == "return 1");
  CHECK(rooflua::test::rooflua("new /nowhere/x 2>&1").status == 1);
}

TEST_CASE("a name that would be code in a new scenario is refused, and others are quoted") {
  for (const std::string name : {"'a\nprint(1)'", "\"a'b\"", "'a\"]] b'", "'a\\b'"}) {
    const Said said = rooflua::test::rooflua("new " + name + " 2>&1");
    CHECK(said.status == 1);
    CHECK(contains(said.text, "expected a name without quotes, backslashes and line breaks"));
  }
  const std::string name = (folder() / "c $(touch P)").string();
  std::filesystem::remove(name + ".lua");
  REQUIRE(rooflua::test::rooflua("new '" + name + "' --kind search").status == 0);
  std::ifstream in(name + ".lua");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(contains(text, "rooflua run '" + name + ".lua' --jobs 2 --results 'c $(touch P).sqlite'"));
}

TEST_CASE("a new scenario of every kind is right") {
  for (const auto& each :
       std::filesystem::directory_iterator(source_dir() / "scripts" / "templates")) {
    if (each.path().extension() != ".lua") continue;
    const std::string kind = each.path().stem().string();
    INFO(kind);
    const std::filesystem::path own = folder() / ("new_" + kind);
    std::filesystem::remove_all(own);
    std::filesystem::create_directories(own);
    const std::string file = (own / "mine.lua").string();
    CHECK(rooflua::test::rooflua("new " + file + " --kind " + kind).status == 0);
    const Said checked = rooflua::test::rooflua("check --json - " + file + " 2>&1");
    INFO(checked.text);
    const Json document = parse_json(checked.text, "check");
    for (const Json& found : document.find("scenarios")->items()[0].find("findings")->items())
      CHECK(contains(found.find("message")->text(), "mfu: the tables have nothing for"));
    std::ifstream in(file);  // it runs: tests/scripts/program/templates_test.lua
    CHECK_FALSE(contains(std::string(std::istreambuf_iterator<char>(in), {}),
                         "@"
                         "STEM"));
    std::ifstream settings(own / ".luarc.json");
    const Json told = parse_json(std::string(std::istreambuf_iterator<char>(settings), {}), "json");
    CHECK(std::filesystem::is_directory(told.find("workspace.library")->items()[0].text()));
    CHECK(contains(rooflua::test::rooflua("new --help").text, kind));
  }
  const Said wrong = rooflua::test::rooflua("new x --kind serv 2>&1");
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.text, "serve"));
  CHECK_FALSE(std::filesystem::exists(source_dir() / "x.lua"));
}

TEST_CASE("help knows kinds and keys, and list without a kind tells the kinds") {
  const auto help = [](const std::string& topic) {
    const Said said = rooflua::test::rooflua("help " + topic + " 2>&1");
    CHECK(said.status == 0);
    return said.text;
  };
  CHECK(contains(help("workloads"), "closed_loop"));
  CHECK(contains(help("vary"), "for example: vary = {"));
  CHECK(contains(help("hardware"), "h200-sxm"));
  CHECK(contains(help("deployment.tp"), "scenario.deployment.tp"));
  CHECK(contains(help("steps"), "kernels"));
  const Said kinds = rooflua::test::rooflua("list");
  CHECK(kinds.status == 0);
  CHECK(contains(kinds.text, "  speculators "));
}
