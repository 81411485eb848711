// Documents are what docs/schema says, and the schemas refuse what they should.

#include <cstdlib>
#include <fstream>

#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// 0: the documents fit the schema, 1: they do not, 77: nothing here can check it.
int fits(const std::string& schema, const std::string& documents) {
  const std::string source = source_dir().string();
  const std::string arguments = " '" + source + "/tests/app/schema.py' '" + source +
                                "/docs/schema/" + schema + ".json' " + documents + " 1>&2";
  int status = 77;
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    status = std::system((python + arguments).c_str());
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (status <= 1) return status;
  }
  WARN("SKIPPED: no python3 here has the module jsonschema");
  return 77;
}

std::string written(const ScratchFolder& folder, const std::string& name,
                    const std::string& command) {
  const std::string file = folder.path() / (name + ".json");
  rooflua::test::rooflua(command + " --json '" + file + "' > /dev/null 2>&1");
  CHECK(std::filesystem::exists(file));
  return " '" + file + "'";
}

}  // namespace

TEST_CASE("results of every kind fit the schema of results") {
  const ScratchFolder folder;
  const std::string stopped = folder.path() / "stopped.lua", rich = folder.path() / "rich.lua";
  std::ofstream(stopped) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                            "  vary = { ['scheduler.max_num_seqs'] = { 4, 8 } },\n"
                            "  workload = require 'workloads.poisson' { num_requests = 1e9 } }\n";
  std::ofstream(rich) << "return { model = 'llama-3.1-8b', hardware = 'h200', replicas = 2,\n"
                         "  metrics = { utilisation = true, requests = true }, slo = { ttft_s = 1 "
                         "},\n"
                         "  workload = require 'workloads.multi_turn' {},\n"
                         "  report = function(results) return { { 'gpus' }, { results[1].gpus } } "
                         "end }\n";
  std::string all;
  for (const char* scenario : {"01_hello", "02_chunk_size", "06_infersim_table",
                               "09_moe_against_dense", "16_capacity_planning", "21_speculation"})
    all += written(folder, scenario, std::string("run scenarios/") + scenario + ".lua --jobs 2");
  all += written(folder, "step",
                 "step --model llama-3.1-8b --hardware h100 --decode 100x8 --prefill 0+100");
  all += written(folder, "stopped", "run " + stopped + " --timeout 0.3");
  all += written(folder, "rich", "run " + rich + " --explain --why 3");
  const int status = fits("result", all);
  CHECK((status == 0 || status == 77));
}

TEST_CASE("what check writes fits its schema") {
  const ScratchFolder folder;
  const int status = fits("check", written(folder, "check", "check scenarios/02_chunk_size.lua"));
  CHECK((status == 0 || status == 77));
}

TEST_CASE("a document with a key that the schema does not have is refused") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "wrong.json";
  std::ofstream(file) << R"({"schema": 1, "scenario": "a", "title": "", "kind": "serve", "seed": 1,
    "variants": [{"name": "", "parameters": {}, "summary": {"evidence": {}, "ttft": 3}}]})";
  CHECK(fits("result", "'" + file + "'") != 0);
}
