--- Launches that a CUDA graph does not hide. With programmatic dependent launch a kernel starts while the one in front
--- ends. A kernel without it takes `launch_apart_s` of scripts/engines longer. These are all kernels of an engine that
--- does not ask for it (`launches_apart`), or those of DeepGEMM alone (`blocks_launch_apart`), which had it later.
---
---     time of a step += launch_apart_s x kernels of a decode that are launched apart
---
--- An operation counts as one kernel, but for these: block-scaled FP8 has one more in front of each GEMM, which
--- quantises its input, and DeepGEMM's experts have two GEMMs. What runs next to others or in their kernels has none.
--- Prompts launch no fewer.
--- Source: CUDA C++ programming guide, "Programmatic Dependent Launch"; TensorRT-LLM pull request 14311.
local cost = require "rooflua.cost"

local launches = {}

local expert_kernels = 4  -- two GEMMs, and the quantisation in front of each

--- Operations that are part of another kernel, or run at the same time as others.
local function is_hidden(steps, op)
  return op.name:find "^shared_" or op.name:find "^quantize_shared_" or steps.elementwise:is_fused(op)
end

--- Kernels of block-scaled FP8 that an operation runs.
local function kernels_of_blocks(steps, op)
  if op.dtype ~= "fp8_block" then return 0 end
  if op.op == "grouped_gemm" then return steps.experts_database == steps.database and expert_kernels or 0 end
  return (op.op == "gemm" or op.kernel == "quantize") and 1 or 0
end

--- Kernels of an operation that nothing launches ahead.
local function kernels_apart(steps, op, engine)
  if is_hidden(steps, op) then return 0 end
  local blocks = kernels_of_blocks(steps, op)
  if blocks > 0 or not engine.launches_apart then return blocks end
  return op.kernel == "quantize" and 0 or 1
end

--- Adds the launches of a decode to the operations that see all tokens.
--- @param steps steps.Kernels
--- @param seen table lists of operations of cost.layers by the rows that they see
function launches.add(steps, seen)
  local engine = steps.engine_values
  if not engine.launches_apart and not engine.blocks_launch_apart then return end
  local count = engine.launches_apart and steps.attention.layers or 0
  if engine.launches_apart then
    for _, kind in ipairs(steps.more_attention) do count = count + kind.layers end
  end
  for _, rows in ipairs { "tokens", "group_tokens", "tail_tokens", "requests", "decode_tokens" } do
    for _, op in ipairs(seen[rows]) do count = count + op.count * kernels_apart(steps, op, engine) end
  end
  if count == 0 then return end
  seen.tokens[#seen.tokens + 1] = { name = "launches", op = "launches", count = count, rows = "tokens",
    time_s = engine.launch_apart_s }
end

--- The price of that operation: the same in every step.
function launches.price(_, op)
  return cost.record(op.name, op.time_s, "assumed", op.count, 0, 0, nil, "launch", "kernels after the one in front")
end

return launches
