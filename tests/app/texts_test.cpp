// Names and titles that would control the terminal, break a document or differ from run to run are
// refused before anything runs; what comes from elsewhere is shown as text.

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::string write(const std::string& name, const std::string& text) {
  const std::filesystem::path path = scratch() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

/// A scenario with these keys. `\x1b` and the like are escapes of Lua.
std::string scenario(const std::string& keys, const std::string& before = "") {
  return write("s.lua", before +
                            "\nreturn { rooflua = 1, model = 'llama-3.1-8b', hardware = "
                            "'h200-sxm',\n  workload = require 'workloads.poisson' { "
                            "rate_per_s = 50, num_requests = 5, prompt_tokens = 20, "
                            "output_tokens = 3 },\n  " +
                            keys + " }\n");
}

bool is_clean(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return false;
  }
  return text.find("0x7") == std::string::npos;
}

}  // namespace

TEST_CASE("titles and names are UTF-8 without control characters") {
  const std::pair<std::string, std::string> wrong[] = {
      {"title = 'red \\27[31m'", "title: expected UTF-8 without control characters"},
      {"title = 'cut\\0here'", "title: expected UTF-8 without control characters"},
      {"title = 'caf\\233'", "found text \"caf\\xe9\""},
      {"vary = { seed = { { label = 'a\\27[2J', value = 1 }, 2 } }", "label: expected UTF-8"},
      {"vary = { seed = { { label = {}, value = 1 }, 2 } }", "label: expected text, found a table"},
      {"kind = 'price', price = { { name = 'b\\255', decodes = 1, decode_context_tokens = 9 } }",
       "name: expected UTF-8"}};
  for (const auto& [keys, complaint] : wrong) {
    INFO(keys);
    for (const std::string command : {"run ", "check ", "run --jobs 2 --json - "}) {
      const Said said = rooflua::test::rooflua(command + scenario(keys) + " 2>&1");
      CHECK(said.status == 1);
      CHECK(contains(said.text, complaint));
      CHECK(is_clean(said.text));
    }
  }
  const Said said = rooflua::test::rooflua(
      "run " +
      scenario("scheduler = P {}",
               "local P = require 'rooflua.policy'.define { name = 'x\\27[1m', "
               "doc = 'd', extends = require 'schedulers.vllm_v1' }") +
      " 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "policy.define: name: expected UTF-8"));
}

TEST_CASE("values and errors without a plain name are shown as text, with jobs as without") {
  const std::string before =
      "local P = require 'rooflua.policy'.define { name = 'p', doc = 'd', extends = require "
      "'schedulers.vllm_v1', params = { tag = { default = '', doc = 'Any text.' } } }";
  const std::string file = scenario(
      "scheduler = P {}, vary = { ['scheduler.tag'] = { 'a\\255', 'b\\27[2J' } },\n"
      "report = function(r) return 'done\\0' .. r[1].parameters['scheduler.tag'] end",
      before);
  const Said one = rooflua::test::rooflua("run " + file + " 2>&1");
  const Said two = rooflua::test::rooflua("run --jobs 2 " + file + " 2>&1");
  CHECK(one.status == 0);
  CHECK(one.text == two.text);
  CHECK(is_clean(one.text));
  CHECK(contains(one.text, "tag=a\\xff"));
  CHECK(contains(one.text, "done\\x00"));
  const Said json = rooflua::test::rooflua("run --jobs 2 --quiet --json - " + file);
  CHECK_NOTHROW(parse_json(json.text, "json"));
  const Said failed = rooflua::test::rooflua(
      "run " +
      scenario("scheduler = P {}", before + "\nfunction P:plan() error('\\27[31m ' .. "
                                            "string.format('%s', 'x\\255')) end") +
      " 2>&1");
  CHECK(failed.status == 1);
  CHECK(contains(failed.text, "\\x1b[31m x\\xff"));
}

TEST_CASE("a class of a trace is UTF-8") {
  write("t.csv", "arrival_s,prompt_tokens,output_tokens,class\n0,10,3,chat\n1,10,3,caf\xE9\n");
  const std::string file = write("trace.lua",
                                 "return { rooflua = 1, model = 'llama-3.1-8b', hardware = "
                                 "'h200-sxm', workload = require 'workloads.trace' { path = "
                                 "'t.csv' } }\n");
  const Said said = rooflua::test::rooflua("run " + file + " 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "t.csv:3"));
  CHECK(contains(said.text, "is not UTF-8 (byte 0xE9)"));
}

TEST_CASE(
    "names of thousands of letters and control characters of a command line are not repeated") {
  const std::string name(5000, 'x');
  for (const std::string& command :
       {"check " + name, "run " + name, "--" + name, "step --" + name, "validate " + name,
        "step --model llama-3.1-8b --hardware h100 --decode 1x1 --set steps." + name + "=1",
        "step --model " + name + " --hardware h100 --decode 1x1", std::string("--'\x1b[31m'red"),
        std::string("check '\x1b[31m'red"), std::string("step --tp '\x1b[31m'red")}) {
    INFO(command.substr(0, 80));
    const Said said = rooflua::test::rooflua(command + " 2>&1");
    CHECK((said.status == 1 || said.status == 2));
    CHECK(said.text.size() < 2000);
    CHECK(contains(said.text, command.size() > 1000 ? "x...x" : "red"));
    CHECK(is_clean(said.text));
  }
}
