// `rooflua results`: what it prints, writes and refuses.

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = rooflua::test::scratch() / "results";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& text = "") const {
    if (!text.empty()) std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

std::string scenario(const std::string& more = "") {
  return "return { rooflua = 1, title = 'Small', model = 'llama-3.1-8b', hardware = 'h200',\n"
         "  workload = require 'workloads.poisson' { num_requests = 5, output_tokens = 3 },\n" +
         more + "  vary = { seed = { 1, 2 }, ['workload.rate_per_s'] = { 1, 50 } } }\n";
}

Said results(const std::string& arguments) {
  return rooflua::test::rooflua("results " + arguments);
}

/// A file with four runs.
std::string stored(const Folder& folder, const std::string& name, const std::string& more = "") {
  const std::string file = folder.file(name + ".sqlite");
  const Said said = rooflua::test::rooflua("run " + folder.file(name + ".lua", scenario(more)) +
                                           " --quiet --results " + file);
  REQUIRE(said.status == 0);
  return file;
}

}  // namespace

TEST_CASE("every document and --version name the build, and diff does not compare it") {
  const Folder folder;
  const Said version = rooflua::test::rooflua("--version");
  REQUIRE(version.text.rfind("rooflua 0.", 0) == 0);
  const std::string build = version.text.substr(8, version.text.size() - 9);
  const std::string a = folder.file("a.json"), b = folder.file("b.json");
  const std::string step = "step --model qwen3-8b --hardware h200 --decode 100x1 --json ";
  CHECK(rooflua::test::rooflua(step + a).status == 0);
  const Json document = read_json(a);
  CHECK(document.find("build")->text() == build);
  Json other = document;
  other["build"] = "0.0.1";
  std::ofstream(b) << dump_json(other);
  CHECK(rooflua::test::rooflua("diff " + a + " " + b).status == 0);
}

TEST_CASE("two documents of runs say what was set, and how often such a change was right") {
  const Folder folder;
  const std::string file = folder.file("small.lua", scenario("")), a = folder.file("a.json"),
                    b = folder.file("b.json");
  const std::string run = "run " + file + " --quiet --json ";
  CHECK(rooflua::test::rooflua(run + a).status == 0);
  const Said set = rooflua::test::rooflua(run + b + " --set deployment.tp=2");
  CHECK(set.status == 0);
  CHECK(contains(set.text, "such a change was right, of measured pairs: tp: "));
  CHECK(read_json(b).find("set")->items().at(0).text() == "deployment.tp=2");
  CHECK(read_json(a).find("set") == nullptr);
  CHECK(contains(rooflua::test::rooflua("diff " + a + " " + b).text, "measured pairs: tp: "));
  const Said same = rooflua::test::rooflua("diff " + a + " " + a);
  CHECK(same.status == 0);
  CHECK(contains(same.text, "no difference (at most 3 %): "));
  CHECK_FALSE(contains(same.text, "direction"));
}

TEST_CASE("a file is listed, its runs are shown by name and hash") {
  const Folder folder;
  const std::string file = stored(folder, "a");
  const Said list = results("list " + file);
  CHECK(contains(list.text, "Small     4   4       0"));
  CHECK(contains(list.text, "4 runs"));
  const Said shown = results("show " + file + " 'seed=1, rate_per_s=50'");
  CHECK(contains(shown.text, "5 of 5 completed"));
  const std::string hash = shown.text.substr(shown.text.find("run       ") + 10, 12);
  CHECK(results("show " + file + " " + hash).text == shown.text);
  CHECK(contains(results("show " + file + " seed=1 2>&1").text, "2 runs are called like"));
  CHECK(contains(results("show " + file + " seed=9 2>&1").text, "no run is called"));
  CHECK(contains(results("list " + file + " --json -").text, "\"total\": 4"));
  CHECK(contains(results("list " + folder.file("none") + " 2>&1").text, "no such file"));
}

TEST_CASE("runs are written for other tools") {
  const Folder folder;
  const std::string file = stored(folder, "a"), out = folder.file("out");
  CHECK(results("export " + file + " --format csv --select ttft_s_p99 -o " + out).status == 0);
  std::string head;
  std::ifstream(out) >> head;
  CHECK(head == "run_hash,build,seed,name,workload.rate_per_s,ttft_s_p99");
  const Json document = parse_json(results("export " + file + " --format json").text, "json");
  CHECK(document.find("variants")->items().size() == 4);
  CHECK(document.find("title")->text() == "Small");
  const std::string metrics = results("export " + file + " --format prometheus").text;
  CHECK(contains(metrics, "# TYPE vllm:time_to_first_token_seconds summary\n"));
  CHECK(contains(metrics, "quantile=\"0.99\"} 0."));
  CHECK(contains(metrics, "vllm:request_success_total{run=\""));
  for (const Json& variant : document.find("variants")->items()) {
    const Json& summary = *variant.find("summary");
    const std::string run = "{run=\"" + variant.find("run_hash")->text() + "\",";
    const std::string name = "name=\"" + variant.find("name")->text() + "\"";
    const auto line = [&](const std::string& metric, const std::string& more, const Json& value) {
      const std::size_t begin = metrics.find("\n" + metric + run);
      if (begin == std::string::npos) return false;
      const std::string rest = name + more + "} " + dump_json(value) + "\n";
      return contains(metrics.substr(begin + 1, 400), rest);
    };
    CHECK(line("rooflua_duration_s", "", *summary.find("duration_s")));
    CHECK(line("vllm:generation_tokens_total", "", *summary.find("output_tokens")));
    CHECK(line("vllm:time_to_first_token_seconds", ",quantile=\"0.5\"",
               *summary.find("ttft_s")->find("p50")));
    CHECK(line("vllm:time_to_first_token_seconds_count", "", Json(5)));
  }
  CHECK_FALSE(contains(metrics, "rooflua_completed"));
  std::istringstream reports(results("export " + file + " --format llm-d").text);
  int count = 0;
  for (std::string line; std::getline(reports, line); ++count) {
    const Json report = parse_json(line, "llm-d");
    CHECK(report.find("version")->text() == "0.2");
    const Json& aggregate = *report.find("results")->find("request_performance")->find("aggregate");
    CHECK(aggregate.find("requests")->find("total")->integer() == 5);
    CHECK(aggregate.find("latency")->find("time_to_first_token")->find("units")->text() == "s");
    CHECK(aggregate.find("throughput")->find("request_rate")->find("units")->text() == "queries/s");
  }
  CHECK(count == 4);
  CHECK(results("export " + file + " --format csv -o /dev/full 2>&1").status == 1);
  CHECK(results("export " + file + " --format cvs 2>&1").status == 2);
  CHECK(results("export " + file + " --format jsonl --set ab 2>&1").status == 2);
}

TEST_CASE("every command says which runs it leaves out because they were altered") {
  const Folder folder;
  const std::string file = stored(folder, "a"), lines = folder.file("lines.jsonl");
  CHECK(results("export " + file + " --format jsonl -o " + lines + " 2>&1").text.empty());
  const auto change = [](const std::string& path, const std::string& from, const std::string& to) {
    std::ifstream in(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    const std::size_t at = text.rfind(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    std::ofstream(path, std::ios::binary) << text;
  };
  change(file, "5 of 5 completed", "4 of 5 completed");
  change(lines, "5 of 5 completed", "4 of 5 completed");
  for (const std::string& each : {file, lines, folder.path.string()}) {
    for (const char* format : {"csv", "json", "prometheus", "llm-d", "jsonl"}) {
      const Said said = results("export " + each + " --format " + format + " 2>&1");
      INFO(each << " " << format << "\n" << said.text);
      CHECK(contains(said.text, "1 run was altered after it was written"));
    }
    const Said list = results("list " + each + " 2>&1");
    INFO(list.text);
    CHECK(contains(list.text, "1 run was altered"));
    CHECK(contains(list.text, "\n3 runs\n"));
  }
  CHECK(contains(results("list " + file + " --json - 2> /dev/null").text, "\"altered\": 1"));
  CHECK(contains(results("diff " + file + " " + file + " 2>&1").text, "1 run was altered"));
}

TEST_CASE("runs of two files are compared with the same parameters and seeds") {
  const Folder folder;
  const std::string a = stored(folder, "a");
  const std::string b =
      stored(folder, "b", "  steps = require 'steps.kernels' { host_step_s = 0.01 },\n");
  CHECK(contains(results("diff " + a + " " + a).text, ": 0 of 12 figures differ"));
  const Said said = results("diff " + a + " " + b + " --metric tpot_s_p50");
  INFO(said.text);
  CHECK(contains(said.text, ": 2 of 2 figures differ"));
  CHECK(contains(said.text, "rate_per_s=50"));
  CHECK(contains(results("diff " + a + " " + b + " --metric tpot_s_p51 2>&1").text, "tpot_s_p50"));
}

TEST_CASE("a full disk, and a file of something else, are told with what to do") {
  const Folder folder;
  const std::string file = folder.file("a.lua", scenario());
  const Said full = rooflua::test::rooflua("run " + file + " --results /dev/full 2>&1");
  INFO(full.text);
  CHECK(full.status == 1);
  const Said foreign = results("merge " + folder.file("m.sqlite") + " " + file + " 2>&1");
  CHECK(foreign.status == 1);
  CHECK(contains(foreign.text, "results export --format jsonl"));
  CHECK_FALSE(fs::exists(folder.file("m.sqlite")));
  CHECK(results("merge " + folder.path.string() + " " + file + " 2>&1").status == 2);
}
