-- Host times of engines by release.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local run = require "rooflua.serve"

local function request_s(engine)
  return bound.values(engine, { model = "llama-3.1-8b", hardware = "h100-sxm" }).host_request_s
end

test("a request costs 20 us of the host in V1 before 0.14", function()
  for release, expected in pairs { ["vllm 0.8"] = 20e-6, ["vllm 0.13"] = 20e-6, ["vllm 0.14"] = 2e-6,
                                   ["vllm 0.7"] = 42e-6, ["sglang 0.5.9"] = 2e-6, ["trtllm 1.0"] = 2e-6 } do
    test.equal(request_s(release), expected, release)
  end
  test.equal(request_s { "vllm 0.9", VLLM_USE_V1 = "0" }, 42e-6)
end)

test("a step of V0 takes twice the host's time, and measured cases of it run so", function()
  local function step_s(engine)
    return bound.values(engine, { model = "llama-3.1-8b", hardware = "h100-sxm" }).host_step_s
  end
  for _, engine in ipairs { "vllm 0.7", { "vllm 0.9", VLLM_USE_V1 = "0" } } do test.equal(step_s(engine), 1.4e-3) end
  test.equal(step_s "vllm 0.9", 0.7e-3)
  local engines = require "rooflua.validate.engines"
  local of_v0, of_v1 = engines.host(engines.of "vLLM 2024 (V0)"), engines.host(engines.of "vLLM 0.12.0")
  test.equal(of_v0.host_step_s .. " " .. of_v0.host_request_s, 1.4e-3 .. " " .. 42e-6)
  test.equal(of_v1.host_request_s, 20e-6)
end)

--- Time between two tokens of 64 requests that decode together.
local function token_s(engine)
  local found = run.run({ model = "llama-3.1-8b", hardware = "h100-sxm", engine = engine,
    workload = require "workloads.closed_loop" { clients = 64, num_requests = 64, prompt_tokens = 16,
      output_tokens = 64 } }, { requests = true })
  local c, sum = found.requests, 0
  for i, ttft in ipairs(c.ttfts) do sum = sum + (c.e2els[i] - ttft) / (c.output_lens[i] - 1) end
  return sum / #c.ttfts
end

test("asynchronous scheduling hides it: 64 requests gain 0.7 + 64 * 0.02 ms a step", function()
  local gained_s = token_s { "vllm 0.11" } - token_s { "vllm 0.11", async_scheduling = true }
  test.near(gained_s, 0.7e-3 + 64 * 20e-6, 0.05)
end)

test("it is a parameter of the step model too", function()
  local function time_s(parameters)
    return bound.bind(require "steps.kernels" (parameters), { async_depth = 1 }):time(bound.decodes(64, 100))
  end
  test.near(time_s { host_request_s = 20e-6 } - time_s { host_request_s = 2e-6 }, 64 * 18e-6, 1e-9)
end)

test.finish()
