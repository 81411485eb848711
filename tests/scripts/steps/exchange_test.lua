-- The exchange of tokens between data-parallel ranks: which ranks gather, whose tokens travel, and what that takes.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local function bind(gpu, engine, ranks, parameters, deployment)
  local given = { tp = 1, dp = ranks, ep = ranks, weights = "nvfp4", kv = "fp8", max_num_seqs = 512,
    max_num_batched_tokens = 8192 }
  for name, value in pairs(deployment or {}) do given[name] = value end
  return bound.bind(Kernels(parameters or {}), { model = "deepseek-v3", hardware = gpu, deployment = given,
    mfu = rooflua.mfu.open { gpu = gpu, engine = engine } })
end

--- Rows of a decode of n requests on each of so many ranks, by name.
local function rows_of(steps, n, ranks)
  local load = cost.batch { decodes = n, decode_context_tokens = n * 1000,
    group = { tokens = n * ranks, max_tokens = n, ranks = ranks, prefills = 0 } }
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do out[row.name] = row end
  return out
end

local function travels(...) return bind(...).travels ~= nil end

test("TensorRT-LLM's tokens travel where NVLink joins nodes and ranks outnumber its experts", function()
  test.equal(travels("gb200", "trtllm", 16), true)
  test.equal(travels("gb200", "trtllm", 8), false, "as many ranks as experts of a token")
  test.equal(travels("b200", "trtllm", 16), false, "eight GPUs share an NVLink switch")
  test.equal(travels("gb200", "vllm", 16), false, "vLLM's default")
  test.equal(travels("gb200", "sglang", 16), false, "SGLang's default")
  test.equal(travels("gb200", "trtllm", 16, nil, { ep = 1, moe_tp = 16 }), false, "experts that the ranks divide")
  test.equal(travels("gb200", "trtllm", 16, { exchange = "gathered" }), false)
  test.equal(travels("b200", "vllm", 8, { exchange = "deepep" }), true)
end)

test("a travel takes what the rows of its phases take, by tokens of one rank", function()
  local steps = bind("gb200", "trtllm", 32, { exchange = "nvlink_two_sided" })
  local rows = rows_of(steps, 128, 32)
  for _, phase in ipairs { "prepare", "dispatch", "combine" } do
    local _, estimate = steps.database:lookup { op = "expert_exchange", mode = "nvlink_two_sided", phase = phase,
      ranks = 32, hidden_size = 7168, experts = 256, experts_per_token = 8, sms = 0, dtype = "nvfp4", tokens = 128 }
    test.near(rows["expert_" .. phase].time_s, estimate.latency_s, 1e-9, phase)
    test.equal(rows["expert_" .. phase].count, 58)
  end
  test.equal(rows.expert_exchange, nil)
  test.check(rows_of(bind("gb200", "trtllm", 32, { exchange = "gathered" }), 128, 32).expert_exchange, "gathered")
end)

test("one-sided kernels need no preparation, and DeepEP's normal mode runs what is above the graphs", function()
  local one = rows_of(bind("gb200", "trtllm", 32, { exchange = "nvlink_one_sided" }), 64, 32)
  test.equal(one.expert_prepare, nil)
  test.check(one.expert_dispatch.shape:find "nvlink_one_sided", "%s", one.expert_dispatch.shape)
  local steps = bind("b200", "sglang", 8, { exchange = "deepep", largest_graph = 256 })
  test.check(rows_of(steps, 256, 8).expert_dispatch.shape:find "mode=low_latency", "in a graph")
  local large = rows_of(steps, 512, 8).expert_dispatch
  test.check(large.shape:find "mode=normal", "%s", large.shape)
  test.check(large.shape:find "sms=20", "%s", large.shape)
end)

test("more tokens never take less time on their way", function()
  local steps, last_s = bind("gb200", "trtllm", 32, { exchange = "nvlink_two_sided" }), 0
  for n = 1, 700, 13 do
    local rows = rows_of(steps, n, 32)
    local time_s = rows.expert_prepare.time_s + rows.expert_dispatch.time_s + rows.expert_combine.time_s
    test.at_least(time_s, last_s - 1e-12, n)
    last_s = time_s
  end
end)

test("the engine's own exchange is one-sided: nothing prepares it", function()
  for _, format in ipairs { "nvfp4", "fp8_block" } do
    local rows = rows_of(bind("gb200", "trtllm", 32, nil, { weights = format }), 64, 32)
    test.equal(rows.expert_prepare, nil, format)
    test.check(rows.expert_dispatch.shape:find "nvlink_one_sided", "%s", rows.expert_dispatch.shape)
  end
end)

test("an exchange that no row prices is an error", function()
  local ok, problem = pcall(bind, "b200", "trtllm", 16, { exchange = "nvlink_one_sided" })
  test.equal(ok, false)
  test.check(tostring(problem):find("exchange = \"nvlink_one_sided\": no rows of expert_exchange for it on", 1, true),
             "%s", tostring(problem))
end)

test.finish()
