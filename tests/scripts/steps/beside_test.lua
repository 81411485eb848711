-- Shared experts beside the routed ones: what of their time a step pays, for which engines and how many tokens.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local function bind(engine, parameters, more)
  return bound.bind(Kernels(parameters or {}), scene({ model = "deepseek-v3", hardware = "b200",
    mfu = rooflua.mfu.open { gpu = "b200", engine = engine },
    deployment = { tp = 8, weights = "nvfp4", kv = "fp8", max_num_seqs = 512, max_num_batched_tokens = 8192 } }, more))
end

--- Sums over the operations of the shared experts of a decode of n requests, and the time of the step.
local function shared_of(steps, n)
  local out, routed_s = { time_s = 0, flop = 0, bytes = 0 }, 0
  local account = cost.explain(function() return steps:time(bound.decodes(n, 1000)) end)
  for _, row in ipairs(account.rows) do
    if row.name:find "shared_" then
      for name in pairs(out) do out[name] = out[name] + row.count * row[name] end
    elseif row.kind == "grouped_gemm" or row.name:find "^router" then
      routed_s = routed_s + row.count * row.time_s
    end
  end
  out.step_s, out.sum_s, out.routed_s = account.time_s, 0, routed_s
  for _, row in ipairs(account.rows) do out.sum_s = out.sum_s + row.count * row.time_s end
  return out
end

test("few tokens hide shared experts but for what both compete for; their work stays", function()
  for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
    local beside, apart = shared_of(bind(engine), 16), shared_of(bind(engine, { shared_beside = 0 }), 16)
    test.equal(beside.flop, apart.flop)
    test.equal(beside.bytes, apart.bytes)
    test.at_least(beside.time_s, beside.bytes / 8e12)
    test.at_least(0.2 * apart.time_s, beside.time_s)
    test.near(apart.step_s - beside.step_s, apart.time_s - beside.time_s, 1e-9, engine)
    test.near(beside.sum_s, beside.step_s, 1e-9, "the account adds up")
  end
end)

test("each engine has its own limit, which lies within its graphs", function()
  local function hides(engine, n, parameters)
    local steps = bind(engine, parameters)
    parameters = parameters or {}
    parameters.shared_beside = 0
    return shared_of(steps, n).time_s < 0.9 * shared_of(bind(engine, parameters), n).time_s
  end
  test.equal(hides("vllm", 256), true)
  test.equal(hides("vllm", 257), false)
  test.equal(hides("sglang", 512), true)
  test.equal(hides("sglang", 512, { largest_graph = 256 }), false)
  test.equal(hides("trtllm", 512), true)
  test.equal(hides("vllm", 64, { largest_graph = 0 }), false)
end)

test("a step never costs less with more tokens, and never more than one after the other", function()
  local steps, apart, last_s = bind "sglang", bind("sglang", { shared_beside = 0 }), 0
  for n = 1, 640, 7 do
    local time_s = steps:time(bound.decodes(n, 100))
    test.at_least(time_s, last_s - 1e-12)
    test.at_least(apart:time(bound.decodes(n, 100)), time_s)
    last_s = time_s
  end
end)

test("models without shared experts have the same price", function()
  for _, model in ipairs { "qwen3-30b-a3b", "llama-3.1-8b" } do
    local more = { model = model, deployment = { tp = 1 } }
    test.equal(bind("vllm", nil, more):time(bound.decodes(32, 500)),
               bind("vllm", { shared_beside = 0 }, more):time(bound.decodes(32, 500)))
  end
end)

test("of large shared experts a step pays what the routed ones do not hide", function()
  local model = rooflua.spec.model { name = "mostly-shared", layers = 4, hidden_size = 4096, heads = 32,
    kv_heads = 8, max_model_len = 32768, head_dim = 128, vocab_size = 32000, intermediate_size = 0,
    moe = { experts = 8, experts_per_token = 1, intermediate_size = 256, shared_intermediate_size = 131072 } }
  local more = { model = model, deployment = { tp = 1, weights = "bf16", kv = "bf16" } }
  local beside = shared_of(bind("vllm", nil, more), 16)
  local apart = shared_of(bind("vllm", { shared_beside = 0 }, more), 16)
  test.at_least(beside.time_s, 1.05 * beside.bytes / 8e12, "not all is hidden")
  test.near(apart.time_s - beside.time_s, apart.routed_s, 1e-9)
end)

test("corrections see the time that is paid, once", function()
  local Twice = rooflua.policy.define { name = "twice", doc = "Shared experts take twice as long." }
  function Twice:op(op, time_s) -- luacheck: ignore self
    return op.name:find "^shared_" and 2 * time_s or time_s
  end
  local live = rooflua.serve.open { model = "deepseek-v3", hardware = "b200", corrections = { Twice {} },
    deployment = { tp = 8, weights = "nvfp4", kv = "fp8" }, workload = require "workloads.closed_loop" {
      clients = 16, num_requests = 16, prompt_tokens = 100, output_tokens = 50 } }
  live:step(20)
  local paid, added = 0, 0
  for _, row in ipairs(live:explain(1).rows) do
    if row.name:find "^shared_" then paid = paid + row.count * row.time_s end
    if row.kind == "correction" then added = added + row.count * row.time_s end
  end
  test.at_least(paid, 1e-6)
  test.near(added, paid, 1e-9)
end)

test.finish()
