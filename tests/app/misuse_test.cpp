// Mistakes of new users, and attempts to break the program: each gives an error that names the
// place, and never a crash, a hang or an output file that is missing without a message.

#include <fstream>

#include "tests/app/program.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rooflua_misuse_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

/// Checks that the command fails with this status and that its message contains this text.
void refused(const std::string& arguments, int status, const std::string& text) {
  const Said said = rooflua::test::rooflua(arguments + " 2>&1");
  INFO(arguments << "\n" << said.text);
  CHECK(said.status == status);
  CHECK(contains(said.text, text));
  CHECK(!contains(said.text, "internal error"));
  CHECK(!contains(said.text, "stack traceback"));
}

std::string scenario(const std::string& more) {
  return "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
         "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 5, "
         "prompt_tokens = 300,\n    output_tokens = 8 },\n  " +
         more + " }\n";
}

std::string with_policy(const std::string& method, const std::string& where) {
  return "local policy = require 'rooflua.policy'\n"
         "local Odd = policy.define { name = 'odd', doc = 'x', params = {} }\n" +
         method + "\n" + scenario(where);
}

}  // namespace

TEST_CASE("options outside their range are usage errors that say the range") {
  const Folder folder;
  const std::string run = "run " + folder.file("s.lua", scenario("")) + " --quiet ";
  refused(run + "--seed 99999999999999999999999", 2, "from 0 to 2147483647");
  refused(run + "--seed -1", 2, "from 0 to 2147483647");
  refused(run + "--timeout -1", 2, "expected a number from 0");
  refused(run + "--timeout nan", 2, "expected a number from 0");
  refused(run + "--strict=nan", 2, "from 0 to 100");
  refused(run + "--strict=-5", 2, "from 0 to 100");
  refused("diff a b --tolerance nan", 2, "expected a number >= 0");
  refused(run + "--set seed=9007199254740992", 1, "from 0 to 2147483647");
}

TEST_CASE("output that does not reach its place is an error, also on standard output") {
  const Folder folder;
  const std::string run = "run " + folder.file("s.lua", scenario("")) + " --quiet ";
  refused(run + "--json " + folder.path.string(), 1, "it is a folder");
  refused(run + "--json /dev/full", 1, "/dev/full: cannot be written");
  refused("check " + folder.file("c.lua", scenario("")) + " --json /dev/full", 1,
          "cannot be written");
  refused("step --model qwen3-8b --hardware h200 --decode 1x1 --json /dev/full", 1,
          "cannot be written");
  for (const std::string& command : {run, run + "--json -", std::string("list models"),
                                     std::string("data describe h200"), std::string("help run")}) {
    const Said said = rooflua::test::rooflua(command + " 2>&1 >/dev/full");
    INFO(command << "\n" << said.text);
    CHECK(said.status == 1);
    CHECK(contains(said.text, "standard output"));
  }
}

TEST_CASE("no output goes over an input or over another output") {
  const Folder folder;
  const std::string text = scenario(""), file = folder.file("s.lua", text);
  const std::string run = "run " + file + " --quiet ", page = (folder.path / "page").string();
  refused(run + "--html " + file, 1, "s.lua: cannot be written: the command reads it");
  refused(run + "--html " + (folder.path / "../" / folder.path.filename() / "s.lua").string(), 1,
          "the command reads it");
  refused(run + "--html " + page + " --json " + page, 1, "page: cannot be written: two outputs");
  refused(run + "--json " + page + " --write llm-d=" + page, 1, "two outputs would go to it");
  refused("check " + file + " --json " + file, 1, "the command reads it");
  CHECK(!std::filesystem::exists(page));
  std::ifstream kept(file);
  CHECK(std::string(std::istreambuf_iterator<char>(kept), {}) == text);
  CHECK(rooflua::test::rooflua(run + "--json /dev/null --html /dev/null").status == 0);
}

TEST_CASE("a results file that spares a run tells of the files that the run would have written") {
  const Folder folder;
  const std::string run = "run " + folder.file("s.lua", scenario("")) + " --quiet --results " +
                          (folder.path / "kept.sqlite").string();
  CHECK(rooflua::test::rooflua(run).status == 0);
  refused(run + " --requests " + (folder.path / "late.csv").string(), 1,
          "late.csv was not written");
  refused(run + " --why 3", 2, "--why: follows a run as it goes");
  CHECK(rooflua::test::rooflua(run).status == 0);
}

TEST_CASE("empty, binary and missing files are told as that") {
  const Folder folder;
  const std::string good = folder.file("good.json", "{\"x\": 1}");
  refused("diff " + good + " " + folder.file("empty.json", ""), 1, "is empty");
  refused("diff " + good + " " + folder.path.string(), 1, "is a folder");
  refused("run nowhere.lua", 1, "there is no such file");
  refused("step --decode 1x1 --model qwen3-8b --hardware " + folder.file("hardware.toml", ""), 1,
          "is empty");
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += static_cast<char>(i * 7919 % 251 + 1);
  const Said said = rooflua::test::rooflua("run " + folder.file("binary.lua", bytes) + " 2>&1");
  CHECK(said.status == 1);
  for (const char c : said.text) CHECK((c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7F)));
}

TEST_CASE("a folder without tables, and tables that cannot be put anywhere, are told") {
  const Folder folder;
  refused(
      "step --model qwen3-8b --hardware h200 --decode 1x1 --set mfu.path=" + folder.path.string(),
      1, "holds no tables in layout rooflua");
  refused("data import bench_data/h20 --layout rooflua --gpu h20 --to " + folder.file("file", "x"),
          1, "file");
}

TEST_CASE("settings of nothing are refused, not ignored") {
  const Folder folder;
  const std::string step = "step --model qwen3-8b --hardware h200 --decode 1x1 ";
  refused(step + "--set corrections.x=1", 1, "the scenario has no corrections");
  refused(step + "--set deployment.tp=2", 1, "say --tp");
  refused("new .", 1, "expected a name");
  refused("new -- -x", 1, "expected a name");
}

TEST_CASE("variants without a number of their own or with equal names are refused") {
  const Folder folder;
  const auto both = [&](const std::string& more, const std::string& text) {
    const std::string file = folder.file("v.lua", scenario(more));
    refused("check " + file, 1, text);
    refused("run " + file, 1, text);
  };
  both("vary = { seed = { 1, 2, 1 } }", "values 1 and 3 are both called 'seed=1'");
  both(
      "vary = { model = { { label = 'a', value = 'qwen3-8b' }, { label = 'a', value = "
      "'qwen3-14b' } } }",
      "both called 'model=a'");
  both("sweep = { n = 1e9, params = { ['workload.rate_per_s'] = { 1, 5 } } }", "at most 100000");
  both(
      "sweep = { n = 90000, params = { ['workload.rate_per_s'] = { 1, 5 } } }, "
      "vary = { seed = { 1, 2 } }",
      "more than 100000 variants");
}

TEST_CASE("check finds what is wrong with a search without running it") {
  const Folder folder;
  const auto finds = [&](const std::string& search, const std::string& text) {
    refused(
        "check " + folder.file("q.lua", scenario("kind = 'search', search = { " + search + " }")),
        1, text);
  };
  finds("goal = 'rat'", "did you mean 'rate'");
  finds("slo = { ttft_s_p9 = 1 }, min = 1, max = 3", "did you mean 'ttft_s_p90'");
  finds("slo = { ttft_s_p99 = 1 }, min = 30, max = 3", "min 30 is above max 3");
  finds("slo = { ttft_s_p99 = 1 }, min = 1, max = 3, tolerance = 0", "tolerance");
  finds("goal = 'pareto'", "vary: of what?");
  finds("goal = 'cheapest', slo = { ttft_s_p99 = 1 }", "deployments");
}

TEST_CASE("a policy that returns nonsense is named, with what it returned") {
  const Folder folder;
  const auto says = [&](const std::string& method, const std::string& where,
                        const std::string& text) {
    refused("run " + folder.file("p.lua", with_policy(method, where)), 1, text);
  };
  says("function Odd:time() return 0/0 end", "steps = Odd {}", "step model odd: time(batch) must");
  says("function Odd:time() return 'x' end", "steps = Odd {}", "found text \"x\"");
  says("function Odd:step(_, t) return -t end", "corrections = { Odd {} }",
       "correction odd: step(batch, time_s) must");
  says("function Odd:route() return 7 end", "router = Odd {}, replicas = 2",
       "router odd: route returned 7");
  says("function Odd:plan() end function Odd:key() return 'x' end", "scheduler = Odd {}",
       "scheduler odd: key(request) must return a finite number; found text \"x\"");
  says("function Odd:plan() error { 1 } end", "scheduler = Odd {}", "not text but a table");
}

TEST_CASE("a malformed benchmark file is told by its key, never by a line of the library") {
  const Folder folder;
  const std::string run = "calibrate " + folder.file("s.lua", scenario("")) +
                          " --evaluations 2 --params steps.host_step_s --measured ";
  const auto says = [&](const std::string& text, const std::string& complaint) {
    refused(run + folder.file("m.json", text), 1, complaint);
  };
  const std::string lists = "{\"input_lens\": [10, 20], \"output_lens\": [3, 4], ";
  says(lists + "\"ttfts\": [0.1]}",
       "m.json: ttfts: expected an entry for each of 2 requests, found 1");
  says(lists + "\"ttfts\": [0.1, \"x\"]}", "ttfts[2]: expected a number, found text");
  says(lists + "\"ttfts\": [0.1, 0.2], \"itls\": 5}", "itls: expected a list");
  says(lists + "\"ttfts\": [0.1, 0.2], \"itls\": [[0.1], [-1]]}", "itls[2]");
  says(lists + "\"ttfts\": [0.1, 0.2], \"start_times\": [null, 1]}", "start_times[1]");
  says(
      "{\"mean_ttft_ms\": \"x\", \"completed\": 3, \"total_input_tokens\": 9, "
      "\"total_output_tokens\": 9}",
      "mean_ttft_ms: expected a number above 0");
  says("{\"mean_ttft_ms\": 5, \"completed\": 3, \"total_input_tokens\": 9}", "total_output_tokens");
  says("{\"mean_ttft_ms\": 5", "m.json:1");
}

TEST_CASE("a misspelt option or command of a command is told with what it may have meant") {
  refused("run a.lua --timout 1", 2, "run: unknown option '--timout'; did you mean '--timeout'?");
  refused("step --model x --hardwar=y", 2,
          "unknown option '--hardwar'; did you mean '--hardware'?");
  refused("--versio", 2, "unknown option '--versio'; did you mean '--version'?");
  refused("data lst", 2, "data: unknown command 'lst'; did you mean 'list'?");
}

TEST_CASE("a file that is not there is told with the one that is called like it") {
  const Folder folder;
  const std::string file = folder.file("chat.lua", scenario("vary = { seed = { 1, 2 } }"));
  refused("run " + (folder.path / "chatt.lua").string(), 1, "did you mean '" + file + "'?");
  refused("diff " + file + "x " + file, 1, "chat.luax: there is no such file");
  refused("calibrate " + file + " --measured m.csv", 1,
          "chat.lua: vary: calibrate needs one variant, found 2");
}

TEST_CASE("what a policy is given as, or asks for, is never passed over") {
  const Folder folder;
  const std::string slow =
      "local Slow = require 'rooflua.policy'.define { name = 'slow', doc = 'd' }\n"
      "function Slow:op(op, time_s) if op.knd == 'gemm' then return 2 * time_s end return time_s "
      "end\n";
  const auto run = [&](const std::string& more) {
    return "run --quiet " + folder.file("slow.lua", slow + scenario(more));
  };
  refused(run("corrections = Slow"), 1, "slow.lua:6: corrections: expected a list of corrections");
  refused(run("corrections = { slow = Slow {} }"), 1, "found the key text \"slow\"");
  refused(run("corrections = { Slow {} }"), 1,
          "slow.lua:2: an op: unknown field 'knd'; did you mean 'kind'?");
  refused(run("steps = require 'steps.roofline_v2' {}, bucketing = Slow {}"), 1,
          "slow.lua:6: bucketing: slow has no groups method");
}

TEST_CASE("a policy beside the scenario is found by its name, and its mistakes are its own") {
  const Folder folder;
  std::filesystem::create_directories(folder.path / "schedulers");
  folder.file(
      "schedulers/lifo.lua",
      "local Lifo = require 'rooflua.policy'.define { name = 'lifo', doc = 'Newest first.',\n"
      "  extends = require 'schedulers.vllm_v1' }\n"
      "function Lifo:key(request) return -request.arrival_s end\nreturn Lifo\n");
  folder.file("schedulers/broken.lua", "local x = = 1\n");
  const std::string file = folder.file("s.lua", scenario("scheduler = 'lifo'"));
  CHECK(rooflua::test::rooflua("run --quiet " + file).status == 0);
  refused("run --quiet --set scheduler=broken " + file, 1,
          "broken.lua:1: unexpected symbol near '='");
  refused("run --quiet --set scheduler=lif " + file, 1,
          "unknown policy of schedulers 'lif'; did you mean 'lifo', 'sjf'?");
}
