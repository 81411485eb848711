// What a scenario's own report is given, and what of it stands in the document.

#include <fstream>
#include <map>
#include <regex>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("a scenario's report gets machines and requests, and its rows are in the document") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "report.lua";
  std::ofstream(file)
      << "return { model = 'llama-3.1-8b', hardware = 'h200', replicas = 3,\n"
         "  deployment = { memory_utilization = 0.9 },\n"
         "  metrics = { requests = true }, vary = { ['deployment.tp'] = { 1, 2 } },\n"
         "  workload = require 'workloads.poisson' { num_requests = 5 },\n"
         "  report = function(results)\n"
         "    local rows = { { 'gpus', 'on', 'tp', 'memory', 'requests', 'late' } }\n"
         "    for i, each in ipairs(results) do\n"
         "      rows[i + 1] = { each.gpus, each.hardware, each.deployment.tp,\n"
         "        each.deployment.memory_utilization, #each.requests,\n"
         "        each.requests[1].ttft_s > 0 }\n"
         "    end\n"
         "    return rows\n"
         "  end }\n";
  for (const char* jobs : {"1", "2"}) {
    const Said said =
        rooflua::test::rooflua("run " + file + " --quiet --json - --jobs " + std::string(jobs));
    CHECK(said.status == 0);
    const Json document = parse_json(said.text, "run");
    const Json::Array& rows = document.find("report")->items();
    REQUIRE(rows.size() == 3);
    CHECK(dump_json(rows[1]) == R"([3,"h200",1,0.9,5,true])");
    CHECK(dump_json(rows[2]) == R"([6,"h200",2,0.9,5,true])");
  }
}

namespace {

Said with_report(const std::string& body, const std::string& options = "") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "report.lua";
  std::ofstream(file) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                         "  workload = require 'workloads.poisson' { num_requests = 5 },\n"
                         "  vary = { seed = { 1, 2 }, ['deployment.tp'] = { 1, 2 } },\n"
                         "  report = function(results) "
                      << body << " end }\n";
  return rooflua::test::rooflua("run " + file + " --quiet " + options);
}

}  // namespace

TEST_CASE("a report's rows with names are a table under their names, and objects in the document") {
  const std::string rows =
      "return { { name = 'one', s = { mean = 2 } }, { name = 'two', n = 0.5 } }";
  const Said said = with_report(rows);
  CHECK(said.status == 0);
  CHECK(said.text.find("name    n  s.mean\none     -       2\ntwo   0.5       -\n") !=
        std::string::npos);
  const Json document = parse_json(with_report(rows, "--json -").text, "run");
  CHECK(dump_json(*document.find("report")) ==
        R"([{"name":"one","s":{"mean":2}},{"n":0.5,"name":"two"}])");
}

TEST_CASE("what a function of the library returns can be a scenario's report") {
  const Said said = with_report(
      "return require('rooflua.measure').compare(results, { metrics = { 'ttft_s_p95' } })");
  CHECK(said.status == 0);
  CHECK(std::regex_search(said.text, std::regex("metric +variant +baseline +clear +difference")));
  CHECK(said.text.find("ttft_s_p95  tp=2") != std::string::npos);
}

TEST_CASE("a report that cannot be shown is refused at its line") {
  for (const auto& [body, words] : std::map<std::string, std::string>{
           {"return { { a = 1 }, { 2 } }", "row 2: expected cells with names"},
           {"return { { a = 1, 5 } }", "row 1: has both cells with names and cells without"},
           {"return { { f = print } }", "expected values, found a function"},
           {"return { { [{}] = 1 } }", "found the key a table"},
           {"local t = {} t[1] = t return t", "nested too deeply"},
           {"local t = {} t.x = t return t", "nested too deeply"},
           {"return { { 1, {} } }", "row 1: column 2: expected a value, found a table"},
           {"return results", "fields, and a table at most 60"},
           {"return 5", "expected text or tables"}}) {
    const Said said = with_report(body, "2>&1");
    CHECK(said.status == 1);
    CHECK(said.text.find("report.lua:4: report: ") != std::string::npos);
    CHECK(said.text.find(words) != std::string::npos);
    CHECK(said.text.find("rooflua.text") == std::string::npos);
  }
  CHECK(with_report("return {}").text.find("\nno rows\n") != std::string::npos);
}
