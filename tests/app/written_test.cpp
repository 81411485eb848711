// --write FORMAT=FILE: files of other tools, which the program reads back.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr const char* formats[] = {"aiperf", "guidellm", "inferencex", "llm-d", "otlp"};

std::filesystem::path folder() {
  const std::filesystem::path made = scratch() / "written";
  std::filesystem::create_directories(made);
  return made;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A scenario of 6 clients; `more` is a part of its table.
std::string scenario(const std::string& name, const std::string& more = "") {
  const std::filesystem::path path = folder() / name;
  std::ofstream(path) << "return { rooflua = 1, model = \"llama-3.1-8b\", hardware = \"h200-sxm\", "
                      << more
                      << "\n  workload = require \"workloads.closed_loop\" { clients = 6, "
                         "num_requests = 40, prompt_tokens = 300,\n    output_tokens = 20 } }\n";
  return path.string();
}

/// Files of requests that the program keeps while it runs.
long left_behind() {
  long count = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder()))
    count += contains(each.path().string(), ".requests") ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a run is written in every format, and calibrate reads each file as a simulated run") {
  const std::string mine = scenario("mine.lua");
  std::string options;
  for (const char* format : formats)
    options += std::string(" --write ") + format + "=" + (folder() / format).string() + ".json";
  const Said run = rooflua::test::rooflua("run " + mine + " --quiet" + options + " 2>&1");
  INFO(run.text);
  REQUIRE(run.status == 0);
  CHECK(left_behind() == 0);
  for (const char* format : formats) {
    const std::string file = (folder() / format).string() + ".json";
    const Said said = rooflua::test::rooflua("calibrate " + mine +
                                             " --params steps.host_step_s --evaluations 4 " +
                                             "--measured " + file + " 2>&1");
    INFO(format << "\n" << said.text);
    CHECK(contains(said.text, "is a simulated run, written by rooflua"));
  }
  const std::string lines = read(folder() / "aiperf.json");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 40);
  CHECK(contains(lines, "\"request_start_ns\":1000000000,"));
  const Json report = parse_json(read(folder() / "llm-d.json"), "llm-d.json");
  CHECK(report.members().size() ==
        4);  // its schema forbids all but version, run, scenario, results
}

TEST_CASE("each variant has a file, and workers write the same bytes") {
  const std::string mine = scenario("vary.lua", "vary = { [\"deployment.tp\"] = { 1, 2 } },");
  const std::string to = (folder() / "many").string();
  CHECK(rooflua::test::rooflua("run " + mine + " --quiet --write otlp=" + to + ".jsonl").status ==
        0);
  CHECK(rooflua::test::rooflua("run " + mine + " --quiet --jobs 2 --write otlp=" + to + "_2.jsonl")
            .status == 0);
  for (const char* number : {".1", ".2"}) {
    const std::string one = read(to + number + ".jsonl");
    CHECK(one.size() > 1000);
    CHECK(one == read(to + "_2" + number + ".jsonl"));
  }
  CHECK(left_behind() == 0);
}

TEST_CASE("a file with a row per request cannot be made of a run that was kept before") {
  const std::string mine = scenario("kept.lua");
  const std::string to = (folder() / "kept").string();
  std::filesystem::remove(to + ".sqlite");
  const std::string run = "run " + mine + " --quiet --results " + to + ".sqlite ";
  CHECK(rooflua::test::rooflua(run + "--write aiperf=" + to + ".1.jsonl").status == 0);
  CHECK_FALSE(read(to + ".1.jsonl").empty());
  const Said again = rooflua::test::rooflua(run + "--write aiperf=" + to +
                                            ".2.jsonl --write llm-d=" + to + ".json 2>&1");
  CHECK(again.status == 1);
  CHECK(contains(again.text, "kept.2.jsonl was not written: it has a row per request"));
  CHECK_FALSE(std::filesystem::exists(to + ".2.jsonl"));
  CHECK(std::filesystem::exists(to + ".json"));
}

TEST_CASE("a wrong format, folder or load ends the run before it begins") {
  const std::string mine = scenario("mine.lua");
  const auto refused = [&](const std::string& option) {
    const Said said = rooflua::test::rooflua("run " + mine + " --write " + option + " 2>&1");
    CHECK(said.status != 0);
    CHECK_FALSE(contains(said.text, "TTFT"));
    return said.text;
  };
  const std::string known = refused("guidelm=a.json");
  CHECK(contains(known, "did you mean 'guidellm'"));
  const std::string offered = rooflua::test::rooflua("__complete run --write ''").text;
  for (const char* format : formats) {
    CHECK(contains(known, format));
    CHECK(contains(offered, std::string(format) + "=\n"));
  }
  CHECK(contains(refused("perfetto=a.json"), "'perfetto' is written by --trace FILE"));
  CHECK(contains(refused("aiperf=/nowhere/a.jsonl"), "there is no folder /nowhere"));
  CHECK(contains(refused("aiperf"), "expected FORMAT=FILE"));
  const std::string poisson = (folder() / "poisson.lua").string();
  std::ofstream(poisson)
      << "return { rooflua = 1, model = \"llama-3.1-8b\", hardware = \"h200-sxm\","
         " workload = require \"workloads.poisson\" { rate_per_s = 1 } }\n";
  const Said said = rooflua::test::rooflua("run " + poisson + " --write inferencex=a.json 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "a row states a number of clients (conc), and the workload 'poisson'"));
}
