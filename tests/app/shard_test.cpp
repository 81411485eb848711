// Parts of a scenario's runs (`--shard`), each in a process of its own, put together again.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "measure/store/result_store.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = rooflua::test::scratch() / "shard";
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
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

/// 40 runs.
const char* sweep =
    "local rates = {}\nfor i = 1, 20 do rates[i] = i end\n"
    "return { rooflua = 1, title = 'Forty', seed = 5, model = 'llama-3.1-8b', hardware = 'h200',\n"
    "  engine = 'vllm 0.24',\n"
    "  workload = require 'workloads.poisson' { num_requests = 5, output_tokens = 3 },\n"
    "  vary = { ['workload.rate_per_s'] = rates, seed = { 1, 2 } },\n"
    "  report = function(results) return #results .. ' results' end }\n";

Said run(const std::string& arguments) {
  return rooflua::test::rooflua("run " + arguments);
}

}  // namespace

TEST_CASE("shards 1, 2, 3 and 7 of a sweep of 40, merged in any way, are the unsharded run",
          "[long]") {
  const Folder folder;
  const std::string scenario = folder.file("s.lua", sweep);
  const Said whole = run(scenario + " --quiet --json " + folder.file("whole.json"));
  REQUIRE(whole.status == 0);
  CHECK(contains(whole.text, "40 results"));
  for (const int count : {1, 2, 3, 7}) {
    const std::string results = folder.file("shards" + std::to_string(count));
    for (int i = count; i-- > 0;) {
      const Said said = run(scenario + " --quiet --shard " + std::to_string(i) + "/" +
                            std::to_string(count) + " --results " + results);
      INFO(said.text);
      CHECK(said.status == 0);
    }
    const std::string json = " --json " + folder.file("merged.json");
    const Said merged =
        run(scenario + " --results " + results + json + " 2>&1 >" + folder.file("merged.txt"));
    CHECK(contains(merged.text, "40 of 40 runs were in"));
    CHECK(folder.text("merged.txt") == whole.text);
    CHECK(folder.text("merged.json") == folder.text("whole.json"));
    const std::string file = folder.file("all" + std::to_string(count) + ".sqlite");
    CHECK(rooflua::test::rooflua("results merge " + file + " " + results).status == 0);
    CHECK(run(scenario + " --quiet --results " + file + " --json -").text ==
          folder.text("whole.json"));
  }
}

TEST_CASE("a shard that runs twice runs nothing, more shards than runs are no error") {
  const Folder folder;
  const std::string scenario = folder.file("s.lua", sweep);
  const std::string first = scenario + " --shard 0/3 --results " + folder.file("r");
  CHECK(run(first).status == 0);
  CHECK(contains(run(first + " 2>&1 >/dev/null").text, "14 of 14 runs were in"));
  const Said said = run(scenario + " --shard 99/100 --results " + folder.file("many") + " 2>&1");
  CHECK(said.status == 0);
  CHECK(contains(said.text, "0 of 40 runs are those of shard 99/100"));
  CHECK(contains(run(first + " --json -").text, "\"shard\""));
}

TEST_CASE("missing shards are named, and only they are run again") {
  const Folder folder;
  const std::string scenario = folder.file("s.lua", sweep), results = folder.file("r");
  for (const char* shard : {"0", "2", "3", "5"})
    CHECK(run(scenario + " --quiet --shard " + shard + "/7 --results " + results).status == 0);
  const std::string list = "results list " + results;
  CHECK(rooflua::test::rooflua(list + " --missing 7 2>/dev/null").text == "1,4,6\n");
  const Said rest = run(scenario + " --results " + results + " 2>&1 >/dev/null");
  CHECK(contains(rest.text, " of 40 runs were in"));
  CHECK(rooflua::test::rooflua(list + " --missing 7 2>&1").text ==
        "rooflua: no run is missing: all 40 are there\n");
}

TEST_CASE("engines say which shard, and what they say wrongly is told with what to do") {
  const Folder folder;
  const std::string scenario = folder.file("s.lua", sweep);
  const auto with = [&](const std::string& environment, const std::string& shard) {
    const std::string command = "cd " + source_dir().string() + " && env " + environment + " " +
                                ROOFLUA_PROGRAM + " run " + scenario + " --shard " + shard +
                                " --results " + folder.file("r") + " 2>&1 >/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> buffer;
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
    const int status = pclose(pipe);
    return Said{WEXITSTATUS(status), text};
  };
  const char* engines[][2] = {{"SLURM_ARRAY_TASK_ID=3", "3"},
                              {"SLURM_PROCID=2 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4", "2"},
                              {"SLURM_ARRAY_TASK_ID=3 SLURM_PROCID=0", "3"},
                              {"JOB_COMPLETION_INDEX=1", "1"},
                              {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=1", "1"},
                              {"PMI_RANK=2 PMI_SIZE=4", "2"},
                              {"SGE_TASK_ID=4", "3"},
                              {"PBS_ARRAY_INDEX=0", "0"},
                              {"LSB_JOBINDEX=1", "0"},
                              {"PARALLEL_SEQ=2", "1"},
                              // An array whose task starts one rank: the array says which.
                              {"SLURM_ARRAY_TASK_ID=2 OMPI_COMM_WORLD_RANK=0 "
                               "OMPI_COMM_WORLD_SIZE=1",
                               "2"}};
  for (const auto& [environment, shard] : engines) {
    const Said said = with(environment, "auto/4");
    INFO(environment << "\n" << said.text);
    CHECK(said.status == 0);
    CHECK(contains(said.text, std::string("shard ") + shard + " of 4, by "));
  }
  const char* wrong[][3] = {
      {"A=1", "auto/4", "no engine has said"},
      {"SGE_TASK_ID=undefined LSB_JOBINDEX=0", "auto/4", "no engine has said"},
      {"SLURM_ARRAY_TASK_ID=1 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", "auto/4",
       "SLURM_ARRAY_TASK_ID=1 and OMPI_COMM_WORLD_RANK=2; write --shard I/4"},
      {"SLURM_ARRAY_TASK_ID=4", "auto/4", "there are 4, from 0"},
      {"SLURM_ARRAY_TASK_ID=x", "auto/4", "is no number"},
      {"SLURM_ARRAY_TASK_ID=1", "auto", "--shard auto/16"},
      {"A=1", "4/4", "from 0 to N - 1"},
      {"A=1", "1/0", "expected I/N"},
      {"A=1", "-1/4", "expected I/N"},
      {"A=1", "1.5/4", "expected I/N"}};
  for (const auto& [environment, shard, part] : wrong) {
    const Said said = with(environment, shard);
    INFO(environment << " " << shard << "\n" << said.text);
    CHECK(said.status == 2);
    CHECK(contains(said.text, part));
  }
  CHECK(contains(run(scenario + " --shard 1/4 2>&1").text, "needs --results DIR"));
  CHECK(contains(run(scenario + " --shard 1/4 --results " + scenario + " 2>&1").text,
                 "name a folder"));
}

TEST_CASE("TERM is answered like Ctrl-C: what is known is printed, and the status is 143") {
  const Folder folder;
  const std::string scenario = folder.file(
      "endless.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', vary = { ['workload.num_requests'] = { "
      "5, 1e9, 6 } },\n"
      "  workload = require 'workloads.poisson' { rate_per_s = 20 } }\n");
  const std::string results = folder.file("r") + "/", said = folder.file("said");
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    if (chdir(source_dir().c_str()) != 0 || std::freopen(said.c_str(), "w", stderr) == nullptr ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      _exit(1);
    execl(ROOFLUA_PROGRAM, "rooflua", "run", scenario.c_str(), "--shard", "0/1", "--results",
          results.c_str(), "--jobs", "2", static_cast<char*>(nullptr));
    _exit(1);
  }
  const std::string file = results + "shard-000-of-001.sqlite";
  const auto rows = [&] {
    return fs::exists(file) ? ResultStore(file, ResultStore::Use::write).count() : 0;
  };
  while (rows() < 2 && waitpid(process, nullptr, WNOHANG) == 0) usleep(5000);
  kill(process, SIGTERM);
  int status = 0;
  waitpid(process, &status, 0);
  INFO(folder.text("said"));
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 143);
  CHECK(contains(folder.text("said"), "PARTIAL"));
  CHECK(contains(folder.text("said"), "the same command runs only those"));
  CHECK(rows() == 2);
}
