// Sweeps through the program: killed at any point and resumed, they end as if nothing had happened.

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/random.h"
#include "measure/result_store.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr std::int64_t run_count = 24;

/// A folder of its own for each test, gone at its end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    path = scratch() / "sweep";
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name, const std::string& text = "") const {
    if (!text.empty()) std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path / name).rdbuf();
    return out.str();
  }
};

const char* sweep =
    "return { rooflua = 1, seed = 5, model = 'llama-3.1-8b', hardware = 'h200',\n"
    "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 600, prompt_tokens "
    "= 300,\n"
    "    output_tokens = { distribution = 'uniform', min = 5, max = 90 } },\n"
    "  sweep = { method = 'sobol', n = 8, params = { ['workload.rate_per_s'] = { 5, 60 } } },\n"
    "  vary = { seed = { 1, 2, 3 } } }\n";

std::int64_t rows_in(const std::string& file) {
  return std::filesystem::exists(file) ? ResultStore(file, {"-", "-", "-"}).foreign_rows() : 0;
}

/// Starts the sweep and kills the program, as a power cut would, once it has written that many
/// rows.
void kill_after(const std::string& scenario, const std::string& results, std::int64_t rows,
                useconds_t later_us) {
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    if (chdir(source_dir().c_str()) != 0) _exit(1);
    execl(ROOFLUA_PROGRAM, "rooflua", "run", scenario.c_str(), "--results", results.c_str(),
          "--jobs", "2", "--quiet", "--json", "/dev/null", static_cast<char*>(nullptr));
    _exit(1);
  }
  while (rows_in(results) < rows && waitpid(process, nullptr, WNOHANG) == 0) usleep(500);
  usleep(later_us);
  ::kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

}  // namespace

TEST_CASE("a sweep killed at ten random points ends as an uninterrupted one") {
  const Folder folder;
  const std::string scenario = folder.file("sweep.lua", sweep);
  const Said whole = rooflua::test::rooflua("run " + scenario + " --quiet --json -");
  REQUIRE(whole.status == 0);
  RandomStream stream = random_stream(1, "kill points", 0);
  int in_the_middle = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string results = folder.file("results" + std::to_string(i) + ".sqlite");
    const std::int64_t after = uniform_integer(stream, 0, run_count - 6);
    kill_after(scenario, results, after, static_cast<useconds_t>(uniform(stream, 0, 5'000)));
    const std::int64_t there = rows_in(results);
    if (there > 0 && there < run_count) ++in_the_middle;
    INFO("killed after " << after << " rows, " << there << " there");
    const std::string command = "run " + scenario + " --results " + results + " --jobs 2 --json -";
    const Said resumed = rooflua::test::rooflua(command + " --quiet");
    CHECK(resumed.status == 0);
    CHECK(resumed.text == whole.text);
    CHECK(rows_in(results) == run_count);
    const Said again = rooflua::test::rooflua(command + " 2>&1 >/dev/null");
    CHECK(contains(again.text, "24 of 24 runs were in"));
    CHECK(rooflua::test::rooflua(command + " --quiet").text == whole.text);
  }
  CHECK(in_the_middle > 0);  // else this test shows nothing
}

TEST_CASE("Ctrl-C ends a sweep, says what is missing, and leaves what is known") {
  const Folder folder;
  const std::string scenario = folder.file("sweep.lua", sweep), results = folder.file("r.sqlite");
  const Said said =
      rooflua::test::rooflua("run " + scenario + " --quiet --jobs 2 --results " + results +
                             " 2>&1 & program=$!; for i in $(seq 400); do [ -e " + results +
                             " ] && break; sleep 0.01; done; sleep 0.05; "
                             "kill -INT $program; wait $program");
  const std::int64_t there = rows_in(results);
  if (there < run_count) {
    INFO(said.text);
    CHECK(said.status == 130);
    CHECK(contains(said.text, "PARTIAL"));
    CHECK(contains(said.text, "the same command runs only those"));
  }
  CHECK(rooflua::test::rooflua("run " + scenario + " --quiet --results " + results).status == 0);
  CHECK(rows_in(results) == run_count);
}

TEST_CASE("a changed scenario, policy or option is another sweep to a results file") {
  const Folder folder;
  const std::string policy =
      "local policy = require 'rooflua.policy'\n"
      "local Twice = policy.define { name = 'twice', doc = 'x', params = {} }\n"
      "function Twice:step(_, time_s) return time_s * 2 end\nreturn Twice\n";
  std::string text = sweep;
  text.replace(text.find("'sobol', n = 8"), 14, "'sobol', n = 1");
  text.replace(text.find("seed = 5,"), 9, "seed = 5, corrections = { require 'twice' {} },");
  const std::string scenario = folder.file("sweep.lua", text), results = folder.file("r.sqlite");
  folder.file("twice.lua", policy);
  const auto reused = [&](const std::string& more) {
    return rooflua::test::rooflua("run " + scenario + " --results " + results + " " + more +
                                  " --json /dev/null 2>&1");
  };
  CHECK(reused("").status == 0);
  CHECK(contains(reused("").text, "3 of 3 runs were in"));
  const Said other = reused("--set steps.host_step_s=0.001");
  CHECK_FALSE(contains(other.text, "were in"));
  CHECK(contains(other.text, "3 rows of other files, options or versions"));
  folder.file("twice.lua", policy + "-- changed\n");
  CHECK_FALSE(contains(reused("").text, "were in"));
  folder.file("twice.lua", policy);
  CHECK(contains(reused("").text, "3 of 3 runs were in"));
  folder.file("sweep.lua", text + "-- changed\n");
  CHECK_FALSE(contains(reused("").text, "were in"));
}

TEST_CASE("policies and tables that only later variants read count as well") {
  const Folder folder;
  const auto order = [](const std::string& remark) {
    return "local policy = require 'rooflua.policy'\nlocal base = require 'schedulers.vllm_v1'\n"
           "local Mine = policy.define { name = 'mine', doc = 'x', params = {} }\n"
           "function Mine:plan(replica, plan) base {}:plan(replica, plan) end\nreturn Mine\n" +
           remark;
  };
  const std::string results = folder.file("r.sqlite");
  const std::string scenario = folder.file(
      "names.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { scheduler = { 'vllm_v1', "
      "'mine' } },\n  workload = require 'workloads.poisson' { num_requests = 5 } }\n");
  folder.file("mine.lua", order(""));
  const auto said = [&] {
    return rooflua::test::rooflua("run " + scenario + " --json /dev/null --results " + results +
                                  " 2>&1")
        .text;
  };
  INFO(said());
  CHECK(contains(said(), "2 of 2 runs were in"));
  folder.file("mine.lua", order("-- changed\n"));
  CHECK_FALSE(contains(said(), "were in"));
}

TEST_CASE("a variant that fails costs itself, is told, and is tried again") {
  const Folder folder;
  const std::string scenario = folder.file(
      "fit.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { model = { 'llama-3.1-8b', "
      "'llama-3.1-70b' } },\n"
      "  workload = require 'workloads.poisson' { num_requests = 5 } }\n");
  const std::string command =
      "run " + scenario + " --results " + folder.file("r.sqlite") + " --json -";
  const Said said = rooflua::test::rooflua(command + " --quiet 2>/dev/null");
  CHECK(said.status == 1);
  const Json document = parse_json(said.text, "run");
  CHECK(document.find("variants")->items().size() == 1);
  CHECK(contains(document.find("failed")->items()[0].find("problem")->text(), "does not fit"));
  const Said again = rooflua::test::rooflua(command + " 2>&1 >/dev/null");
  CHECK(contains(again.text, "1 of 2 runs were in"));
  CHECK(contains(again.text, "does not fit"));
  CHECK(contains(again.text, "1 of 2 runs are missing"));
}

TEST_CASE("a variant that fails costs itself, whatever it fails of, with any number of jobs") {
  const Folder folder;
  const std::string file = folder.file(
      "a.lua",
      "local policy = require 'rooflua.policy'\n"
      "local Mine = policy.define { name = 'mine', doc = 'Fails in three ways.', source = 'test',\n"
      "  params = { way = { default = 0, doc = 'which' } } }\n"
      "function Mine:plan(replica, plan)\n"
      "  if self.way == 1 then error 'tired' end\n"
      "  if self.way == 2 then error 'not enough memory' end\n"
      "  plan:decode_all()\n"
      "  local waiting = replica:waiting()\n"
      "  for i = 1, #waiting do plan:admit(waiting[i], waiting[i].pending_tokens) end\n"
      "end\n"
      "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200', scheduler = Mine {},\n"
      "  workload = require 'workloads.poisson' { num_requests = 5 },\n"
      "  vary = { ['scheduler.way'] = { 0, 1, 2, 3 } } }\n");
  const auto all = [&](const std::string& options) {
    return rooflua::test::rooflua("run " + file + " --quiet " + options);
  };
  const Said alone = all("2>&1"), workers = all("--jobs 2 2>&1");
  INFO(alone.text);
  CHECK(alone.status == 1);
  CHECK(contains(alone.text, "\nway=0 "));  // its row of the table
  CHECK(contains(alone.text, "\nway=3 "));
  CHECK(contains(alone.text, "way=1: " + file + ":5: tired"));
  CHECK(contains(alone.text, "not enough memory"));
  CHECK(contains(alone.text, "\nway=2: FAILED\n"));
  CHECK(workers.status == alone.status);
  CHECK(workers.text == alone.text);
  const Json document = parse_json(all("--json - 2>/dev/null").text, "run");
  CHECK(document.find("variants")->items().size() == 2);
  CHECK(document.find("failed")->items().size() == 2);
  CHECK(document.find("failed")->items()[0].find("name")->text() == "way=1");
  CHECK(document.find("partial") == nullptr);
  const std::string page = folder.file("a.html");
  all("--html " + page + " --json - 2>/dev/null");
  CHECK(contains(folder.text("a.html"), "tired"));
}

TEST_CASE("what all variants fail of is said once, and a table of none is none") {
  const Folder folder;
  const std::string head =
      "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
      "  workload = require 'workloads.poisson' { num_requests = 5 },\n";
  const std::string same =
      folder.file("a.lua", head + "  router = 'nearest', vary = { seed = { 1, 2 } } }\n");
  const std::string other =
      folder.file("b.lua", head + "  vary = { model = { 'llama-3.1-70b', 'deepseek-v3' } } }\n");
  for (const char* jobs : {" 2>&1", " --jobs 2 2>&1"}) {
    const Said said = rooflua::test::rooflua("run " + same + " --quiet" + jobs);
    CHECK(said.status == 1);
    CHECK(contains(said.text, "nearest"));
    CHECK(said.text.find("unknown") == said.text.rfind("unknown"));
    const Said both = rooflua::test::rooflua("run " + other + " --quiet" + jobs);
    CHECK(both.status == 1);
    CHECK(contains(both.text, "model=llama-3.1-70b: FAILED"));
    CHECK(contains(both.text, "model=deepseek-v3: FAILED"));
  }
}

TEST_CASE("a worker that is killed costs its variant") {
  const Folder folder;
  const std::string file = folder.file(
      "a.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { ['workload.num_requests'] = { "
      "5, 3, 6 } },\n"
      "  scheduler = require 'own' {}, workload = require 'workloads.poisson' {} }\n");
  folder.file("own.lua",
              "local policy = require 'rooflua.policy'\n"
              "local Own = policy.define { name = 'own', doc = 'd', source = 's', params = {} }\n"
              "function Own:plan(replica, plan)\n"
              "  plan:decode_all()\n"
              "  local waiting = replica:waiting()\n"
              "  for i = 1, #waiting do\n"
              "    if waiting[i].id == 5 then require('ffi').C.raise(9) end\n"
              "    plan:admit(waiting[i], waiting[i].pending_tokens)\n"
              "  end\n"
              "end\n"
              "require('ffi').cdef 'int raise(int);'\n"
              "return Own\n");
  const Said said = rooflua::test::rooflua("run " + file + " --trusted --jobs 2 --quiet 2>&1");
  INFO(said.text);
  CHECK(said.status == 1);
  CHECK(contains(said.text, "\nnum_requests=5 "));
  CHECK(contains(said.text, "\nnum_requests=3 "));
  CHECK(contains(said.text, "num_requests=6: its worker process died: Killed"));
}

TEST_CASE("a time limit costs one variant, in whichever process it runs") {
  const Folder folder;
  const std::string scenario = folder.file(
      "slow.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { ['workload.num_requests'] = { "
      "5, 1000000, 6 } },\n"
      "  workload = require 'workloads.poisson' { rate_per_s = 50 } }\n");
  const Said said =
      rooflua::test::rooflua("run " + scenario + " --timeout 0.5 --jobs 1 --results " +
                             folder.file("r.sqlite") + " --quiet --json - 2>/dev/null");
  CHECK(said.status == 1);
  const Json document = parse_json(said.text, "run");
  const auto& variants = document.find("variants")->items();
  REQUIRE(variants.size() == 3);
  CHECK(variants[0].find("partial") == nullptr);
  CHECK(variants[1].find("partial") != nullptr);  // what was known of it
  CHECK(variants[2].find("summary")->find("completed")->integer() == 6);
  CHECK(rows_in(folder.file("r.sqlite")) == 2);  // and it is not kept
}
