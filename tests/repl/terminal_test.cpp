// Editing, completion, history, continuation, Ctrl-C, errors, help: at a terminal.

#include "tests/repl/terminal.h"

#include <algorithm>

using namespace rooflua::test;

TEST_CASE("an expression prints what it gives, and a name stays") {
  const Folder folder;
  Terminal terminal(folder);
  terminal.ask("x = 20 + 3", "");
  terminal.ask("x * 2", "46");
  terminal.ask("_ + 1", "47");
  terminal.ask("spec.hardware(\"h200\").memory_bytes_per_s", "4.800 TB/s");
  terminal.ask("{ time_s = 0.0123, kv_bytes = 2e9, busy_frac = 0.25 }",
               "{ busy_frac = 25.0 %, kv_bytes = 2.000 GB, time_s = 12.30 ms }");
  terminal.type(ctrl_d);
  CHECK(terminal.status() == 0);
}

TEST_CASE("an input that is not finished goes on in the next line") {
  const Folder folder;
  Terminal terminal(folder);
  terminal.type("for i = 1, 2 do\r");
  terminal.expect(">> ");
  terminal.type("print(i * 111)\r");
  terminal.expect(">> ");
  terminal.type("end\r");
  terminal.expect("111\r\n222\r\n");
  terminal.type("f = function(\r");
  terminal.expect(">> ");
  terminal.type(ctrl_c);  // and may be given up
  terminal.expect("^C");
  terminal.ask("6 * 7", "42");
}

TEST_CASE("Tab completes globals, modules, fields, methods, policies and commands") {
  const Folder folder;
  Terminal terminal(folder);
  terminal.ask("spec.hardw" + tab + "('h200').name", "\"h200-sxm\"");
  terminal.ask("require 'schedulers.sj" + tab + "' {}", "max_num_seqs");
  terminal.ask("require 'rooflua.meas" + tab + "'.compare == meas" + tab + ".compare", "true");
  terminal.type("require 'schedulers." + tab);
  terminal.expect("static_batch");
  terminal.type(ctrl_c);
  terminal.expect("> ");
  terminal.ask(":op" + tab + "scenarios/02" + tab, "at 0 s");
  terminal.ask(":pri" + tab + "204" + tab, "64 decodes");
  terminal.ask("sim:run_u" + tab + "(2.5)", "");
  terminal.ask("sim.now" + tab, "2.500 s");
  terminal.ask("hw = spec.hardware 'h200'", "");
  terminal.ask("hw.l2_b" + tab, "52.43 MB");
  terminal.ask("require 'steps.kernels' { host_st" + tab + "0 }", "kernels");
}

TEST_CASE("the history outlives the session, a block as one line") {
  const Folder folder;
  {
    Terminal first(folder);
    first.ask("marker = 4700 + 11", "");
    first.type("for i = 1, 1 do\r");
    first.expect(">> ");
    first.type("  print('block', i)\r");
    first.expect(">> ");
    first.type("end\r");
    first.expect("block\t1");
    first.type(":quit\r");
    CHECK(first.status() == 0);
  }
  Terminal second(folder);
  second.type(up + up + up);
  second.expect("marker = 4700 + 11");
  second.type("\x1b[B\r");
  second.expect("block");
  second.expect("\r\n");
  second.expect("block\t1");
}

TEST_CASE("two sessions keep each other's lines, and one that is killed keeps its own") {
  const Folder folder;
  {
    Terminal first(folder), second(folder);
    first.ask("first_line = 3 + 4", "");
    first.ask("first_line", "7");
    second.ask("second_line = 5 + 6", "");
    second.ask("second_line", "11");
  }  // killed, both
  CHECK(folder.read("state/history") ==
        "_HiStOrY_V2_\nfirst_line\\040=\\0403\\040+\\0404\nfirst_line\n"
        "second_line\\040=\\0405\\040+\\0406\nsecond_line\n");
}

TEST_CASE("a history file that has grown long is shortened to its newest lines") {
  const Folder folder;
  std::string lines = "_HiStOrY_V2_\n";
  for (int i = 1; i <= 4000; ++i) lines += "line" + std::to_string(i) + "\n";
  std::filesystem::create_directories(folder.file("state"));
  folder.write("state/history", lines);
  { Terminal terminal(folder); }
  const std::string left = folder.read("state/history");
  CHECK(std::count(left.begin(), left.end(), '\n') == 2001);
  CHECK(left.find("line2000\n") == std::string::npos);
  CHECK(left.find("line2001\n") != std::string::npos);
  CHECK(left.find("line4000\n") != std::string::npos);
}

TEST_CASE("Ctrl-C stops a compiled loop soon, again and again, and the session goes on") {
  const Folder folder;
  Terminal terminal(folder);
  double fastest_s = 60;
  for (int i = 0; i < 5; ++i) {
    terminal.type("print('loo' .. 'ping') local n = 0 while true do n = n + 1 end\r");
    terminal.expect("looping\r\n");
    pause_ms(50 + 20 * i);  // and it is compiled
    terminal.type(ctrl_c);
    fastest_s = std::min(fastest_s, terminal.expect("prompt:1: interrupted"));
    terminal.expect("> ");
  }
  INFO("Ctrl-C took " << fastest_s * 1e3 << " ms at least");
  CHECK(fastest_s < 1.0);  // 0.1 s on a machine that is not busy with something else
  terminal.ask("1 + 1", "2");
  terminal.type("not wanted" + ctrl_c);
  terminal.expect("^C");
  terminal.ask("5 * 5", "25");
}

TEST_CASE("a Tab in what is pasted is text, one that is typed completes") {
  const Folder folder;
  Terminal terminal(folder);
  CHECK(terminal.said().find("\x1b[?2004h") != std::string::npos);
  terminal.type("\x1b[200~x = 'spec.mod\t-' function f()\r\r\treturn x\rend\r\x1b[201~");
  terminal.ask("#f() .. f():byte(9, 9)", "109");
  terminal.ask("spec.mod" + tab + " == spec.models or spec.model ~= nil", "true");
}

TEST_CASE("what cannot be stopped says so before another Ctrl-C ends the program") {
  const Folder folder;
  Terminal terminal(folder);
  terminal.type("print('rea' .. 'ds') io.read()\r");
  terminal.expect("reads\r\n");
  terminal.expect_asleep();
  terminal.insist(ctrl_c, "cannot be stopped yet; Ctrl-C once more ends the program");
  terminal.insist(ctrl_c, "interrupted three times");
  CHECK(terminal.status() == 130);
}

TEST_CASE("an error shows line and callers, and the session goes on") {
  const Folder folder;
  folder.write("inner.lua",
               "local function deeper() error('no such luck') end\n"
               "return function() deeper() end\n");
  Terminal terminal(folder);
  terminal.ask("error 'so it goes'", "prompt:1: so it goes");
  terminal.ask("call = dofile '" + folder.file("inner.lua") + "'", "");
  terminal.ask("call()", "inner.lua:1: no such luck");
  CHECK(terminal.said().find("in function 'deeper'") != std::string::npos);
  terminal.ask("1 +* 2", "unexpected symbol near '*'");
  terminal.ask("require 'schedulers.vllm_v1' { max_num_seq = 3 }", "did you mean 'max_num_seqs'");
  terminal.ask("modle", "did you mean");
  terminal.ask(":stpe", "did you mean 'step'");
  terminal.ask("2 + 2", "4");
}

TEST_CASE("help explains functions, objects, policies and the prompt") {
  const Folder folder;
  Terminal terminal(folder);
  terminal.ask(":help", ":explain");
  terminal.ask("help(cost.gemm)", "cost.gemm(db, m, k, n");
  terminal.ask("help 'schedulers.vllm_v1'", "max_num_batched_tokens = ");
  terminal.ask("spec.model?", "config.json");
  terminal.ask("help(spec.hardware 'h200')", "memory_bytes_per_s number");
  terminal.ask("help(nil)", ":diff");
}
