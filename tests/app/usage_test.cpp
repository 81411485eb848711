// What the program says without words, of words that it does not understand, and of topics of help.

#include <fstream>
#include <sstream>

#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

/// First words of the lines that completion offers.
std::vector<std::string> offered(const std::string& words) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(rooflua::test::rooflua("__complete " + words).text))
    out.push_back(line.substr(0, line.find('\t')));
  return out;
}

/// Every command with the commands inside it: "run", "data", "data import".
std::vector<std::string> all_commands() {
  std::vector<std::string> out;
  for (const std::string& command : offered("''")) {
    out.push_back(command);
    if (command != "data" && command != "results" && command != "campaign") continue;
    for (const std::string& inner : offered(command + " ''")) out.push_back(command + " " + inner);
  }
  return out;
}

Said refusal(const std::string& words) {
  return rooflua::test::rooflua(words + " 2>&1 >/dev/null </dev/null");
}

/// Checks that a line is refused with the status of wrong usage, and in our own words.
void misused(const std::string& words, const std::string& part) {
  const Said said = refusal(words);
  INFO(words << "\n" << said.text);
  CHECK(said.status == 2);
  CHECK(said.text.starts_with("rooflua: "));
  CHECK(contains(said.text, part));
}

}  // namespace

TEST_CASE("the program alone says what to do next, and all of it runs") {
  const Said said = rooflua::test::rooflua("2>&1");
  CHECK(said.status == 0);
  const ScratchFolder folder;
  int commands = 0;
  for (const std::string& line : lines_of(said.text)) {
    if (!line.starts_with("  rooflua ")) continue;
    ++commands;
    const std::string shell = "cd '" + folder.path().string() + "' && " ROOFLUA_PROGRAM " " +
                              line.substr(10) + " > out 2>&1";
    INFO(line);
    CHECK(std::system(shell.c_str()) == 0);
  }
  CHECK(commands >= 6);
  for (const std::string& command : offered("''")) CHECK(contains(said.text, command));
}

TEST_CASE("whatever is wrong with a line, the message begins with the program's name") {
  const auto commands = all_commands();
  CHECK(commands.size() > 20);
  for (const std::string& command : commands) {
    std::vector<std::string> lines{command, command + " --no-such-option"};
    for (const std::string& option : offered(command + " --")) {
      if (option == "--help") continue;
      lines.push_back(command + " " + option);
      lines.push_back(command + " " + option + "=");
    }
    for (const std::string& line : lines) {
      if (line == "lua --no-such-option") continue;  // a file's name
      const Said said = refusal(line);
      INFO(line << "\n" << said.text);
      CHECK((said.status == 0 || said.text.starts_with("rooflua: ")));
      CHECK_FALSE(contains(said.text, "Run with --help"));
    }
  }
}

TEST_CASE("a message says what is missing or wrong, and suggests") {
  misused("run", "run: scenario is missing: A Lua file");
  misused("step", "--hardware is missing: A shipped GPU");
  misused("data", "data: a command is missing: list, describe");
  misused("run x.lua --set", "--set has no value after it: key=value");
  misused("run x.lua --json a --json b", "--json is given 2 times; once is right: ");
  misused("run x.lua --jobs abc", "expected a whole number from 1 to 1024, found 'abc'");
  misused("run x.lua --jobs 1e3", "expected a whole number from 1 to 1024, found '1e3'");
  misused("run x.lua --why 2.5",
          "expected the number of a request, slowest, slowest_ttft, slowest_tpot or play:N, found "
          "'2.5'");
  misused("plan --rate 0", "expected a number from 0.000001 to 1000000000");
  misused("run x.lua --quiet=abc", "--quiet takes no value");
  misused("run x.lua --jbos 2", "unknown option '--jbos'; did you mean '--jobs'");
  misused("step decode 10x2 --hardware h100", "did you mean '--decode'?");
  misused("list models extra", "'extra' is one word too many");
  misused("results exprt", "did you mean 'export'?");
  misused("results export x --format jsn", "unknown value 'jsn'; did you mean 'json'");
  misused("rnu", "unknown command 'rnu'; did you mean 'run'?");
  const ScratchFolder folder;
  std::ofstream(folder.path() / "cases.csv") << "a\n";
  misused("validate " + (folder.path() / "casse.csv").string(), "there is no such file; did you");
}

TEST_CASE("help takes several words, and says what the library has beside a command") {
  const auto help = [](const std::string& topic) {
    const Said said = rooflua::test::rooflua("help " + topic + " 2>&1");
    INFO(topic << "\n" << said.text);
    CHECK(said.status == 0);
    return said.text;
  };
  CHECK(contains(help("data import"), "--thin"));
  CHECK(contains(help("vllm 0.19"), "vllm 0.19 on h100-sxm"));
  CHECK(contains(help("vllm 0.19 on b200"), "vllm 0.19 on b200"));
  CHECK(contains(help("engines"), "  sglang "));
  const std::string plan = help("plan");
  CHECK(contains(plan, "--slo"));
  for (const char* kind : {"candidates", "objectives", "strategies", "power", "capabilities"}) {
    CHECK(contains(plan, kind));
    CHECK_FALSE(help(kind).empty());
  }
  const Said unknown = rooflua::test::rooflua("help stpe 2>&1");
  CHECK(unknown.status == 1);
  CHECK(contains(unknown.text, "did you mean 'step'"));
}

TEST_CASE("list engines --age says when rules were last read, and the code that decides them") {
  const Said said = rooflua::test::rooflua("list engines --age");
  CHECK(said.status == 0);
  for (const char* part : {"last read", "vllm/engine/arg_utils.py: EngineArgs.get_batch_defaults",
                           "no file: pull requests, issues", "no file: fitted or assumed"})
    CHECK(contains(said.text, part));
  const Said models = rooflua::test::rooflua("list models --age 2>&1");
  CHECK(models.status != 0);
  CHECK(contains(models.text, "--age: belongs to `list engines`"));
}
