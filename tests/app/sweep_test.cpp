// Sweeps of the program that are killed at any point and resumed give the same results as sweeps
// that were not killed.

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/random.h"
#include "measure/store/result_store.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr std::int64_t run_count = 24;

/// A folder for one test, removed at its end.
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
  return std::filesystem::exists(file) ? ResultStore(file, ResultStore::Use::write).count() : 0;
}

/// Starts a sweep on two workers; its messages go to the file `said`. None of its files may grow
/// beyond `most_bytes`: a longer write is cut there, and the program is killed.
pid_t start(const std::string& scenario, const std::string& results, const std::string& said,
            rlim_t most_bytes = RLIM_INFINITY) {
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process != 0) return process;
  const rlimit size{most_bytes, most_bytes}, no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (chdir(source_dir().c_str()) != 0 || std::freopen(said.c_str(), "w", stderr) == nullptr ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setrlimit(RLIMIT_FSIZE, &size) != 0)
    _exit(1);
  execl(ROOFLUA_PROGRAM, "rooflua", "run", scenario.c_str(), "--results", results.c_str(), "--jobs",
        "2", static_cast<char*>(nullptr));
  _exit(1);
}

int status_of(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a sweep killed at ten random points, and in ten of its writes, ends as a whole one",
          "[long]") {
  const Folder folder;
  const std::string scenario = folder.file("sweep.lua", sweep);
  const Said whole = rooflua::test::rooflua("run " + scenario + " --quiet --json -");
  REQUIRE(whole.status == 0);
  int in_the_middle = 0;
  const auto resume = [&](const std::string& results) {
    const std::string command = "run " + scenario + " --results " + results + " --jobs 2 --json ";
    const Said resumed = rooflua::test::rooflua(command + folder.file("json") + " 2>&1 >/dev/null");
    CHECK(resumed.status == 0);
    CHECK(folder.text("json") == whole.text);
    if (contains(resumed.text, "of 24 runs were in") && !contains(resumed.text, "24 of 24"))
      ++in_the_middle;
    CHECK(rows_in(results) == run_count);
    const Said again = rooflua::test::rooflua(command + "- 2>&1 >/dev/null");
    CHECK(contains(again.text, "24 of 24 runs were in"));
    CHECK(rooflua::test::rooflua(command + "- --quiet").text == whole.text);
  };
  const std::string finished = folder.file("finished.sqlite"), said = folder.file("said");
  REQUIRE(status_of(start(scenario, finished, said)) == 0);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(finished));
  RandomStream stream = random_stream(1, "kill points", 0);
  for (int i = 0; i < 10; ++i) {
    const std::int64_t rows = uniform_integer(stream, 0, run_count - 1);
    const std::string results = folder.file("killed" + std::to_string(i) + ".sqlite");
    const pid_t process = start(scenario, results, said);
    while (rows_in(results) < rows && waitpid(process, nullptr, WNOHANG) == 0) usleep(500);
    ::kill(process, SIGKILL);
    status_of(process);
    INFO("killed when " << rows << " rows were seen");
    resume(results);
  }
  // The places of the kills above depend on the clock. The following do not: half of a write is in
  // the file, as after a power cut.
  in_the_middle = 0;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t bytes = uniform_integer(stream, 0, size - 1);
    const std::string results = folder.file("cut" + std::to_string(i) + ".sqlite");
    INFO("killed at " << bytes << " of " << size << " bytes");
    CHECK(status_of(start(scenario, results, said, static_cast<rlim_t>(bytes))) == 128 + SIGXFSZ);
    resume(results);
  }
  CHECK(in_the_middle >= 5);  // enough kills came before the end of the sweep
}

TEST_CASE("Ctrl-C ends a sweep, says what is missing, and leaves what is known") {
  const Folder folder;
  const std::string scenario = folder.file(
      "endless.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { ['workload.num_requests'] = { "
      "5, 1e9, 6 } },\n"
      "  workload = require 'workloads.poisson' { rate_per_s = 20 } }\n");
  const std::string results = folder.file("r.sqlite"), said = folder.file("said");
  const pid_t process = start(scenario, results, said);
  while (rows_in(results) < 2 && waitpid(process, nullptr, WNOHANG) == 0) usleep(5000);
  ::kill(process, SIGINT);
  CHECK(status_of(process) == 130);
  INFO(folder.text("said"));
  CHECK(contains(folder.text("said"), "PARTIAL"));
  CHECK(contains(folder.text("said"), "the same command runs only those"));
  CHECK(rows_in(results) == 2);
  const std::string again = "run " + scenario + " --timeout 0.5 --results " + results;
  CHECK(contains(rooflua::test::rooflua(again + " 2>&1").text, "2 of 3 runs were in"));
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
  CHECK(contains(other.text, "3 rows of other scenarios, options or builds"));
  folder.file("twice.lua", policy + "-- changed\n");
  CHECK_FALSE(contains(reused("").text, "were in"));
  folder.file("twice.lua", policy);
  CHECK(contains(reused("").text, "3 of 3 runs were in"));
  folder.file("sweep.lua", text + "-- changed\n");
  CHECK(contains(reused("").text, "3 of 3 runs were in"));  // a remark is no content
  text.replace(text.find("{ 1, 2, 3 }"), 11, "{ 1, 2, 3, 4 }");
  folder.file("sweep.lua", text);
  CHECK(contains(reused("").text, "3 of 4 runs were in"));
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
  CHECK(contains(said(), "1 of 2 runs were in"));  // that of vllm_v1 does not read it
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
  CHECK(variants[1].find("partial") != nullptr);  // its partial results are reported
  CHECK(variants[2].find("summary")->find("completed")->integer() == 6);
  CHECK(rows_in(folder.file("r.sqlite")) == 2);  // and it is not kept
}
