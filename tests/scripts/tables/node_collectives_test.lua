-- All-reduces over a link that connects several nodes: whose kernels answer.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

--- The row of the all-reduce after attention in a step of 16 decodes.
local function all_reduce(engine, hardware, tp)
  local steps = bound.bind(Kernels(), { model = "deepseek-v3", hardware = hardware,
    deployment = { tp = tp, weights = "fp8_block", kv = "fp8", max_num_seqs = 256, max_num_batched_tokens = 8192 },
    mfu = rooflua.mfu.open { gpu = type(hardware) == "table" and hardware.from or hardware, engine = engine } })
  local load = bound.decodes(16, 1000)
  for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do
    if row.name == "attention_all_reduce" then return row end
  end
end

local function by_nccl(...) return all_reduce(...).note:find("nccl", 1, true) ~= nil end

test("vLLM and SGLang call NCCL between nodes, TensorRT-LLM does not", function()
  for _, gpu in ipairs { "gb200", "gb300" } do
    for engine, expected in pairs { vllm = true, sglang = true, trtllm = false } do
      test.equal(by_nccl(engine, gpu, 8), expected, engine .. " on " .. gpu)
      test.equal(by_nccl(engine, gpu, 4), false, engine .. " on one node of " .. gpu)
    end
  end
end)

test("a node of eight GPUs has its own all-reduce of eight", function()
  test.equal(by_nccl("sglang", "h200-sxm", 8), false)
  test.equal(by_nccl("sglang", { from = "gb200", node_gpus = 8 }, 8), false)
end)

test("between nodes an all-reduce of few tokens takes more than twice the time", function()
  local apart, near = all_reduce("sglang", "gb200", 8), all_reduce("trtllm", "gb200", 8)
  test.at_least(apart.time_s, 2 * near.time_s)
end)

test.finish()
