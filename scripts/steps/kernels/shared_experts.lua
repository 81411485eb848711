--- The price of a list of operations. Shared experts run at the same time as the routed ones, on a stream of their own:
--- engines do so in CUDA graphs of few tokens (`shared_beside` of scripts/engines). Such a step pays for them what the
--- routed experts do not hide:
---
---     max( shared - routed,  flop / peak,  bytes / bandwidth )      shared, routed: times of each alone
---
--- The second and third are what both compete for, at the GPU's datasheet. Every operation of the shared experts keeps
--- its work and its evidence; its time is the same part of its own. Ranks that share experts (deployment.dp) exchange
--- tokens before, and are priced one after another.
--- Source: vLLM VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD; SGLang forward_normal_dual_stream and
--- DUAL_STREAM_TOKEN_THRESHOLD; TensorRT-LLM maybe_execute_in_parallel (modeling_deepseekv3.py).
local cost = require "rooflua.cost"
local graphs = require "steps.kernels.graphs"
local ops = require "steps.kernels.ops"

local shared_experts = {}
shared_experts.__index = shared_experts

local max = math.max

local function is_shared(op) return op.name:find "^shared_" or op.name:find "^quantize_shared_" end
local function is_routed(op) return op.op == "grouped_gemm" or op.name:find "^router" end

--- Takes the shared experts out of a list of operations that has the routed ones as well.
--- @return table the other operations
--- @return table|false
function shared_experts.split(list)
  local plain, self, has_experts = {}, setmetatable({ shared = {}, routed = {} }, shared_experts), false
  for _, op in ipairs(list) do
    if is_shared(op) then
      self.shared[#self.shared + 1] = op
    else
      plain[#plain + 1] = op
      if is_routed(op) then self.routed[#self.routed + 1] = op end
      has_experts = has_experts or op.op == "grouped_gemm"
    end
  end
  if #self.shared == 0 or not has_experts then return list, false end
  return plain, self
end

--- Adds the sum of shared and routed experts, a kernel of its own in every engine: two inputs are read, one is written.
--- Source: vLLM and SGLang models/deepseek_v2.py; TensorRT-LLM modeling_deepseekv3.py.
--- @param steps steps.Kernels
--- @param list table operations of cost.layers that see all tokens
function shared_experts.add_sums(steps, list)
  for i = 1, #list do
    local op = list[i]
    if op.name:find "^shared_down" then
      list[#list + 1] = { name = op.name:gsub("^shared_down", "experts_sum"), op = "elementwise", count = op.count,
        kind = op.kind, rows = op.rows, dtype = steps.dtype, flop_per_row = 0, weight_bytes = 0,
        bytes_per_row = 3 * 2 * steps.model.hidden_size }
    end
  end
end

local function sum(steps, list, rows, drafts, tokens, there)
  local time_s = 0
  for i = 1, #list do time_s = time_s + ops.price(steps, list[i], rows, drafts, tokens, there) end
  return time_s
end

--- The same without a trace in the ledger.
local function alone(steps, list, rows, drafts, tokens, there)
  return cost.explain(function() return sum(steps, list, rows, drafts, tokens, there) end)
end

--- The part of the shared experts' time that a step pays.
local function visible_part(steps, shared, routed_s)
  local least_s, peak, bandwidth = 0, steps.bounds:peak(steps.dtype), steps.hardware.memory_bytes_per_s
  for _, row in ipairs(shared.rows) do
    local priced = row.priced or row
    least_s = least_s + row.count * max(priced.flop / peak, priced.bytes / bandwidth)
  end
  return math.min(1, max(shared.time_s - routed_s, least_s) / shared.time_s)
end

--- Time of the shared experts in a step.
--- @param rows integer tokens with padding
--- @param drafts integer? of them
--- @param tokens integer? without padding
--- @param there number? as in ops.price
function shared_experts:time(steps, rows, drafts, tokens, there)
  if rows > steps.shared_tokens then return sum(steps, self.shared, rows, drafts, tokens, there) end
  local shared, time_s = alone(steps, self.shared, rows, drafts, tokens, there), 0
  local part = visible_part(steps, shared, alone(steps, self.routed, rows, drafts, tokens).time_s)
  local note = ("%.0f %% of its time is hidden by the routed experts"):format(100 * (1 - part))
  for _, row in ipairs(shared.rows) do  -- as they are before corrections, which see what is recorded here
    local name = row.name:match "[^.]*$"  -- without the drafter's prefix, which it gets again
    local priced = row.priced or row
    time_s = time_s + cost.record(name, row.time_s * part, row.evidence, row.count, priced.flop, priced.bytes,
                                  priced.mfu, row.bound, note, row.kind, priced.shape)
    if row.kind ~= "floor" then cost.counted(row) end
  end
  return time_s
end

--- The price of a list of operations as a memoized function of their rows. A method of steps.Kernels.
function shared_experts.sum_of(steps, list)
  local plain, shared = shared_experts.split(list)
  return cost.memoize(function(rows, there)
    local time_s = sum(steps, plain, rows, nil, nil, there)
    return shared and time_s + shared:time(steps, rows, nil, nil, there) or time_s
  end)
end

--- The same for tokens of which some are drafts, which touch fewer experts than others do; it pads them to a graph.
--- @param largest integer tokens of the largest graph; 0: they are padded already
local function sum_with_drafts(steps, list, largest)
  local plain, shared = shared_experts.split(list)
  return cost.memoize2(function(tokens, drafts, there)
    local rows = graphs.padded(tokens, largest)
    there = there or tokens
    local time_s = sum(steps, plain, rows, drafts, tokens, there)
    return shared and time_s + shared:time(steps, rows, drafts, tokens, there) or time_s
  end)
end

--- Binds the prices of operations that see tokens, experts among them. A method of steps.Kernels.
--- @param seen table lists of operations: {tokens, group_tokens}
function shared_experts.bind_sums(steps, seen)
  steps.layers_time, steps.experts_time = steps:sum_of(seen.tokens), steps:sum_of(seen.group_tokens)
  steps.drafts_time = sum_with_drafts(steps, seen.tokens, steps.graph_tokens)
  steps.experts_drafts_time = sum_with_drafts(steps, seen.group_tokens, 0)
end

return shared_experts
