// The memory that the engine holds for scripts: it counts toward the cap, and is freed in time.

#include "script/vm/memory_account.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr std::size_t cap = std::size_t{160} << 20;

script::VmOptions options() {
  script::VmOptions out = sandbox_options();
  out.memory_bytes = cap;
  out.load_instructions = 0;
  return out;
}

/// A simulation of a few hundred KB and a function that makes a fork of it.
const std::string start = R"(
  local serve = require "rooflua.serve"
  local live
  local VllmV1 = require "schedulers.vllm_v1"
  local policy = require "rooflua.policy"
  local Mine = policy.define { name = "mine", doc = "Refers to its own simulation.", extends = VllmV1 }
  function Mine:plan(replica, plan) local _ = live return VllmV1.plan(self, replica, plan) end
  local function open()
    return serve.open { model = "llama-3.1-8b", hardware = "h200", scheduler = Mine {},
      steps = require "steps.roofline_v1" {},
      workload = require "workloads.poisson" { num_requests = 3000, rate_per_s = 3000,
        prompt_tokens = 50, output_tokens = 5 } }
  end
  live = open()
  live:run_until(0.9)
)";

std::size_t most_native(script::Vm& vm, const std::string& text) {
  const std::size_t before = script::native_bytes();
  CHECK(complaint(vm, start + text) == "");
  return script::native_bytes() - before;
}

}  // namespace

TEST_CASE("forks that nothing refers to are collected in time") {
  script::Vm vm(options());
  // 300 of these forks together are far beyond the cap.
  most_native(vm, "for i = 1, 300 do live:fork() end");
  CHECK(script::native_bytes() < 4 * cap);
}

TEST_CASE("simulations that refer to themselves by their policies are collected too") {
  script::Vm vm(options());
  CHECK(complaint(vm, start + "for i = 1, 60 do live = open() live:run_until(0.9) end") == "");
}

TEST_CASE("simulations that are kept count toward the cap, and the script goes on without them") {
  script::Vm vm(options());
  const std::string kept =
      "local kept = {} for i = 1, 1000 do kept[i] = live:fork() end return #kept";
  const std::string message = complaint(vm, start + kept);
  INFO(message);  // with a line where the engine sees it first, and without one where Lua does
  CHECK(has(message, "not enough memory: scripts may use 160 MiB"));
  CHECK(has(message, "live:close()"));
  CHECK(script::native_bytes() < 3 * cap);
  CHECK(run(vm, start + "return live:fork():fork().now_s > 0.8 and 'alive'") == "alive");
}

TEST_CASE("closed simulations count no longer, and every call of them is an error") {
  script::Vm vm(options());
  CHECK(run(vm, start + "local kept = {} for i = 1, 300 do kept[i] = live:fork() kept[i]:close() "
                        "end return #kept") == "300");
  for (const char* call : {"live:step()", "live:run()", "live:fork()", "live:result()",
                           "live:close()", "live:replica(1)", "return live.now_s"}) {
    INFO(call);
    CHECK(complaint(vm, start + "live:close()\n" + call) ==
          "test.lua:17: this simulation was closed");
  }
}

TEST_CASE("a simulation that grows without end stops at the cap") {
  script::Vm vm(options());
  const std::string message = complaint(vm, R"(
    local serve = require "rooflua.serve"
    local endless = { n = 0, next = function(state)
      state.n = state.n + 1
      return state.n * 1e-6, 1000, 1000
    end }
    local Endless = require("rooflua.policy").define { name = "endless", doc = "No end." }
    function Endless:requests() return endless end
    local live = serve.open { model = "llama-3.1-8b", hardware = "h200", workload = Endless {},
      steps = require "steps.roofline_v1" {} }
    live:run()
  )");
  INFO(message);
  CHECK(has(message, "not enough memory: scripts may use 160 MiB"));
}

TEST_CASE("many small runs are not measured one by one") {
  script::Vm vm(options());
  const auto count = [&] { return vm.memory().measures; };
  CHECK(complaint(vm, start + "for i = 1, 3 do open():run() end") == "");
  const std::int64_t before = count();
  CHECK(
      complaint(
          vm, start + "for i = 1, 400 do local one = open() one:run_until(0.01) one:close() end") ==
      "");
  CHECK(count() - before < 40);
}

TEST_CASE("a cache takes memory for what it holds, however large it is") {
  script::Vm vm(options());
  const std::size_t before = script::native_bytes();
  CHECK(complaint(vm, R"(
    local live = require("rooflua.serve").open { model = "llama-3.1-8b", hardware = "h200",
      steps = require "steps.roofline_v1" {}, deployment = { kv_blocks = 100000000 },
      workload = require "workloads.multi_turn" { sessions = 5 } }
    live:run()
    assert(live:result().summary.cached_tokens > 0)
  )") == "");
  CHECK(script::native_bytes() < before + cap / 8);
}
