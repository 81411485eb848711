// Reports at a terminal: its width, its colour, progress with its total; and what a pipe gets.

#include <pty.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "tests/app/at_terminal.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

struct Screen {
  int columns = 100;
  const char* terminal = "xterm";
  const char* no_color = "";
};

/// Runs the program at a terminal. @return what it wrote, with line breaks as in a file
Said at_terminal(const std::vector<std::string>& arguments, const Screen& screen) {
  winsize size{};
  size.ws_row = 40;
  size.ws_col = static_cast<unsigned short>(screen.columns);
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("TERM", screen.terminal, 1);
    setenv("NO_COLOR", screen.no_color, 1);
    become_program(arguments);
  }
  Said said;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = ::read(master, buffer.data(), buffer.size())) > 0;)
    said.text.append(buffer.data(), static_cast<std::size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  close(master);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  for (std::size_t at; (at = said.text.find("\r\n")) != std::string::npos;) said.text.erase(at, 1);
  return said;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    longest = std::max(longest, end - start);
  return longest;
}

const std::vector<std::string> chunks{"run", "scenarios/02_chunk_size.lua", "--quiet"};
const std::vector<std::string> step{"step", "--model",  "llama-3.1-8b", "--hardware",
                                    "h100", "--decode", "100x8",        "--explain"};

std::vector<std::string> with(std::vector<std::string> words, const std::string& more) {
  words.push_back(more);
  return words;
}

}  // namespace

TEST_CASE("tables fit the terminal, and --wide and a pipe get all of them") {
  const std::string piped = rooflua::test::rooflua("run scenarios/02_chunk_size.lua --quiet").text;
  CHECK(contains(piped, "unsupported\n"));
  const Said narrow = at_terminal(chunks, {80, "dumb"});
  CHECK(narrow.status == 0);
  CHECK(longest_line(narrow.text) <= 80);
  CHECK(contains(narrow.text, "TPOT p99 ms\n"));
  CHECK(contains(narrow.text, "(not shown: TPOT p50 ms, E2E mean "));
  CHECK(contains(narrow.text, "--wide shows all)"));
  CHECK(at_terminal(chunks, {200, "dumb"}).text == piped);
  CHECK(at_terminal(with(chunks, "--wide"), {80, "dumb"}).text == piped);
  const std::string steps = at_terminal(step, {90, "dumb"}).text;
  CHECK_FALSE(contains(steps, "rests on\n"));
  CHECK(contains(steps, "--wide shows all)"));
  for (const int columns : {60, 80, 100}) {
    const std::string text = at_terminal(step, {columns, "dumb"}).text;
    const std::size_t head = text.find("\nop ") + 1;
    const std::string line = text.substr(head, text.find('\n', head) - head);
    CHECK(line.size() <= static_cast<std::size_t>(columns));
    CHECK(contains(line, "time us    share"));
  }
}

TEST_CASE("goodput and the scenario's own metrics are shown at any width") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "own.lua";
  std::ofstream(file)
      << "local Mine = require 'rooflua.policy'.define { name = 'chat_ok',\n"
         "  doc = 'One.', unit = '1' }\n"
         "function Mine:value() return 1 end\n"
         "return { model = 'llama-3.1-8b', hardware = 'h200', slo = { ttft_s = 1 },\n"
         "  workload = require 'workloads.poisson' { num_requests = 5 },\n"
         "  metrics = { chat_ok = Mine {} },\n"
         "  vary = { ['scheduler.max_num_seqs'] = { 8, 16 } } }\n";
  for (const int columns : {20, 40, 60, 80}) {
    const Said said = at_terminal({"run", file, "--quiet"}, {columns, "dumb"});
    INFO(said.text);
    CHECK(said.status == 0);
    CHECK(contains(said.text, "goodput/s"));
    CHECK(contains(said.text, "chat_ok"));
  }
}

TEST_CASE("the metrics that a search and a sensitivity were asked for are shown at any width") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "search.lua";
  const std::string scenario =
      "return { kind = 'search', model = 'llama-3.1-8b', hardware = 'h200',\n"
      "  workload = require 'workloads.poisson' { num_requests = 20 }, search = { ";
  const auto shown = [&](const std::string& search, int columns) {
    std::ofstream(file) << scenario << search << " } }";
    const Said said = at_terminal({"run", file, "--quiet"}, {columns, "dumb"});
    INFO(said.text);
    CHECK(said.status == 0);
    return said.text;
  };
  const std::string rate = shown(
      "goal = 'rate', min = 1, max = 2, checks = 0, slo = { ttft_s_p99 = 1, tpot_s_p99 = 1 }, show = { "
      "'queue_s_p90', 'e2e_s_p99' }",
      40);
  const std::size_t head = rate.find("workload.rate_per_s ");
  REQUIRE(head != std::string::npos);
  const std::string heads = rate.substr(head, rate.find('\n', head) - head);
  for (const char* metric : {"ttft_s_p99", "tpot_s_p99", "queue_s_p90", "e2e_s_p99"})
    CHECK(contains(heads, metric));
  const std::string moved = shown(
      "goal = 'sensitivity', params = { 'steps.sampler_s' }, metrics = { 'ttft_s_p99', "
      "'e2e_s_mean', 'tpot_s_p99' }",
      60);
  for (const char* metric : {"ttft_s_p99", "e2e_s_mean", "tpot_s_p99"}) CHECK(contains(moved, metric));
  CHECK(contains(moved, "(not shown: "));
}

TEST_CASE("a table of a command without --wide says where all of it is") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "s.lua", results = folder.path() / "s.sqlite";
  std::ofstream(file) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                         "  title = 'A title that is long enough for a narrow terminal',\n"
                         "  workload = require 'workloads.poisson' { num_requests = 5 } }\n";
  CHECK(rooflua::test::rooflua("run " + file + " --quiet --results " + results).status == 0);
  const Said narrow = at_terminal({"results", "list", results}, {80, "dumb"});
  INFO(narrow.text);
  CHECK(contains(narrow.text, "; a pipe shows all)"));
  CHECK(contains(rooflua::test::rooflua("results list " + results).text, "scenario\n"));
}

TEST_CASE("colour is written where a terminal wants it") {
  const auto coloured = [](const Screen& screen) {
    return contains(at_terminal(step, screen).text, "\x1b[");
  };
  CHECK(coloured({200, "xterm"}));
  CHECK_FALSE(coloured({200, "xterm", "1"}));
  CHECK_FALSE(coloured({200, "dumb"}));
  CHECK_FALSE(contains(rooflua::test::rooflua("step --model llama-3.1-8b --hardware h100 --decode "
                                              "100x8 --explain 2>&1")
                           .text,
                       "\x1b["));
}

TEST_CASE("the progress of a run tells of how many requests, and that of a sweep which variant") {
  const ScratchFolder folder;
  const std::string sweep = folder.path() / "sweep.lua", replay = folder.path() / "replay.lua";
  std::ofstream(sweep) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                          "  vary = { ['scheduler.max_num_seqs'] = { 8, 16 } },\n"
                          "  workload = require 'workloads.poisson' { num_requests = 2000,\n"
                          "    rate_per_s = 20, prompt_tokens = 200, output_tokens = 20 } }\n";
  const Said said = at_terminal({"run", sweep}, {120, "dumb"});
  CHECK(contains(said.text, "2 of 2: max_num_seqs=16"));
  CHECK(contains(said.text, " of 2,000"));
  std::ofstream(replay) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                           "  workload = require 'workloads.trace' { path = '"
                        << (source_dir() / "scenarios/traces/bursty_chat.csv").string()
                        << "' } }\n";
  CHECK(contains(at_terminal({"run", replay}, {120, "dumb"}).text, " of 600"));
}

TEST_CASE("calibrate shows from its start how much is done, and nothing where nobody looks") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "one.lua", measured = folder.path() / "one.json";
  std::ofstream(file) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                         "  workload = require 'workloads.poisson' { num_requests = 20,\n"
                         "    rate_per_s = 20, prompt_tokens = 200, output_tokens = 20 } }\n";
  REQUIRE(rooflua::test::rooflua("run " + file + " --quiet --requests " + measured).status == 0);
  const std::vector<std::string> command{"calibrate", file,       "--measured",
                                         measured,    "--params", "steps.host_step_s",
                                         "--evaluations", "5"};
  const Said said = at_terminal(command, {100, "dumb"});
  CHECK(contains(said.text, "\rcalibrate  [ "));
  CHECK(contains(said.text, "]    0 %  0 of 5"));
  CHECK_FALSE(contains(at_terminal(with(command, "--quiet"), {100, "dumb"}).text, "0 of 5"));
  const Said piped = rooflua::test::rooflua("calibrate " + file + " --measured " + measured +
                                            " --params steps.host_step_s --evaluations 5 2>&1");
  CHECK_FALSE(contains(piped.text, "0 of 5"));
}

TEST_CASE("many missing variants are one line") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "many.lua";
  std::ofstream(file) << "return { model = 'llama-3.1-8b', hardware = 'h200',\n"
                         "  workload = require 'workloads.poisson' { num_requests = 1e9 },\n"
                         "  vary = { ['scheduler.max_num_seqs'] = { 1, 2, 3, 4, 5, 6, 7 } } }\n";
  const Said said = rooflua::test::rooflua("run " + file + " --timeout 0.3");
  CHECK(said.status == 1);
  CHECK(contains(said.text,
                 "6 of 7 variants: PARTIAL: not run (max_num_seqs=2 ... "
                 "max_num_seqs=7)\n"));
  CHECK_FALSE(contains(said.text, "max_num_seqs=3"));
}

TEST_CASE("variants that fail of the same are one line") {
  const ScratchFolder folder;
  const std::string file = folder.path() / "fail.lua";
  std::ofstream(file)
      << "local Mine = require 'rooflua.policy'.define { name = 'mine',\n"
         "  doc = 'Fails.', extends = require 'schedulers.vllm_v1' }\n"
         "function Mine:plan(replica, plan) error('tired', 0) end\n"
         "return { model = 'llama-3.1-8b', hardware = 'h200', seed = 1,\n"
         "  workload = require 'workloads.poisson' { num_requests = 5 },\n"
         "  vary = { scheduler = { 'vllm_v1', { label = 'm1', value = Mine {} },\n"
         "    { label = 'm2', value = Mine {} }, { label = 'm3', value = Mine {} },\n"
         "    { label = 'm4', value = Mine {} } } } }\n";
  const Said said = rooflua::test::rooflua("run " + file + " 2>&1");
  INFO(said.text);
  CHECK(said.status == 1);
  CHECK(contains(said.text, "4 of 5 variants: FAILED ("));
  CHECK(contains(said.text, " and 3 others: "));
}
