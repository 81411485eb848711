// A live simulation at the prompt: stop it, inspect it, edit a policy, fork, compare.

#include "tests/repl/terminal.h"

using namespace rooflua::test;

namespace {

/// A step of `time_ms`, and a scheduler that counts how often it was asked.
void write_policies(const Folder& folder, int time_ms) {
  folder.write(
      "my_steps.lua",
      "local policy = require 'rooflua.policy'\n"
      "local MySteps = policy.define { name = 'my_steps', doc = 'A constant.', params = {} }\n"
      "function MySteps:time() return " +
          std::to_string(time_ms) +
          "e-3 end\n"
          "return MySteps\n");
  folder.write(
      "my_scheduler.lua",
      "local policy = require 'rooflua.policy'\n"
      "local Counting = policy.define { name = 'my_scheduler', doc = 'Counts.',\n"
      "  extends = require 'schedulers.vllm_v1' }\n"
      "local plan = Counting.plan\n"
      "function Counting:plan(replica, step)\n"
      "  self.asked = (self.asked or 0) + " +
          std::to_string(time_ms) +
          "\n"
          "  if replica.now_s > 50 and not self.said then self.said = true print 'late' end\n"
          "  if self.stuck then print 'stuck' while true do end end\n"
          "  return require('schedulers.vllm_v1').plan(self, replica, step)\n"
          "end\n"
          "return Counting\n");
  folder.write(
      "scenario.lua",
      "return { model = 'llama-3.1-8b', hardware = 'h200', seed = 1,\n"
      "  steps = require 'my_steps' {}, scheduler = require 'my_scheduler' { max_num_seqs = 8 },\n"
      "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 1000000,\n"
      "    prompt_tokens = { distribution = 'uniform', min = 50, max = 2000 },\n"
      "    output_tokens = { distribution = 'uniform', min = 5, max = 50 } } }\n");
}

}  // namespace

TEST_CASE("an edited policy takes effect, and what it keeps stays") {
  const Folder folder;
  write_policies(folder, 10);
  Terminal terminal(folder, {folder.file("scenario.lua")});
  terminal.ask(":step 40", "10.00 ms");
  terminal.ask(
      "s = function() return require(\"rooflua.serving.live\").state(sim).replicas[1].scheduler "
      "end",
      "");
  terminal.ask("before = s().asked; now_s = sim.now_s", "");
  terminal.ask("before > 0 and before % 10 == 0", "true");
  write_policies(folder, 20);
  terminal.ask(":reload", "my_steps");
  terminal.ask("s().asked == before and sim.now_s == now_s", "true");
  terminal.ask("s().max_num_seqs", "8");
  terminal.ask(":step 5", "20.00 ms");
  terminal.ask("s().asked > before and (s().asked - before) % 20 == 0", "true");
  folder.write("my_steps.lua", "return {");
  terminal.ask(":reload", "my_steps.lua:1");  // a mistake changes nothing
  terminal.ask(":step 5", "20.00 ms");
}

TEST_CASE("Ctrl-C stops a simulation between two steps, where it can go on") {
  const Folder folder;
  write_policies(folder, 10);
  Terminal terminal(folder, {folder.file("scenario.lua")});
  terminal.type(":run\r");
  terminal.expect("late\r\n");
  terminal.type(ctrl_c);
  terminal.expect("interrupted");
  terminal.expect("a stands at ");
  terminal.ask("here_s = sim.now_s", "");
  terminal.ask("here_s > 0", "true");
  terminal.ask(":step", "running");
  terminal.ask("sim.now_s > here_s", "true");
}

TEST_CASE("a scheduler that hangs is stopped, and the simulation goes back to where it was") {
  const Folder folder;
  write_policies(folder, 10);
  Terminal terminal(folder, {folder.file("scenario.lua")});
  terminal.ask(":until 2", "at 2.000 s");
  terminal.ask("require(\"rooflua.serving.live\").state(sim).replicas[1].scheduler.stuck = true",
               "");
  terminal.type(":until 5\r");
  terminal.expect("stuck\r\n");
  terminal.type(ctrl_c);
  terminal.expect("interrupted");
  terminal.expect("a was in the middle of a step and is back at 2 s");
  terminal.ask("require(\"rooflua.serving.live\").state(sim).replicas[1].scheduler.stuck = false",
               "");
  terminal.ask(":until 5", "at 5.000 s");
}

TEST_CASE("a fork goes on under another policy, and the requests are compared") {
  const Folder folder;
  Terminal terminal(folder, {"scenarios/02_chunk_size.lua"});
  terminal.ask(":until 10", "at 10.00 s");
  terminal.ask(":fork same", "same");
  terminal.ask(":until 20", "at 20.00 s");
  terminal.ask(":diff", "the same");
  CHECK(terminal.said().find("slower") == std::string::npos);
  terminal.ask(":fork few scheduler.max_num_seqs=2", "few");
  terminal.ask(":until 40", "at 40.00 s");
  terminal.ask(":diff a few", "queue behind decode +");
  terminal.ask(":diff a same ttft", "the same");
  terminal.ask("#_ > 0", "true");
  terminal.ask(":plot", "KV cache in use");
  terminal.ask(":plot ttft", "share of requests below");
  terminal.ask(":plot roofline", "of the roof");
  terminal.ask(":why 20", "end to end");
  terminal.ask(":explain", "gate_up");
  terminal.ask(":use few", "few");
  terminal.ask("sim == few", "true");
  terminal.ask(":time 10 spec.model 'llama-3.1-8b'", "CPU time");
}
