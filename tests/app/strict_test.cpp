// --strict: a run, a search and a plan that rest on guesses fail.

#include <fstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

TEST_CASE("--strict fails a run that rests on guesses") {
  CHECK(rooflua::test::rooflua("run scenarios/01_hello.lua --strict=50").status == 0);
  CHECK(rooflua::test::rooflua("run scenarios/01_hello.lua --strict 2>/dev/null").status == 1);
}

TEST_CASE(
    "--strict asks a search for all of its runs, and fails what does not say what it rests on") {
  const auto folder = scratch() / "strict";
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << "return { model = 'llama-3.1-8b', hardware = 'h200', " + text;
    return (folder / name).string();
  };
  for (const char* search :
       {"goal = 'sensitivity', params = { 'workload.rate_per_s' }",
        "goal = 'rate', slo = { ttft_s_p99 = 1 }, min = 1, max = 4, tolerance = 0.5, checks = 0",
        "goal = 'pareto', vary = { ['workload.rate_per_s'] = { 1, 2 } }"}) {
    INFO(search);
    const std::string name = file("a.lua", std::string("kind = 'search', search = { ") + search +
                                               " }, workload = require 'workloads.poisson' { "
                                               "num_requests = 5 } }\n");
    const Said said = rooflua::test::rooflua("run " + name + " --strict --quiet 2>&1");
    CHECK(said.status == 1);
    CHECK(contains(said.text, "of the time is extrapolated, stand_in, modelled or assumed"));
    const Said json = rooflua::test::rooflua("run " + name + " --quiet --json - 2>&1");
    const Json document = parse_json(json.text, "run");
    const Json& evidence = *document.find("variants")->items()[0].find("summary")->find("evidence");
    double sum = 0;
    for (const Json::Member& share : evidence.members()) sum += share.value.number();
    CHECK(sum == Approx(1));
  }
  const std::string name =
      file("s.lua", "kind = 'static', steps = require 'steps.infersim' {} }\n");
  CHECK(rooflua::test::rooflua("run " + name + " --quiet 2>&1").status == 0);
  const Said said = rooflua::test::rooflua("run " + name + " --strict=100 --quiet 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "--strict: nothing is known of what the time rests on"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a plan under --strict ends as a run does, by its own command and by run") {
  const auto path = scratch() / "strict_plan.lua";
  std::ofstream(path)
      << "return { kind = 'plan', model = 'llama-3.1-8b', workload = require 'workloads.poisson' "
         "{ prompt_tokens = 300, output_tokens = 20 }, plan = { load = { rate_per_s = 5 }, slo = { "
         "ttft_s_p99 = 2 }, gpus = { { 'h100-sxm', most = 1, price_per_hour = 3 } }, replicates = "
         "0, "
         "requests = 100, candidates = require 'candidates.listed' { list = { { tp = 1 } } } } }\n";
  for (const char* command : {"plan ", "run "}) {
    const std::string name = command + path.string() + " --quiet ";
    CHECK(rooflua::test::rooflua(name + "--strict=60 2>&1").status == 0);
    const Said said = rooflua::test::rooflua(name + "--strict 2>&1 >/dev/null");
    CHECK(said.status == 1);
    CHECK(contains(said.text, "rooflua: --strict: "));
    CHECK(contains(said.text,
                   "% of the time is extrapolated, stand_in, modelled or assumed (allowed: 0 %)"));
    CHECK(!contains(said.text, "nothing is known"));
    CHECK(rooflua::test::rooflua(name + "--strict=nan 2>&1").status == 2);
  }
  std::filesystem::remove(path);
}
