#include <fstream>
#include <map>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::string temporary(const std::string& name, const std::string& text) {
  const auto path = rooflua::test::scratch() / name;
  std::ofstream(path) << text;
  return path.string();
}

const char* small_run =
    "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200', seed = 5,\n"
    "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 40, prompt_tokens "
    "= 300,\n"
    "    output_tokens = { distribution = 'uniform', min = 5, max = 40 } },\n"
    "  vary = { ['scheduler.max_num_seqs'] = { 4, 8, 16 } } }\n";

}  // namespace

TEST_CASE("the program says its version and what it can do") {
  CHECK(contains(rooflua::test::rooflua("--version").text, "rooflua 0."));
  CHECK(contains(rooflua::test::rooflua("help").text, "step"));
  CHECK(contains(rooflua::test::rooflua("help run").text, "--strict"));
  CHECK(rooflua::test::rooflua("nonsense 2>&1").status == 2);
  CHECK(rooflua::test::rooflua("run 2>&1").status == 2);
}

TEST_CASE("a time has a unit that fits, and no exponent") {
  const std::string step = "step --model llama-3.1-8b --hardware h100 ";
  const std::string slow = rooflua::test::rooflua(step + "--prefill 0+130000 --explain").text;
  CHECK(contains(slow, " s ("));
  for (const std::string& text : {slow, rooflua::test::rooflua(step + "--decode 1x1").text}) {
    INFO(text);
    CHECK(contains(text, "step: "));
    CHECK_FALSE(contains(text, "e+"));
    CHECK_FALSE(contains(text, "e-0"));
  }
}

TEST_CASE("every kind of name can be listed") {
  const std::pair<const char*, const char*> kinds[] = {{"models", "llama-3.1-8b"},
                                                       {"hardware", "h200-sxm"},
                                                       {"steps", "kernels"},
                                                       {"schedulers", "vllm_v1"},
                                                       {"routers", "round_robin"},
                                                       {"workloads", "closed_loop"},
                                                       {"lookups", "latency_linear"},
                                                       {"bucketing", "pow2"},
                                                       {"corrections", "prefill_divisor"},
                                                       {"speculators", "goodput"},
                                                       {"acceptance", "per_position"},
                                                       {"drafters", "eagle"},
                                                       {"deciders", "always"}, {"balancers", "eplb"}};
  for (const auto& [kind, name] : kinds) {
    const Said said = rooflua::test::rooflua(std::string("list ") + kind);
    CHECK(said.status == 0);
    CHECK(contains(said.text, name));
  }
  const Said unknown = rooflua::test::rooflua("list model 2>&1");
  CHECK(unknown.status == 1);
  CHECK(contains(unknown.text, "did you mean 'models'"));
}

TEST_CASE("list models says how large each is, in which formats, and what its layers are") {
  const std::string text = rooflua::test::rooflua("list models").text;
  const auto line_of = [&](const std::string& model) {
    const std::size_t at = text.find("\n" + model + " ");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  const std::string oss = line_of("gpt-oss-120b");
  for (const char* part :
       {"117B", "5.7B", "131072", "36864", "mxfp4, bf16", "18 window 128 + 18 full"})
    CHECK(oss.find(part) != std::string::npos);
  CHECK(line_of("deepseek-v3").find("fp8_block / nvfp4") != std::string::npos);
  CHECK(line_of("llama-3.1-8b").find("32 full") != std::string::npos);
}

TEST_CASE("a step is priced op by op, and its shares of evidence add up") {
  const Said said = rooflua::test::rooflua(
      "step --model llama-3.1-8b --hardware h200 --decode 2048x64,512x8 --prefill 0+512 --json -");
  REQUIRE(said.status == 0);
  const Json document = parse_json(said.text, "step");
  const Json& price = document.find("variants")->items()[0].find("price")->items()[0];
  CHECK(price.find("time_s")->number() > 1e-3);
  double sum = 0;
  for (const Json::Member& share : price.find("evidence")->members()) sum += share.value.number();
  CHECK(sum == Approx(1.0).epsilon(1e-12));
  double rows_s = 0;
  for (const Json& row : price.find("rows")->items()) rows_s += row.find("time_s")->number();
  CHECK(rows_s == Approx(price.find("time_s")->number()).epsilon(1e-9));
}

TEST_CASE("a wrong step says which option and what would be right") {
  const auto message = [](const std::string& arguments) {
    const Said said =
        rooflua::test::rooflua("step --model llama-3.1-8b --hardware h200 " + arguments + " 2>&1");
    CHECK(said.status == 1);
    return said.text;
  };
  CHECK(contains(message("--decode 2048"), "CTXxCOUNT"));
  CHECK(contains(message("--decode 2048x0"), "CTXxCOUNT"));
  CHECK(contains(message("--prefill -1+3"), "CTX+NEW"));
  CHECK(contains(message(""), "nothing to price"));
  CHECK(contains(message("--decode 1x1 --tp 3"), "tp"));
  CHECK(contains(message("--decode 1x1 --steps kernel"), "did you mean 'kernels'"));
  CHECK(contains(message("--decode 1x1 --set host_step=1"), "host_step_s"));
}

TEST_CASE("a GPU of a family without a fit says so, under the report and in the document") {
  const std::string note =
      "modelled kernels: constants fitted on Hopper (H100, H200), none on Ampere";
  const std::string step =
      "step --model llama-3.1-8b --engine 'vllm 0.24' --decode 2048x64 --hardware ";
  CHECK(rooflua::test::rooflua(step + "a100").text.find(note + "\n") != std::string::npos);
  CHECK(rooflua::test::rooflua(step + "h200").text.find("constants fitted") == std::string::npos);
  const Json notes =
      *parse_json(rooflua::test::rooflua(step + "a100 --json -").text, "a100").find("variants");
  REQUIRE(notes.items().at(0).find("notes") != nullptr);
  CHECK(notes.items().at(0).find("notes")->items().at(0).text() == note);
  const Said run = rooflua::test::rooflua("run scenarios/01_hello.lua --set hardware=a100 --html " +
                                          (scratch() / "a100.html").string());
  CHECK(run.text.find(note + "\n") != std::string::npos);
  std::ifstream page(scratch() / "a100.html");
  const std::string html{std::istreambuf_iterator<char>(page), {}};
  CHECK(html.find(note) != std::string::npos);
}

TEST_CASE("a constant of modelled kernels is set by its name, within its range") {
  const std::string step =
      "step --model llama-3.1-8b --decode 2048x64 --hardware h200 --set mfu.model.";
  CHECK(rooflua::test::rooflua(step + "kernel_launch_s=9e-6").status == 0);
  CHECK(rooflua::test::rooflua(step + "kernel_launch_s=9 2>&1")
            .text.find("mfu.model.kernel_launch_s: expected 0 to 5e-05 s, found 9") !=
        std::string::npos);
  CHECK(rooflua::test::rooflua(step + "kernel_lunch_s=9e-6 2>&1")
            .text.find("did you mean 'kernel_launch_s'?") != std::string::npos);
}

TEST_CASE("results do not depend on the number of jobs") {
  const std::string scenario = temporary("jobs.lua", small_run);
  const Said one = rooflua::test::rooflua("run " + scenario + " --json - --quiet");
  const Said two = rooflua::test::rooflua("run " + scenario + " --json - --quiet --jobs 2");
  const Said again = rooflua::test::rooflua("run " + scenario + " --json - --quiet --jobs 3");
  REQUIRE(one.status == 0);
  CHECK(one.text == two.text);
  CHECK(one.text == again.text);
  const Json document = parse_json(one.text, "run");
  REQUIRE(document.find("variants")->items().size() == 3);
  CHECK(document.find("variants")->items()[2].find("summary")->find("completed")->integer() == 40);
}

TEST_CASE("another seed gives another run, the same seed the same") {
  const std::string scenario = temporary("seed.lua", small_run);
  const auto run = [&](const std::string& more) {
    return rooflua::test::rooflua("run " + scenario + " --json - --quiet " + more).text;
  };
  CHECK(run("--seed 5") == run(""));
  CHECK(run("--seed 6") != run(""));
}

TEST_CASE("requests and timeline are written beside the report") {
  const std::string scenario = temporary("out.lua", small_run);
  const std::string csv = temporary("requests.csv", ""), trace = temporary("trace.json", "");
  const Said said = rooflua::test::rooflua("run " + scenario + " --quiet --set vary= --requests " +
                                           csv + " --trace " + trace + " 2>&1");
  INFO(said.text);
  CHECK(said.status == 1);  // vary is not a text
  const Said good = rooflua::test::rooflua("run " + scenario + " --quiet --requests " + csv +
                                           " --trace " + trace);
  CHECK(good.status == 0);
  const auto numbered = [](std::string path, const std::string& end) {
    return path.substr(0, path.size() - end.size()) + ".1" + end;
  };
  std::ifstream in(numbered(csv, ".csv"));
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) ++lines;
  CHECK(lines == 41);
  const Json timeline = read_json(numbered(trace, ".json"));
  std::map<std::string, int> names;
  for (const Json& event : timeline.find("traceEvents")->items())
    ++names[event.find("name")->text()];
  CHECK(names["decode, memory"] > 0);  // steps are named, and so coloured, by what bounds them
  CHECK(names["prefill, compute"] > 0);
  CHECK(names["request"] > 0);
}

TEST_CASE("mistakes in a scenario name file, key and what would be right") {
  const auto message = [](const std::string& text) {
    const Said said = rooflua::test::rooflua("run " + temporary("bad.lua", text) + " --quiet 2>&1");
    CHECK(said.status == 1);
    return said.text;
  };
  CHECK(contains(message("return { model = 'llama-3.1-8b', hardware = 'h200', workloat = 1 }"),
                 "did you mean 'workload'"));
  CHECK(contains(message("return { model = 'llama-3.1-8b', hardware = 'h200' }"),
                 "workload: is missing"));
  CHECK(contains(message("return 5"), "return a table"));
  CHECK(contains(message("return {"), "bad.lua:1"));
  CHECK(contains(message("rooflua_global = 3\nreturn {}"), "undeclared global"));
  CHECK(contains(
      message("return { model = 'llama-3.1-70b', hardware = 'h200', deployment = { tp = 1 }, "
              "workload = require 'workloads.poisson' {} }"),
      "GiB"));
  CHECK(contains(message("return { model = 'llama-3.1-8b', hardware = 'h200', rooflua = 99 }"),
                 "schema"));
  CHECK(contains(message("return { model = 'llama-3.1-8b', hardware = 'h200', workload = require "
                         "'workloads.poisson' "
                         "{ rate_per_s = -1 } }"),
                 "rate_per_s"));
}

TEST_CASE("a scheduler that talks nonsense ends the run with its line, not with a crash") {
  const auto message = [](const std::string& body) {
    const std::string text =
        "local policy = require 'rooflua.policy'\n"
        "local Bad = policy.define { name = 'bad', doc = 'x', params = {} }\n"
        "function Bad:plan(replica, plan)\n" +
        body +
        "\nend\n"
        "return { model = 'llama-3.1-8b', hardware = 'h200', scheduler = Bad {},\n"
        "  workload = require 'workloads.poisson' { num_requests = 5 } }\n";
    const Said said =
        rooflua::test::rooflua("run " + temporary("policy.lua", text) + " --quiet 2>&1");
    INFO(said.text);
    CHECK(said.status == 1);
    return said.text;
  };
  CHECK(contains(message("error('no idea')"), "no idea"));
  CHECK(contains(message("plan:admit(replica:waiting()[1], 0)"), "policy.lua:4"));
  CHECK(contains(message("plan:admit(nil, 1)"), "expected a request"));
  CHECK(contains(message("local r = replica:waiting()[1] plan:admit(r, 1) plan:admit(r, 1)"),
                 "only a waiting request"));
  CHECK(contains(message("return replica.nonsense"), "nonsense"));
  CHECK(contains(message(""), "starved"));
}

TEST_CASE("a user's own run calibrates a scenario in one command", "[long]") {
  const std::string text =
      "return { model = 'llama-3.1-8b', hardware = 'h200', async_depth = 1,\n"
      "  steps = require 'steps.kernels' { host_step_s = 0.003 },\n"
      "  workload = require 'workloads.poisson' { rate_per_s = 10, num_requests = 40,\n"
      "    prompt_tokens = 200, output_tokens = 20 } }\n";
  const std::string truth = temporary("truth.lua", text), csv = temporary("measured.csv", "");
  REQUIRE(rooflua::test::rooflua("run " + truth + " --quiet --requests " + csv).status == 0);
  const std::string command = "calibrate " + truth +
                              " --set steps.host_step_s=0.0007 --evaluations 240 --params "
                              "steps.host_step_s --measured ";
  const Said said = rooflua::test::rooflua(command + csv + " --json -");
  REQUIRE(said.status == 0);
  const Json document = parse_json(said.text, "calibrate");
  const Json& parameter = document.find("parameters")->items()[0];
  CHECK(parameter.find("before")->number() == 0.0007);
  CHECK(parameter.find("after")->number() == Approx(0.003).epsilon(0.02));
  const Json& error = *document.find("error");
  CHECK(error.find("after")->number() < error.find("before")->number());
  CHECK(error.find("left_out")->number() < 0.02);
  CHECK(contains(rooflua::test::rooflua(command + csv).text, "paste into the scenario"));
  CHECK(rooflua::test::rooflua(command + "nowhere.csv 2>&1").status == 1);
  CHECK(rooflua::test::rooflua("calibrate " + truth + " 2>&1").status == 2);
}

TEST_CASE("--explain shows a typical step of every variant, --why its request in every one") {
  const std::string file = temporary("explained.lua", small_run);
  const std::string command = "run " + file + " --quiet ";
  for (const char* jobs : {"", "--jobs 2 "}) {
    const Said plain = rooflua::test::rooflua(command + jobs);
    const Said explained = rooflua::test::rooflua(command + jobs + "--explain");
    const Said why = rooflua::test::rooflua(command + jobs + "--why 3");
    const std::string table = plain.text.substr(0, plain.text.rfind("\n\n"));  // then differences
    CHECK((explained.text.rfind(table, 0) == 0 && why.text.rfind(table, 0) == 0));
    for (const char* variant : {"4", "8", "16"}) {
      const std::string heading = std::string("\n== max_num_seqs=") + variant + "\n\n";
      CHECK(contains(explained.text, heading + "A typical step, the median by time of"));
      CHECK(contains(why.text, heading + "request 3 "));
    }
  }
  const Json document = parse_json(rooflua::test::rooflua(command + "--explain --json -").text, "");
  for (const Json& variant : document.find("variants")->items()) {
    const Json& step = *variant.find("explain");
    double sum_s = 0;
    for (const Json& row : step.find("rows")->items()) sum_s += row.find("time_s")->number();
    CHECK(sum_s >= 0.99 * step.find("time_s")->number());
    CHECK(step.find("time_s")->number() > 0);
  }
}

TEST_CASE("options that a kind of scenario has nothing for are refused, with status 2") {
  const std::string price = temporary("price.lua",
                                      "return { kind = 'price', model = 'llama-3.1-8b', hardware = "
                                      "'h200', price = { { decodes = 4, "
                                      "context_tokens = 100 } } }\n");
  const std::string search = temporary(
      "search.lua",
      "return { kind = 'search', model = 'llama-3.1-8b', hardware = 'h200', workload = require "
      "'workloads.poisson' { num_requests = 5 }, search = { goal = 'pareto', vary = { seed = { 1 } "
      "} } }\n");
  const std::string csv = (scratch() / "none.csv").string();
  for (const std::string& options :
       {price + " --requests " + csv, price + " --trace " + csv, price + " --why 3",
        search + " --requests " + csv, search + " --trace " + csv, search + " --why 3",
        search + " --explain"}) {
    const Said said = rooflua::test::rooflua("run " + options + " 2>&1");
    INFO(options << "\n" << said.text);
    CHECK(said.status == 2);
    CHECK(contains(said.text, "kind \""));
    CHECK_FALSE(std::filesystem::exists(csv));
  }
  const std::string serve = temporary("explained.lua", small_run);
  for (const char* option : {"--explain", "--why 3"}) {
    const Said said =
        rooflua::test::rooflua("run " + serve + " " + option + " --results " + csv + " 2>&1");
    CHECK(said.status == 2);
    CHECK(contains(said.text, "leave out --results"));
  }
  CHECK(rooflua::test::rooflua("lua 2>&1").status == 2);
}

TEST_CASE("two documents are compared within a tolerance") {
  const std::string a = temporary("a.json", "{\"x\": 1.0, \"y\": [1, 2]}"),
                    b = temporary("b.json", "{\"x\": 1.001, \"y\": [1, 2]}");
  CHECK(rooflua::test::rooflua("diff " + a + " " + a).status == 0);
  CHECK(rooflua::test::rooflua("diff " + a + " " + b).status == 1);
  CHECK(rooflua::test::rooflua("diff " + a + " " + b + " --tolerance 0.01").status == 0);
}

TEST_CASE("shipped scenarios are found to be right without running them") {
  const Said said = rooflua::test::rooflua("check scenarios/*.lua");
  INFO(said.text);
  CHECK(said.status == 0);
  CHECK(rooflua::test::rooflua("check tests/app/program.h 2>/dev/null").status == 1);
}

TEST_CASE("data compare holds two sets of tables against each other, both ways") {
  using rooflua::test::rooflua;
  const auto same = rooflua("data compare tests/fixtures/measured tests/fixtures/measured");
  CHECK(same.status == 0);
  CHECK(contains(same.text, "gemm_bf16\n  measured          6 rows  median 1.000"));
  const auto modelled = rooflua("data compare rtx-4090 tests/fixtures/measured");
  CHECK(modelled.status == 0);
  CHECK(contains(modelled.text, "latency that rtx-4090 answers, over the rows of tests/fixtures"));
  CHECK(contains(modelled.text, "modelled "));
  CHECK(contains(modelled.text, "rtx-4090 has no rows to hold tests/fixtures/measured against"));
  const auto mistake = rooflua("data compare h200-sxn tests/fixtures/measured 2>&1");
  CHECK(mistake.status == 1);
  CHECK(contains(mistake.text, "h200-sxm"));
  if (!test::have_shared("tables/aic")) return;
  const auto several = rooflua("data compare h200-sxm ../shared/data/tables/aic 2>&1");
  CHECK(several.status == 1);
  CHECK(contains(several.text, "say which"));
  CHECK(rooflua("data compare h200-sxm ../shared/data/tables/aic --gpu h200_sxm").status == 0);
}

TEST_CASE("data commands describe, verify and import") {
  CHECK(contains(rooflua::test::rooflua("data list").text, "h200-sxm"));
  CHECK(contains(rooflua::test::rooflua("data describe h200").text, "TFLOP/s"));
  CHECK(rooflua::test::rooflua("data verify nowhere 2>/dev/null").status == 1);
  if (!have_shared("tables/blis_h100/bench_data")) return;
  const Said verified =
      rooflua::test::rooflua("data verify ../shared/data/tables/blis_h100/bench_data");
  CHECK(verified.status == 1);
  CHECK(contains(verified.text, "mfu_zero"));
  const std::string to = temporary("imported", "");
  std::filesystem::remove(to);
  const Said imported = rooflua::test::rooflua(
      "data import ../shared/data/tables/blis_h100/bench_data --layout blis --gpu h100 --to " + to +
      " 2>&1");
  CHECK(imported.status == 0);
  CHECK(contains(imported.text, "attention_decode_bf16.csv: 82 rows left out"));
  CHECK(std::filesystem::exists(std::filesystem::path(to) / "h100" / "gemm_fp8.csv"));
  const Said clean = rooflua::test::rooflua("data verify " + to);
  CHECK(clean.status == 0);
  CHECK(!contains(clean.text, "duplicate_key"));
}

TEST_CASE("a livelock of vLLM's own ends with the reason, in seconds") {
  const std::string file = temporary(
      "livelock.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
      "  deployment = { kv_blocks = 10, prefix_caching = false },\n"
      "  workload = require 'workloads.vllm_bench' { request_rate = math.huge, num_prompts = 2,\n"
      "    random_input_len = 128, random_output_len = 8 },\n"
      "  scheduler = require 'schedulers.priority' { max_num_seqs = 8, max_num_batched_tokens = "
      "64,\n"
      "    long_prefill_token_threshold = 16, scheduler_reserve_full_isl = false } }\n");
  const Said said = rooflua::test::rooflua("run " + file + " --timeout 60 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "0 of 2 completed (2 starved)"));
  CHECK(!contains(said.text, "PARTIAL"));
  std::filesystem::remove(file);
}
