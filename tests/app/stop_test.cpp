// A run that is stopped reports its partial results. It is stopped by the time limit, by Ctrl-C at
// a terminal, and by a SIGINT that only the parent of the workers gets.

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/at_terminal.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = rooflua::test::scratch() / "stop";
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return file(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path / name).rdbuf();
    return text.str();
  }
};

/// A simulation that would take hours, so that it is certainly stopped before its end. `more` may
/// contain `scheduler = Loud {}`: vllm_v1 that prints "under way" when its replica has finished
/// requests.
std::string endless(const std::string& more = "") {
  return "local vllm_v1 = require 'schedulers.vllm_v1'\n"
         "local Loud = require 'rooflua.policy'.define { name = 'loud', doc = 'Says that it runs.',"
         " extends = vllm_v1 }\n"
         "function Loud:plan(replica, plan)\n"
         "  if replica.now_s > 5 and not self.said then self.said = true print 'under way' end\n"
         "  return vllm_v1.plan(self, replica, plan)\n"
         "end\n"
         "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200', seed = 5,\n"
         "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 1e9,\n"
         "    prompt_tokens = 300, output_tokens = { distribution = 'uniform', min = 5, max = 40 "
         "} },\n" +
         more + "}\n";
}

void press_ctrl_c(pid_t, int terminal) {
  REQUIRE(::write(terminal, "\x03", 1) == 1);
}

/// Checks `finished` and `sent` of a document's `partial` against its summary, and returns them.
void check_partial(const Json& variant, const std::string& by) {
  const Json* partial = variant.find("partial");
  REQUIRE(partial != nullptr);
  CHECK(partial->find("stopped_by")->text() == by);
  const Json& summary = *variant.find("summary");
  CHECK(partial->find("sent")->integer() == summary.find("requests")->integer());
  CHECK(partial->find("finished")->integer() == summary.find("completed")->integer());
  CHECK(partial->find("finished")->integer() > 0);
  CHECK(partial->find("clock_s")->number() >= summary.find("duration_s")->number());
}

}  // namespace

TEST_CASE("the time limit ends a run with what is known, in every file") {
  const Folder folder;
  const Said said = rooflua::test::rooflua(
      "run " + folder.write("a.lua", endless()) + " --timeout 0.4 --json " + folder.file("a.json") +
      " --requests " + folder.file("a.csv") + " --trace " + folder.file("t.json"));
  CHECK(said.status == 1);
  CHECK(contains(said.text, "PARTIAL: stopped by --timeout when the clock stood at "));
  CHECK(contains(said.text, "TTFT"));
  const Json document = parse_json(folder.read("a.json"), "a.json");
  CHECK(document.find("partial")->find("stopped_by")->text() == "timeout");
  const Json& variant = document.find("variants")->items().at(0);
  check_partial(variant, "timeout");
  const Json& partial = *variant.find("partial");
  const auto sent = static_cast<std::size_t>(partial.find("sent")->integer());
  const auto finished = static_cast<std::size_t>(partial.find("finished")->integer());
  const std::string rows = folder.read("a.csv");
  CHECK(count(rows, ",completed,") == finished);
  CHECK(count(rows, ",unfinished,") == sent - finished);
  const Json trace = parse_json(folder.read("t.json"), "t.json");
  CHECK(trace.find("otherData")->find("partial")->find("sent")->integer() ==
        static_cast<std::int64_t>(sent));
  const Said vllm = rooflua::test::rooflua("run " + folder.file("a.lua") +
                                           " --timeout 0.3 --requests " + folder.file("v.json"));
  CHECK(vllm.status == 1);
  const Json bench = parse_json(folder.read("v.json"), "v.json");
  CHECK(bench.find("partial")->find("stopped_by")->text() == "timeout");
  CHECK(bench.find("completed")->integer() > 0);
}

TEST_CASE("a limit that a run does not reach leaves no trace of itself") {
  const Folder folder;
  const std::string file =
      folder.write("a.lua",
                   "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
                   "  workload = require 'workloads.poisson' { num_requests = 20 } }\n");
  const Said with = rooflua::test::rooflua("run " + file + " --timeout 100 --json -");
  const Said without = rooflua::test::rooflua("run " + file + " --json -");
  CHECK(with.status == 0);
  CHECK(with.text == without.text);
  CHECK(!contains(with.text, "partial"));
}

TEST_CASE("a policy that never returns is stopped, and what came before it is reported") {
  const Folder folder;
  const std::string policy =
      "local policy = require 'rooflua.policy'\n"
      "local Stuck = policy.define { name = 'stuck', doc = 'stops thinking after a while',\n"
      "  params = { after_s = { default = 5, unit = 's', doc = 'then' } } }\n"
      "function Stuck:plan(replica, plan)\n"
      "  plan:decode_all()\n"
      "  local waiting = replica:waiting()\n"
      "  while #waiting > 0 do plan:admit(waiting[1], waiting[1].pending_tokens) end\n"
      "  while replica.now_s > self.after_s do end\n"
      "end\n";
  const std::string file = folder.write("a.lua", policy + endless("  scheduler = Stuck {}\n"));
  const Said said = rooflua::test::rooflua("run " + file + " --timeout 0.5 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "PARTIAL: stopped by --timeout when the clock stood at 5."));
  CHECK(contains(said.text, "a.lua:8: stopped after 0.5 s of CPU time"));
}

TEST_CASE("Ctrl-C at a terminal prints what is known and exits with 130") {
  const Folder folder;
  const Said said = at_terminal({"run", folder.write("a.lua", endless("  scheduler = Loud {}\n")),
                                 "--json", folder.file("a.json")},
                                "under way", 1, press_ctrl_c);
  CHECK(said.status == 130);
  CHECK(contains(said.text, "PARTIAL: stopped by Ctrl-C when the clock stood at "));
  CHECK(contains(said.text, "TTFT"));
  check_partial(parse_json(folder.read("a.json"), "a.json").find("variants")->items().at(0),
                "interrupt");
}

TEST_CASE("what stops while it loads is stopped at its line, a pattern too") {
  const Folder folder;
  const char* texts[] = {"while n >= 0 do n = n + 1 end",
                         "n = ('a'):rep(5000):find('.-.-.-.-.-.-x')"};
  for (const char* text : texts) {
    INFO(text);
    const std::string file =
        folder.write("a.lua", std::string("local n = 0\n") + text + "\nreturn {}\n");
    const Said said = rooflua::test::rooflua("run " + file + " --timeout 0.2 2>&1");
    CHECK(said.status == 1);
    CHECK(contains(said.text, "a.lua:2: stopped after 0.2 s of CPU time (--timeout)"));
  }
}

TEST_CASE("Ctrl-C before anything is known says so, and exits with 130 as well") {
  const Folder folder;
  const std::string file = folder.write(
      "a.lua", "local n = 0 print 'loads'\nwhile n >= 0 do n = n + 1 end\nreturn {}\n");
  const Said said = at_terminal({"run", file}, "loads", 1, press_ctrl_c);
  CHECK(said.status == 130);
  CHECK(contains(said.text, "interrupted"));
}

TEST_CASE("workers are stopped too, by the terminal and by a signal to the parent alone") {
  const Folder folder;
  setenv("NO_COLOR", "1", 1);
  const std::string file =
      folder.write("a.lua", endless("  vary = { ['scheduler.max_num_seqs'] = { 4, 8, 16 } },\n"
                                    "  scheduler = Loud {},\n"
                                    "  report = function(results) return results[3].name end\n"));
  const std::vector<std::string> arguments{"run", file,     "--jobs",
                                           "2",   "--json", folder.file("a.json")};
  const auto parent_alone = [](pid_t child, int) { kill(child, SIGINT); };
  for (const bool by_key : {true, false}) {
    const Said said = by_key ? at_terminal(arguments, "under way", 2, press_ctrl_c)
                             : at_terminal(arguments, "under way", 2, parent_alone);
    INFO(said.text);
    CHECK(said.status == 130);
    CHECK(contains(said.text, "max_num_seqs=4 (partial)"));
    CHECK(contains(said.text, "max_num_seqs=16: PARTIAL: not run"));
    const Json document = parse_json(folder.read("a.json"), "a.json");
    REQUIRE(document.find("variants")->items().size() == 2);
    for (const Json& variant : document.find("variants")->items())
      check_partial(variant, "interrupt");
    CHECK(document.find("partial")->find("not_run")->items().at(0).text() == "max_num_seqs=16");
  }
  unsetenv("NO_COLOR");
}

namespace {

/// A plan whose first candidate is found in a moment and whose second one would take hours. The
/// second one prints "under way" in its run.
std::string long_plan() {
  return "local policy = require 'rooflua.policy'\n"
         "local Two = policy.define { name = 'two', doc = 'Two candidates.' }\n"
         "function Two:each(question, emit)\n"
         "  emit { gpu = 1, tp = 1, max_num_seqs = 32, max_num_batched_tokens = 1024 }\n"
         "  emit { gpu = 1, tp = 2, max_num_seqs = 32, max_num_batched_tokens = 1024 }\n"
         "end\n"
         "local OneByOne = policy.define { name = 'one_by_one', doc = 'One after the other.' }\n"
         "function OneByOne:next(state)\n"
         "  local i = #state.results + 1\n"
         "  if not state.candidates[i] then return nil end\n"
         "  return { { candidate = i, requests = state.requests } }\n"
         "end\n"
         "local Slow = policy.define { name = 'slow', doc = 'Slow where tp is 2.' }\n"
         "function Slow:bind(context) self.tp = context.deployment.tp end\n"
         "function Slow:time(batch)\n"
         "  if self.tp == 2 then\n"
         "    if not self.said then self.said = true print 'under way' end\n"
         "    local n = 0\n"
         "    while n >= 0 do n = n + 1 end\n"
         "  end\n"
         "  return 0.004\n"
         "end\n"
         "return { rooflua = 1, kind = 'plan', model = 'llama-3.1-8b', seed = 1,\n"
         "  workload = require 'workloads.poisson' { prompt_tokens = 300, output_tokens = 20 },\n"
         "  steps = Slow {},\n"
         "  plan = { load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 1 }, requests = 100,\n"
         "    gpus = { { 'h100-sxm', most = 2, price_per_hour = 3 } }, candidates = Two {},\n"
         "    strategy = OneByOne {}, replicates = 10 } }\n";
}

}  // namespace

TEST_CASE("Ctrl-C tells the ranking of a plan so far, with `plan` and with `run`") {
  const Folder folder;
  setenv("NO_COLOR", "1", 1);
  const std::string file = folder.write("plan.lua", long_plan());
  const auto parent_alone = [](pid_t child, int) { kill(child, SIGINT); };
  for (const std::string command : {"plan", "run"}) {
    for (const std::string jobs : {"1", "2"}) {
      INFO(command << " --jobs " << jobs);
      std::vector<std::string> arguments{command, file,     "--jobs",
                                         jobs,    "--json", folder.file("p.json")};
      if (command == "plan") arguments.push_back("--all");
      const Said said = jobs == "1" ? at_terminal(arguments, "under way", 1, press_ctrl_c)
                                    : at_terminal(arguments, "under way", 1, parent_alone);
      INFO(said.text);
      CHECK(said.status == 130);
      CHECK(contains(said.text,
                     "PARTIAL: interrupted; 1 of 2 candidates that bounds left ran in full"));
      CHECK(contains(said.text, "1  1 x H100 (1 replica x tp 1), vllm, 32 seats, budget 1024"));
      const Json document = parse_json(folder.read("p.json"), "p.json");
      const Json* plan =
          command == "plan" ? &document : document.find("variants")->items().at(0).find("plan");
      CHECK_FALSE(plan->find("searched")->find("complete")->boolean());
      CHECK(plan->find("ranks")->items().size() == 1);
      if (command == "run") {
        CHECK(document.find("partial")->find("stopped_by")->text() == "interrupt");
      } else {
        CHECK(contains(said.text, "not run"));
        CHECK(contains(said.text, "the search was stopped"));
      }
    }
  }
  unsetenv("NO_COLOR");
}

TEST_CASE("with workers every variant has the time limit for itself") {
  const Folder folder;
  const std::string file =
      folder.write("a.lua", endless("  vary = { ['scheduler.max_num_seqs'] = { 4, 8, 16 } },\n"));
  const Said said = rooflua::test::rooflua("run " + file + " --jobs 2 --timeout 0.3 --json -");
  CHECK(said.status == 1);
  const Json document = parse_json(said.text, "stdout");
  REQUIRE(document.find("variants")->items().size() == 3);
  for (const Json& variant : document.find("variants")->items()) check_partial(variant, "timeout");
}
