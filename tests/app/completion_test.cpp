// Completion in three shells, and the manual page: both come from the commands of the program.

#include <cstdlib>
#include <fstream>

#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::string offered(const std::string& words) {
  return "\n" + rooflua::test::rooflua("__complete " + words + " 2>&1").text;
}

bool is_there(const std::string& tool) {
  const bool found = std::system(("command -v " + tool + " > /dev/null 2>&1").c_str()) == 0;
  if (!found) WARN("SKIPPED: there is no " << tool);
  return found;
}

/// What a command of the shell prints; the program is found by its name.
std::string shell(const std::string& command) {
  const std::string folder = std::filesystem::path(ROOFLUA_PROGRAM).parent_path().string();
  const std::string whole =
      "cd '" + source_dir().string() + "' && PATH='" + folder + "':\"$PATH\" " + command + " 2>&1";
  std::string out = "\n";
  FILE* pipe = popen(whole.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

}  // namespace

TEST_CASE("commands, options, names and files are offered where they may stand") {
  CHECK(contains(offered("ru"), "\nrun\t"));
  CHECK_FALSE(contains(offered("ru"), "\nstep\t"));
  CHECK(contains(offered("run --j"), "\n--jobs\t"));
  CHECK(contains(offered("run ''"), "\n:files\n"));
  CHECK(contains(offered("run scenarios/02_chunk_size.lua --html ''"), "\n:files\n"));
  CHECK(contains(offered("step --model llama-3.1-"), "\nllama-3.1-8b\n"));
  CHECK(contains(offered("step --hardware=h2"), "\n--hardware=h200-sxm\n"));
  CHECK(contains(offered("step --steps k"), "\nkernels\t"));
  CHECK(contains(offered("list sch"), "\nschedulers\n"));
  CHECK(contains(offered("help steps.k"), "\nsteps.kernels\n"));
  CHECK(contains(offered("data ver"), "\nverify\t"));
  CHECK(contains(offered("new mine --kind ro"), "\nrouter\n"));
  for (const char* kind : {"bucketing", "engine", "lookup", "plan", "speculator", "steps"})
    CHECK(contains(offered("new mine --kind ''"), "\n" + std::string(kind) + "\n"));
  CHECK(contains(offered("help capab"), "\ncapabilities\n"));
  CHECK(contains(offered("completion ''"), "\nzsh\n"));
}

TEST_CASE("--set is completed with the keys and values of the scenario") {
  const std::string run = "run scenarios/02_chunk_size.lua --set ";
  CHECK(contains(offered(run + "workload.rate"), "\nworkload.rate_per_s=\t4"));
  CHECK(contains(offered(run + "workload.rate_per_s="), "\nworkload.rate_per_s=4\n"));
  CHECK(contains(offered(run + "hardware=h2"), "\nhardware=h200-sxm\n"));
  CHECK(contains(offered("step --set host_st"), "\nhost_step_s=\t"));
}

TEST_CASE("a line that cannot be completed is answered with nothing") {
  for (const char* line : {"", "nonsense x", "run /nowhere.lua --set a", "step --tp ''"}) {
    INFO(line);
    const Said said = rooflua::test::rooflua(std::string("__complete ") + line + " 2>&1");
    CHECK(said.status == 0);
    CHECK_FALSE(contains(said.text, "rooflua: "));
  }
  CHECK(offered("step --tp ''") == "\n");
  CHECK(rooflua::test::rooflua("completion tcsh 2>&1").status == 1);
}

TEST_CASE("bash completes commands, and values after an equals sign") {
  if (!is_there("bash")) return;
  const auto complete = [](const std::string& line) {
    return shell("bash --norc -c 'source <(rooflua completion bash); COMP_LINE=\"" + line +
                 "\"; COMP_POINT=${#COMP_LINE}; _rooflua; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  };
  CHECK(complete("rooflua ru") == "\nrun\n");
  CHECK(contains(complete("rooflua step --model llama-3.1-"), "\nllama-3.1-70b\n"));
  CHECK(complete("rooflua run scenarios/02_chunk_size.lua --set hardware=h200") == "\nh200-sxm\n");
  CHECK(contains(complete("rooflua run scenarios/02_"), "\nscenarios/02_chunk_size.lua\n"));
}

TEST_CASE("zsh reads its script") {
  if (!is_there("zsh")) return;
  CHECK(shell("rooflua completion zsh > /tmp/_rooflua_test.$$; zsh -n /tmp/_rooflua_test.$$; echo "
              "$?; rm /tmp/_rooflua_test.$$") == "\n0\n");
  // compadd is replaced by a function that prints what it is given.
  const std::string said = shell(
      "zsh -f -c 'autoload -U compinit; compinit -u -D; source <(rooflua completion zsh); "
      "compadd() { local -a all; all=(${(P)@[-1]}); print -l -- $all }; words=(rooflua ru); "
      "CURRENT=2; _rooflua'");
  CHECK(said == "\nrun\n");
}

TEST_CASE("fish completes commands and names") {
  if (!is_there("fish")) return;
  const auto complete = [](const std::string& line) {
    return shell("fish -N -c 'rooflua completion fish | source; complete -C \"" + line + "\"'");
  };
  CHECK(contains(complete("rooflua ru"), "\nrun\t"));
  CHECK(contains(complete("rooflua list sch"), "\nschedulers\n"));
}

TEST_CASE("the manual page has every command and option, and no mistake that mandoc sees") {
  const std::string page = rooflua::test::rooflua("help --man").text;
  CHECK(contains(page, ".TH ROOFLUA 1"));
  CHECK(contains(page, "\\fB\\-\\-jobs\\fR \\fIN\\fR"));
  CHECK(contains(page, "\\fB\\-\\-rate\\fR \\fINUMBER\\fR"));
  for (const char* part : {".SS run\n", ".SS data verify\n", "\\fB\\-\\-jobs\\fR", "EXIT STATUS"})
    CHECK(contains(page, part));
  const ScratchFolder folder;
  const std::string file = folder.path() / "rooflua.1";
  std::ofstream(file) << page;
  if (!is_there("mandoc")) return;
  CHECK(shell("mandoc -Tlint -W warning '" + file + "'") == "\n");
  CHECK(contains(shell("mandoc -Tutf8 '" + file + "' | col -b"), "rooflua step"));
}
