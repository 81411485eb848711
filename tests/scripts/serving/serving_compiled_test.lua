-- A warm serving run stays in compiled code: the compiler gives up no trace. A changed constant in a Lua file changes
-- the run, so nothing native replaces that file.
local test = dofile "tests/scripts/harness.lua"
local aborts = dofile "tests/scripts/aborts.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

local warm_up_s, measured_s = 300, 600

local function scenario(scheduler, host_step_s)
  return {
    model = "qwen3-14b", hardware = "h100-sxm", seed = 3, deployment = { kv_blocks = 15909, prefix_caching = false },
    steps = require "steps.kernels" { host_step_s = host_step_s },
    scheduler = scheduler { max_num_seqs = 256, max_num_batched_tokens = 2048 },
    workload = require "workloads.poisson" {
      rate_per_s = 30, num_requests = 40000,
      prompt_tokens = { distribution = "uniform", min = 20, max = 500 },
      output_tokens = { distribution = "uniform", min = 20, max = 500 },
    },
  }
end

--- Whether a line names something that the compiler can never compile. Such a place is soon interpreted, without
--- further messages.
local function hopeless(line) return line:find "bytecode" or line:find "blacklisted" end

for _, name in ipairs { "vllm_v1", "sjf" } do
  test(name .. " with the default step model serves in compiled code", function()
    local live = serve.open(scenario(require("schedulers." .. name)))
    for _, line in ipairs(aborts.of(live.run_until, live, warm_up_s).lines) do
      test.check(not hopeless(line), line)
    end
    local found = aborts.of(live.run_until, live, warm_up_s + measured_s)
    test.check(live:result().summary.steps > 30000, "too few steps to say anything")
    test.check(found.aborts == 0, table.concat(found.lines, "; "))
  end)
end

for _, padding in ipairs { "vllm", "sglang", "none" } do
  test("ranks that step together are priced in compiled code, padded as " .. padding, function()
    local given = scenario(require "schedulers.vllm_v1")
    given.model, given.hardware, given.router = "mixtral-8x7b", "h200-sxm", "round_robin"
    given.deployment = { kv_blocks = 15909, prefix_caching = false, dp = 4, ep = 4 }
    given.steps = require "steps.kernels" { dp_padding = padding }
    local live = serve.open(given)
    for _, line in ipairs(aborts.of(live.run_until, live, 100).lines) do test.check(not hopeless(line), line) end
    local found = aborts.of(live.run_until, live, 200)
    test.check(live:result().summary.steps > 10000, "too few steps to say anything")
    test.check(found.aborts == 0, table.concat(found.lines, "; "))
  end)
end

test("one constant of the step model changes the run", function()
  local texts = {}
  for i, host_step_s in ipairs { 700e-6, 40e-3 } do
    local live = serve.open(scenario(require "schedulers.vllm_v1", host_step_s))
    live:run_until(20)
    texts[i] = json.encode(live:result().summary)
  end
  test.check(texts[1] ~= texts[2], "host_step_s changed nothing")
end)

test.finish()
