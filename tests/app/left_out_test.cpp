// The rows that a workload leaves out are reported in the text, in --json and on the page, once per
// file.

#include <fstream>
#include <sstream>

#include "base/json_text.h"
#include "tests/app/program.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A trace of five rows, two of which failed when it was recorded, and a scenario that replays it.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rooflua_left_out_" + std::to_string(getpid()));
  std::string line;  // the expected line of the report
  Folder() {
    std::filesystem::create_directories(path);
    write("burst.csv",
          "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
          "5,a,40,4,44,x\n6,a,40,0,40,x\n7,a,41,5,46,x\n8,a,40,0,40,x\n9,a,42,3,45,x\n");
    line = file("burst.csv") + ": 2 of 5 rows left out: 2 failed when recorded (first in line 3)";
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return file(name);
  }
  std::string scenario(const std::string& more, const std::string& trace = "burst.csv") const {
    return write("s.lua",
                 "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
                 "  workload = require 'workloads.trace' { path = '" +
                     trace + "' },\n" + more + " }\n");
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

void check_entry(const Json& variant) {
  const Json* list = variant.find("left_out");
  REQUIRE(list != nullptr);
  REQUIRE(list->items().size() == 1);
  const Json& left = list->items().front();
  CHECK(left.find("total")->integer() == 5);
  CHECK(left.find("count")->integer() == 2);
  CHECK(left.find("reasons")->items().front().find("first_line")->integer() == 3);
}

}  // namespace

TEST_CASE("rows that are not replayed are said in the report, in the document and on the page") {
  const Folder folder;
  const std::string run = "run " + folder.scenario("");
  const Said said = rooflua::test::rooflua(run + " --json " + folder.file("o.json") + " --html " +
                                           folder.file("o.html") + " 2>/dev/null");
  INFO(said.text);
  CHECK(said.status == 0);
  CHECK(times(said.text, folder.line) == 1);
  CHECK(times(folder.read("o.html"), "2 of 5 rows left out") == 1);
  const Json document = parse_json(folder.read("o.json"), "o.json");
  check_entry(document.find("variants")->items().front());
  const Said quiet = rooflua::test::rooflua(run + " --quiet 2>&1");
  CHECK(times(quiet.text, "left out") == 0);
  const Said json = rooflua::test::rooflua(run + " --quiet --json - 2>/dev/null");
  check_entry(parse_json(json.text, "-").find("variants")->items().front());
}

TEST_CASE("a sweep says it once, in this process, in workers and from a results file") {
  const Folder folder;
  const std::string run = "run " + folder.scenario("vary = { seed = { 1, 2, 3 } }");
  const std::string kept = " --results " + folder.file("r.sqlite");
  for (const std::string& how : {std::string(), std::string(" --jobs 2"), kept, kept}) {
    const Said said =
        rooflua::test::rooflua(run + how + " --json " + folder.file("o.json") + " 2>/dev/null");
    INFO(how << "\n" << said.text);
    CHECK(said.status == 0);
    CHECK(times(said.text, "left out") == 1);
    CHECK(times(said.text, folder.line) == 1);
    const Json document = parse_json(folder.read("o.json"), "o.json");
    for (const Json& variant : document.find("variants")->items()) check_entry(variant);
  }
}

TEST_CASE("files are told apart, and of one that is read in parts the most is said") {
  const Folder folder;
  folder.write("other.csv", "arrival_s,prompt_tokens,output_tokens\n0,5,5\n1,5,0\n");
  const Said files = rooflua::test::rooflua(
      "run " + folder.scenario("vary = { ['workload.path'] = { 'burst.csv', 'other.csv' } }") +
      " 2>/dev/null");
  INFO(files.text);
  CHECK(times(files.text, folder.line) == 1);
  CHECK(times(files.text, "other.csv: 1 of 2 rows left out: 1 no output (first in line 3)") == 1);
  const Said parts = rooflua::test::rooflua(
      "run " + folder.scenario("vary = { ['workload.limit'] = { 2, 3 } }") + " 2>/dev/null");
  INFO(parts.text);
  CHECK(times(parts.text, "burst.csv: up to 2 of 5 rows left out") == 1);
}

TEST_CASE("a search says it too") {
  const Folder folder;
  const Said said =
      rooflua::test::rooflua("run " +
                             folder.scenario("kind = 'search', search = { goal = 'pareto', vary = "
                                             "{ ['deployment.tp'] = { 1, 2 } } }") +
                             " --json " + folder.file("o.json") + " 2>/dev/null");
  INFO(said.text);
  CHECK(said.status == 0);
  CHECK(times(said.text, folder.line) == 1);
  check_entry(parse_json(folder.read("o.json"), "o.json").find("variants")->items().front());
}

TEST_CASE("check says it before anything runs") {
  const Folder folder;
  const Said said = rooflua::test::rooflua("check " + folder.scenario("") + " 2>&1");
  INFO(said.text);
  CHECK(said.status == 0);
  CHECK(times(said.text, folder.line) == 1);
}

TEST_CASE("a trace without such rows is no matter") {
  const Folder folder;
  folder.write("whole.csv", "arrival_s,prompt_tokens,output_tokens\n0,5,5\n");
  const Said said = rooflua::test::rooflua("run " + folder.scenario("", "whole.csv") + " --json " +
                                           folder.file("o.json") + " 2>&1");
  CHECK(said.status == 0);
  CHECK(!contains(said.text, "left out"));
  CHECK(!contains(folder.read("o.json"), "\"left_out\""));
}
