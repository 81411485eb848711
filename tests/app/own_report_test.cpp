// What a scenario's own report is given, and what of it stands in the document.

#include <fstream>

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
