--- The exchange of tokens between data-parallel ranks that share experts, in front of the experts and after them.
---
---     gathered            every rank gets the tokens of all: all-gather and reduce-scatter, together an all-reduce
---     deepep              a token travels to the ranks of its experts and back, with DeepEP: low latency in steps of
---                         CUDA graphs, normal mode with 20 SMs above
---     nvlink_one_sided    the same with TensorRT-LLM's kernels over NVLink: dispatch and combine
---     nvlink_two_sided    the same, prepared by a kernel of its own
---
--- Where tokens travel, the rows of expert_exchange are asked, by tokens of one rank: the fullest one (steps.fullest)
--- sends and gets more than the mean. Experts that the ranks divide
--- (moe_tp) need every token: their exchange is gathered.
--- Source: DeepEP; TensorRT-LLM's NVLinkOneSided and NVLinkTwoSided (fused_moe/communication); vLLM's
--- allgather_reducescatter, its default.
local cost = require "rooflua.cost"
local experts = require "steps.kernels.experts"
local sorted_experts = require "steps.kernels.sorted_experts"

local exchange = {}
exchange.__index = exchange

local deepep_sms = 20  -- DeepEP's Buffer.num_sms

--- Kernels by kind: modes of the rows by size of the step, phases in order.
local kinds = {
  deepep = { low = "low_latency", high = "normal", sms = deepep_sms, phases = { "dispatch", "combine" } },
  nvlink_one_sided = { low = "nvlink_one_sided", high = "nvlink_one_sided", phases = { "dispatch", "combine" } },
  nvlink_two_sided = { low = "nvlink_two_sided", high = "nvlink_two_sided",
    phases = { "prepare", "dispatch", "combine" } },
}

--- The format in which tokens travel to their experts.
function exchange.format_of(kind, dtype)
  if kind == "deepep" then return "fp8" end
  if dtype == "nvfp4" then return "nvfp4" end
  return dtype:find "^fp8" and "fp8" or "bf16"
end

--- @param op table the routed experts of cost.layers
local function query_of(steps, kind, phase, mode, sms, op)
  local moe, width = experts.of(steps, op)
  return { op = "expert_exchange", mode = mode, phase = phase, ranks = steps.ranks,
    hidden_size = width, experts = moe.experts, experts_per_token = moe.experts_per_token, sms = sms,
    dtype = exchange.format_of(kind, op.dtype), tokens = 1 }
end

--- The phases of an exchange, each with a query for small steps and one for large ones.
local function phases_of(steps, kind, op)
  local about, out = kinds[kind], {}
  for i, phase in ipairs(about.phases) do
    out[i] = { name = "expert_" .. phase, op = "expert_exchange",
      low = query_of(steps, kind, phase, about.low, 0, op),
      high = query_of(steps, kind, phase, about.high, about.sms or 0, op), high_key = { op = "expert_exchange" } }
  end
  return out
end

--- Whether rows answer for a kind of kernels, in each phase and mode. Only rows price an exchange: without any the
--- lookup fails.
local function is_measured(steps, kind, op)
  for _, phase in ipairs(phases_of(steps, kind, op)) do
    for _, query in ipairs { phase.low, phase.high } do
      if not pcall(steps.database.lookup, steps.database, query) then return false end
    end
  end
  return true
end

--- The kind that an engine chooses. TensorRT-LLM's tokens travel where NVLink joins more than a node, and where there
--- are more ranks than a token has experts.
local function own_kind(steps, engine, op)
  if engine.exchange == "gathered" or steps.hardware.domain_gpus <= 8 or steps.ranks <= op.rows_per_token then
    return "gathered"
  end
  for _, kind in ipairs { engine.exchange, "deepep" } do
    if is_measured(steps, kind, op) then return kind end
  end
  return "gathered"
end

--- How a bound step model exchanges tokens; nil where they are gathered.
--- @param steps steps.Kernels
--- @param engine table values of an engine (scripts/engines)
--- @param layers table of cost.layers
function exchange.of(steps, engine, layers)
  if steps.dp == 1 or steps.moe_tp > 1 then return nil end
  for _, op in ipairs(layers) do
    if op.op == "grouped_gemm" then
      local kind = steps.exchange == "own" and own_kind(steps, engine, op) or steps.exchange
      if kind == "gathered" then return nil end
      if not is_measured(steps, kind, op) then
        error(("steps.kernels: exchange = \"%s\": no rows of expert_exchange for it on %s"):format(kind,
          steps.hardware.name), 0)
      end
      local own = { steps = steps, phases = phases_of(steps, kind, op) }
      if kind == "deepep" then
        for _, layout in ipairs { "contiguous", "masked" } do
          own[layout] = sorted_experts.of(steps, layout, op, experts.of(steps, op))
        end
      end
      return setmetatable(own, exchange)
    end
  end
end

--- Whether a step of so many tokens on all ranks runs in a CUDA graph, with kernels of low latency.
function exchange:is_small(rows) return math.max(1, rows / self.steps.ranks) <= self.steps.graph_tokens end

--- The rows of experts for a step with so many tokens on all ranks; nil where those of all steps answer.
function exchange:experts(rows)
  return self:is_small(rows) and self.masked or not self:is_small(rows) and self.contiguous or nil
end

--- Time of an operation of cost.layers.
--- @param rows number tokens of all ranks
--- @param there number? of these, without padding
function exchange:price(op, rows, there)
  local steps, time_s = self.steps, 0
  there = math.max(1, (there or rows) * steps.fullest / steps.ranks)
  local tokens, is_small = math.max(1, rows * steps.fullest / steps.ranks), self:is_small(rows)
  for _, phase in ipairs(self.phases) do
    local query, key = is_small and phase.low or phase.high, is_small and phase or phase.high_key
    query.tokens = steps.bounds:rows_to_run(key, tokens, query)
    time_s = time_s + cost.lookup(steps.database, query, op.count, phase.name)
    if cost.listening() then cost.counted { field = "tokens", there = there, asked = query.tokens } end
  end
  return time_s
end

return exchange
