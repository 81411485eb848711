// Documents are what docs/schema says, and the schemas refuse what they should.

#include "tests/app/schema.h"

#include <fstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;
namespace fs = std::filesystem;

namespace {

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
  const std::string agents = folder.path() / "agents.lua";
  std::ofstream(agents) << "return { model = 'llama-3.1-8b', hardware = 'h200', steps = "
                           "'roofline_v1',\n"
                           "  workload = require 'workloads.agent' { plays = 3, lanes = 2, "
                           "max_context_tokens = 60000 } }\n";
  std::string all;
  all += written(folder, "agents", "run " + agents + " --why play:1");
  all += written(folder, "step",
                 "step --model llama-3.1-8b --hardware h100 --decode 100x8 --prefill 0+100");
  all += written(folder, "stopped", "run " + stopped + " --timeout 0.3");
  all += written(folder, "rich", "run " + rich + " --explain --why 3");
  CHECK(may_fit("result", all));
}

TEST_CASE("a case that sets a seed has it in its result, and others have none") {
  const ScratchFolder folder;
  const std::string cases = folder.path() / "cases.lua";
  std::ofstream(cases) << "return { model = 'llama-3.1-8b', hardware = 'h200', seed = 3,\n"
                          "  vary = { case = { { label = 'own', set = { seed = 7 } },\n"
                          "                    { label = 'none', set = {} } } },\n"
                          "  workload = require 'workloads.poisson' { num_requests = 3 } }\n";
  const std::string file = written(folder, "cases", "run " + cases);
  CHECK(may_fit("result", file));
  const Json all = parse_json(file_text(folder.path() / "cases.json"), "cases.json");
  CHECK(all.find("seed")->integer() == 3);
  const auto& variants = all.find("variants")->items();
  REQUIRE(variants.size() == 2);
  CHECK(variants[0].find("seed")->integer() == 7);
  CHECK(variants[1].find("seed") == nullptr);
  const std::string page = folder.path() / "cases.html";
  CHECK(rooflua::test::rooflua("run " + cases + " --quiet --html " + page).status == 0);
  CHECK(contains(file_text(page), "seed 3, 2 variants, case=own with seed 7"));
}

TEST_CASE("searches of every goal fit the schema of results") {
  const ScratchFolder folder;
  std::string all;
  for (const auto& [name, search] :
       {std::pair{"pareto", "goal = 'pareto', vary = { ['deployment.tp'] = { 1, 2 } }"},
        {"cheapest",
         "goal = 'cheapest', slo = { ttft_s_p99 = 1e-9 }, deployments = {\n"
         "  { name = 'a', cost_per_hour = 2, set = {} } }"},
        {"sensitivity",
         "goal = 'sensitivity', metrics = { 'ttft_s_p50' }, params = { 'steps.host_step_s' }"}}) {
    const std::string scenario = folder.path() / (std::string(name) + ".lua");
    std::ofstream(scenario)
        << "return { kind = 'search', model = 'llama-3.1-8b',\n"
           "  hardware = 'h100', search = { "
        << search
        << " },\n  workload = require 'workloads.poisson' { rate_per_s = 4,\n"
           "    num_requests = 20, prompt_tokens = 500, output_tokens = 9 } }\n";
    all += written(folder, name, "run " + scenario);
  }
  CHECK(may_fit("result", all));
}

TEST_CASE("shards, lists of results and exports fit their schemas") {
  const ScratchFolder folder;
  const std::string store = folder.path() / "r";
  CHECK(may_fit(
      "result",
      written(folder, "shard", "run scenarios/02_chunk_size.lua --shard 0/2 --results " + store)));
  CHECK(may_fit("results_list", written(folder, "list", "results list " + store)));
  const std::string exported = folder.path() / "export.json";
  CHECK(
      rooflua::test::rooflua("results export " + store + " --format json -o " + exported).status ==
      0);
  CHECK(may_fit("results_export", exported));
}

TEST_CASE("plans and their checks fit their schemas") {
  const ScratchFolder folder;
  const std::string files = folder.path() / "plan", measured = folder.path() / "measured.json";
  const std::string plan = written(
      folder, "plan",
      "plan --model llama-3.1-8b --workload 500+50 --rate 5 --slo ttft_p99=500ms --gpus h100-sxm "
      "--tp 1 --seats 64 --budgets 2048 --replicates 3 --requests 60 --front --quiet --write " +
          files);
  CHECK(may_fit("plan", plan + " " + files + "/plan.json"));
  std::ofstream(measured) << R"({"mean_ttft_ms": 30, "output_throughput": 200})";
  CHECK(may_fit("plan_verify", written(folder, "verify",
                                       "plan --verify " + measured + " " + files + "/plan.json")));
}

TEST_CASE("fits to measured runs fit their schema") {
  const ScratchFolder folder;
  const std::string scenario = folder.path() / "s.lua", requests = folder.path() / "m.csv";
  std::ofstream(scenario) << "return { model = 'llama-3.1-8b', hardware = 'h100',\n"
                             "  workload = require 'workloads.poisson' { rate_per_s = 4,\n"
                             "    num_requests = 40, prompt_tokens = 500, output_tokens = 9 } }\n";
  rooflua::test::rooflua("run " + scenario + " --requests " + requests + " > /dev/null");
  CHECK(may_fit("calibrate", written(folder, "fit",
                                     "calibrate " + scenario + " --measured " + requests +
                                         " --params steps.host_step_s --evaluations 8 --quiet")));
}

TEST_CASE("what check writes fits its schema") {
  const ScratchFolder folder;
  CHECK(may_fit("check", written(folder, "check", "check scenarios/02_chunk_size.lua")));
}

TEST_CASE("what data add writes fits its schema, with and without errors") {
  const ScratchFolder folder;
  const fs::path wrong = folder.path() / "wrong", right = folder.path() / "right";
  fs::create_directory(wrong);
  fs::create_directory(right);
  std::ofstream(wrong / "gem_bf16.csv") << "m,k,n\n";
  std::ofstream(right / "gemm_bf16.csv") << "m,k,n,latency_us\n16,4096,4096,40\n";
  std::ofstream(right / "hardware.toml")
      << "architecture = 'hopper'\nmemory_gb = 80\nusable_memory_gib = 74\n"
         "memory_gb_per_s = 2000\nlink_gb_per_s = 300\nsms = 100\nclock_mhz = 1500\nl2_mib = 40\n"
         "[peak_tflop_per_s]\nbf16 = 600\n";
  std::string all = written(folder, "wrong", "data add " + wrong.string());
  all += written(
      folder, "right",
      "data add " + right.string() + " --name mine --dry-run --for scenarios/02_chunk_size.lua");
  CHECK(fs::file_size(folder.path() / "right.json") > 1000);  // with what the scenario lacks
  CHECK(may_fit("data_add", all));
  CHECK(may_fit("data_family", written(folder, "family", "data family " + right.string())));
}

TEST_CASE("a document with a key that the schema does not have is refused") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "wrong.json";
  std::ofstream(file) << R"({"schema": 1, "scenario": "a", "title": "", "kind": "serve", "seed": 1,
    "variants": [{"name": "", "parameters": {}, "summary": {"evidence": {}, "ttft": 3}}]})";
  CHECK(fits("result", "'" + file + "'") != 0);
}
