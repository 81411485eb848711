--- The price of routed experts behind DeepEP's normal mode, in which data-parallel ranks run steps without CUDA graphs:
--- prompts.
---
--- Tokens arrive sorted by expert, and DeepGEMM multiplies them in one contiguous array. Rows of moe_experts from the
--- library DeepEP hold this, by the tokens of all ranks; their tokens are spread over the experts by a power law. Rows
--- for 2, 4, 16, 32 ... ranks were published. Between two of them the geometric mean of both is taken, each with as
--- many tokens per rank; beside them the nearest one stands in, with as many tokens per rank.
--- Source: SGLang's deepep_moe (deepep-mode normal).
local cost = require "rooflua.cost"

local contiguous = {}
contiguous.__index = contiguous

local farthest = 4  -- doublings of the ranks between a shape and the rows that stand in

local function latency(steps, query, tokens)
  query.tokens = tokens
  local _, estimate = steps.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- Whether rows of these very widths and ranks answer.
local function is_measured(steps, query, ranks)
  query.ep = ranks
  local ok, _, evidence = pcall(latency, steps, query, 4096)
  return ok and evidence ~= "stand_in" and evidence ~= "modelled"
end

--- The nearest number of ranks, `ranks` times a power of `factor`, that has rows; nil if none is near.
local function nearest(steps, query, ranks, factor)
  for i = 1, farthest do
    local tried = ranks * factor ^ i
    if tried < 2 then return nil end
    if is_measured(steps, query, tried) then return tried end
  end
end

--- Numbers of ranks whose rows answer: one or two.
local function answering(steps, query, ranks)
  if is_measured(steps, query, ranks) then return { ranks } end
  local out = {}
  out[#out + 1] = nearest(steps, query, ranks, 0.5)
  out[#out + 1] = nearest(steps, query, ranks, 2)
  return out
end

--- The rows for the experts of a bound step model; nil where none were published.
--- @param steps steps.Kernels
--- @param op table the routed experts of cost.layers
--- @param moe table
--- @param width integer of a token
function contiguous.of(steps, op, moe, width)
  local query = { op = "moe_experts", dtype = op.dtype, experts = moe.experts, slots = moe.experts,
    experts_per_token = moe.experts_per_token, hidden_size = width, intermediate_size = moe.intermediate_size,
    ep = steps.ep, tokens = 1 }
  local ranks = answering(steps, query, steps.ep)
  if #ranks == 0 then return nil end
  return setmetatable({ steps = steps, query = query, ranks = ranks }, contiguous)
end

--- Time of an operation of cost.layers.
--- @param rows number tokens of all ranks
--- @param there number of these, without padding
function contiguous:price(op, rows, there)
  local steps, query, ranks = self.steps, self.query, self.ranks
  local tokens = rows * steps.fullest
  query.ep = ranks[1]
  local time_s, evidence = latency(steps, query, tokens * ranks[1] / steps.ep)
  if ranks[2] then
    query.ep = ranks[2]
    local other_s, others = latency(steps, query, tokens * ranks[2] / steps.ep)
    time_s, evidence = math.sqrt(time_s * other_s), cost.mixed("interpolated", cost.mixed(evidence, others))
  elseif ranks[1] ~= steps.ep then
    evidence = "stand_in"
  end
  local flop = op.flop_per_row * tokens * op.rows_per_token / steps.ep
  local shape = cost.shapes_wanted() and ("tokens=%.14g ep=%d"):format(tokens, steps.ep) or nil
  local mfu = flop / (time_s * steps.bounds:peak(op.dtype))
  time_s = cost.record(op.name, time_s, evidence, op.count, flop, op.weight_bytes, mfu, "compute",
                       "rows behind DeepEP's normal mode", "moe_experts", shape)
  if there ~= rows and cost.listening() then
    cost.counted { flop = flop * there / rows, field = "tokens", there = tokens * there / rows, asked = tokens }
  end
  return time_s
end

return contiguous
