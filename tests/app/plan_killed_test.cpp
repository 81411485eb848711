// A plan that was killed, or told to end, goes on from its file of results: the same answer, and
// only what was missing is run.

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/app/at_terminal.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = rooflua::test::scratch() / "plan_killed";
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

/// A plan of some seconds: eight candidates in all rounds of the search, with probabilities.
const char* const scenario =
    "return { rooflua = 1, kind = 'plan', model = 'llama-3.1-8b', seed = 3,\n"
    "  workload = require 'workloads.presets' { preset = 'chatbot' },\n"
    "  plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.02 },\n"
    "    gpus = { { 'h100-sxm', most = 8, price_per_hour = 3 } }, requests = 1000,\n"
    "    replicates = 10, candidates = require 'candidates.ladder' { tp = { 1, 2 },\n"
    "      max_num_seqs = { 64, 128 }, max_num_batched_tokens = { 512, 2048 } } } }\n";

/// N of "N pieces of work were in FILE already".
int reused(const std::string& messages) {
  const std::size_t end = messages.find(" pieces of work were in ");
  REQUIRE(end != std::string::npos);
  const std::size_t begin = messages.rfind(' ', end - 1) + 1;
  return std::stoi(messages.substr(begin, end - begin));
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a plan that was killed goes on from its results, and runs only what was missing",
          "[long]") {
  const Folder folder;
  const std::string plan = folder.file("plan.lua"), messages = folder.file("messages");
  std::ofstream(plan) << scenario;
  const auto answer = [&](const std::string& name, const std::string& results) {
    const Said said =
        rooflua::test::rooflua("plan " + plan + " --jobs 2 --json " + folder.file(name) +
                               (results.empty() ? "" : " --results " + results) + " 2>" + messages);
    INFO(read(messages));
    REQUIRE(said.status == 0);
    return said.text + read(folder.file(name));
  };
  const std::string undisturbed = answer("undisturbed.json", "");
  const std::string kept = folder.file("kept.sqlite");
  CHECK(answer("kept.json", kept) == undisturbed);
  CHECK(reused(read(messages)) == 0);
  CHECK(answer("again.json", kept) == undisturbed);
  const int all = reused(read(messages));
  CHECK(all > 20);

  for (const int signal : {SIGKILL, SIGTERM}) {
    int before = 0;
    for (const std::string sign : {"rung 1", "replicates"}) {
      INFO("signal " << signal << " at " << sign);
      const std::string results = folder.file("stopped" + std::to_string(signal) + ".sqlite");
      const std::string copy = folder.file("copy.sqlite");
      const Said stopped = at_terminal({"plan", plan, "--jobs", "2", "--results", results}, sign, 1,
                                       [signal](pid_t child, int) { kill(child, signal); });
      CHECK(stopped.status == 128 + signal);
      for (const char* end : {"", "-wal", "-shm"}) {
        std::error_code absent;
        fs::remove(copy + end, absent);
        fs::copy_file(results + end, copy + end, absent);
      }
      CHECK(answer("resumed.json", copy) == undisturbed);
      const int there = reused(read(messages));
      CHECK(there >= before);
      CHECK(there > 0);
      CHECK(there < all);
      before = there;
      CHECK(answer("complete.json", copy) == undisturbed);
      CHECK(reused(read(messages)) == all);
    }
  }
}
