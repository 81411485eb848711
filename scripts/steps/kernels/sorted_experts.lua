--- The price of routed experts after DeepEP, which sorts tokens by expert and leaves their GEMMs to DeepGEMM.
---
---     contiguous   normal mode, which data-parallel ranks run without CUDA graphs: prompts. All tokens of a rank stand
---                  in one array
---     masked       low latency mode, in CUDA graphs: decodes. Every expert has an array with room for all tokens, and
---                  a count of those that came
---
--- Rows of moe_experts from the library DeepEP hold this, by the tokens of all ranks; their tokens are spread over the
--- experts by a power law. Rows for 2, 4, 16, 32 ... ranks were published. Between two of them the geometric mean of
--- both is taken, each with as many tokens per rank; beside them the nearest one stands in, with as many of them.
--- After the last row the time goes on along the line of the last two: most of it is the weights, which every token
--- shares.
--- Source: SGLang's deepep_moe (deepep-mode normal, low_latency); vLLM's DeepGemmExperts and BatchedDeepGemmExperts.
local cost = require "rooflua.cost"

local sorted_experts = {}
sorted_experts.__index = sorted_experts

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

local most_doublings = 30  -- of the tokens of a rank

--- How the time of so many ranks goes on after its last row: {tokens and time of that row, seconds per token}.
local function line_behind(steps, query, ranks)
  local last, before = nil, { tokens = 0, time_s = 0 }
  query.ep = ranks
  for i = 0, most_doublings do
    local time_s, evidence = latency(steps, query, ranks * 2 ^ i)
    if evidence ~= "extrapolated" then
      before, last = last or before, { tokens = ranks * 2 ^ i, time_s = time_s }
    elseif last then
      break
    end
  end
  last.slope = math.max(0, last.time_s - before.time_s) / (last.tokens - before.tokens)
  return last
end

--- The rows for the experts of a bound step model; nil where none were published.
--- @param layout string contiguous or masked
--- @param steps steps.Kernels
--- @param op table the routed experts of cost.layers
--- @param moe table
--- @param width integer of a token
function sorted_experts.of(steps, layout, op, moe, width)
  local query = { op = "moe_experts", layout = layout, dtype = op.dtype, experts = moe.experts, slots = moe.experts,
    experts_per_token = moe.experts_per_token, hidden_size = width, intermediate_size = moe.intermediate_size,
    ep = steps.ep, tokens = 1 }
  local ranks = answering(steps, query, steps.ep)
  if #ranks == 0 then return nil end
  local lines = {}
  for i, each in ipairs(ranks) do lines[i] = line_behind(steps, query, each) end
  return setmetatable({ steps = steps, query = query, ranks = ranks, lines = lines,
    note = ("rows of DeepGEMM's %s layout, after DeepEP"):format(layout) }, sorted_experts)
end

--- What the rows of one number of ranks, or the line after them, say of so many tokens of all of them.
local function of_ranks(self, i, tokens)
  local line = self.lines[i]
  if tokens > line.tokens then return line.time_s + line.slope * (tokens - line.tokens), "extrapolated" end
  self.query.ep = self.ranks[i]
  return latency(self.steps, self.query, tokens)
end

--- Time of an operation of cost.layers.
--- @param rows number tokens of all ranks
--- @param there number of these, without padding
function sorted_experts:price(op, rows, there)
  local steps, ranks = self.steps, self.ranks
  local tokens = rows * steps.fullest
  local time_s, evidence = of_ranks(self, 1, tokens * ranks[1] / steps.ep)
  if ranks[2] then
    local other_s, others = of_ranks(self, 2, tokens * ranks[2] / steps.ep)
    time_s, evidence = math.sqrt(time_s * other_s), cost.mixed("interpolated", cost.mixed(evidence, others))
  elseif ranks[1] ~= steps.ep then
    evidence = "stand_in"
  end
  local flop = op.flop_per_row * tokens * op.rows_per_token / steps.ep
  local shape = cost.shapes_wanted() and ("tokens=%.14g ep=%d"):format(tokens, steps.ep) or nil
  local mfu = flop / (time_s * steps.bounds:peak(op.dtype))
  time_s = cost.record(op.name, time_s, evidence, op.count, flop, op.weight_bytes, mfu, "compute",
                       self.note, "moe_experts", shape)
  if there ~= rows and cost.listening() then
    cost.counted { flop = flop * there / rows, field = "tokens", there = tokens * there / rows, asked = tokens }
  end
  return time_s
end

return sorted_experts
