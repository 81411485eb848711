// The prompt without a terminal: results only, a status, errors with line numbers.

#include "tests/app/program.h"

using namespace rooflua::test;

namespace {

Said piped(const std::string& text, const std::string& more = "") {
  return rooflua::test::rooflua("repl " + more + " <<'END'\n" + text + "\nEND\n");
}

}  // namespace

TEST_CASE("piped, it prints results and nothing else") {
  const Said said =
      piped("x = 6\nx * 7\nfor i = 1, 2 do\n  print(i)\nend\n'text'\nx;\n\n:quit\n99");
  CHECK(said.status == 0);
  CHECK(said.text == "42\n1\n2\n\"text\"\n");
}

TEST_CASE("piped, it goes on after an error, names its line, and ends with status 1") {
  const Said said = piped("1\n\nlocal function f()\n  error('here')\nend f()\n2", "2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "stdin:4: here"));
  CHECK(contains(said.text, "\n2\n"));
  CHECK(piped("for i = 1, 2 do", "2>/dev/null").status == 1);
  CHECK(piped("1", "no_such_scenario.lua 2>/dev/null").status == 1);
}

TEST_CASE("a scenario without a clock is priced") {
  const Said said = piped("#_.batches", "scenarios/01_hello.lua");
  CHECK(said.status == 0);
  CHECK(contains(said.text, "decode, 64 requests"));
  CHECK(contains(said.text, "gate_up"));
}

TEST_CASE("two sessions of the same lines say the same, byte for byte") {
  const std::string lines =
      ":until 20\n:fork b scheduler=sjf\n:until 60\n:diff\n:plot\n:explain\n:why 7\nsim:replica()";
  const Said first = piped(lines, "scenarios/03_schedulers.lua");
  CHECK(first.status == 0);
  CHECK(first.text == piped(lines, "scenarios/03_schedulers.lua").text);
}

TEST_CASE("a fork's name is a new one, and a refusal says what has it") {
  const Said said = piped(":fork two\n:fork two\n:fork print\n:fork 1x\n:fork",
                          "scenarios/03_schedulers.lua 2>&1");
  CHECK(contains(said.text, "'two' is the name of a simulation already"));
  CHECK(contains(said.text, "'print' is the name of a function already"));
  CHECK(contains(said.text, "cannot be called '1x'; expected letters"));
}

TEST_CASE("a simulation, metric or replica that is not there is named") {
  const Said said = piped(":step 3\n:fork b\n:diff one c\n:diff a b tttft\n:explain 9",
                          "scenarios/03_schedulers.lua 2>&1");
  INFO(said.text);
  CHECK(contains(said.text, "unknown simulation or metric 'one'"));
  CHECK(contains(said.text, "unknown simulation or metric 'tttft'; did you mean 'ttft'?"));
  CHECK(contains(said.text, "there is no replica 9; this simulation has 1"));
}

TEST_CASE(":price prices a batch as step does, and changes nothing of the simulation") {
  const std::string step =
      rooflua::test::rooflua("step --model llama-3.1-8b --hardware h200-sxm --prefill 0+4096").text;
  const std::string lines = ":until 20\n:price 0+512 2048x64\n:price 2048x64 1\n_.time_s\n";
  const Said said = piped(lines + ":report", "scenarios/02_chunk_size.lua");
  CHECK(contains(said.text, "64 decodes, 1 prefill of 512 tokens\nstep "));
  CHECK(contains(said.text, "\n9.691 ms\n"));
  const std::string without = piped(":until 20\n:report", "scenarios/02_chunk_size.lua").text;
  CHECK(contains(said.text, without.substr(without.find("\n* a  at 20"), 40)));
  const Said priced = piped(":price 0+4096\n_.time_s", "scenarios/01_hello.lua");
  CHECK(contains(priced.text, "1 prefill of 4,096 tokens\nstep  "));
  CHECK(contains(step, "step: 93.65 ms"));
  CHECK(contains(priced.text, "\n93.65 ms\n"));
  const Said wrong = piped(":price 1\n:price\n:price 0+x\n:price 0+4 9\n:price 1x2000000\n:step 0+4",
                           "scenarios/02_chunk_size.lua 2>&1");
  INFO(wrong.text);
  CHECK(contains(wrong.text, "stdin:1: nothing to price"));
  CHECK(contains(wrong.text, "stdin:3: expected CONTEXT+NEW tokens"));
  CHECK(contains(wrong.text, "stdin:4: there is no replica 9"));
  CHECK(contains(wrong.text, "stdin:5: 1x2000000: at most a million requests"));
  CHECK(contains(wrong.text, "stdin:6: expected a number of steps, found '0+4'; :price prices"));
  CHECK(contains(piped(":price 0+4", "2>&1").text, "nothing is open"));
}

TEST_CASE("mistakes of commands are told with their lines, and nothing typed is passed over") {
  const Said said = piped("1\n:step\n:report now\n:time 0 1\n:foo\n:open nosuch.lua\nx.y", "2>&1");
  INFO(said.text);
  CHECK(contains(said.text, "stdin:2: no simulation is open"));
  CHECK(contains(said.text, "stdin:3: :report takes nothing after it, found 'now'"));
  CHECK(contains(said.text, "stdin:4: expected how often, at least 1 time, found 0"));
  CHECK(contains(said.text, "stdin:5: unknown command 'foo'"));
  CHECK(contains(said.text, "stdin:6: nosuch.lua: there is no such file"));
  CHECK(contains(said.text, "\nstdin:7: attempt to index global 'x'"));
  const Said explained = piped(":step\n:explain it", "scenarios/03_schedulers.lua 2>&1");
  CHECK(contains(explained.text, "stdin:2: expected the number of a replica, found 'it'"));
}
