--- What a whole attention module takes beyond its parts, where rows time the module of a kind: projections, norms,
--- rope, cache write, index, selection and attention of one layer (dsa_module_decode; engine/cost/ops/declared.cpp).
---
---     excess(n, tokens) = module(n, tokens) - module_eager_s - projections(n) - attention - index      at least 0
---
--- A decode costs its parts, and the excess as an operation of its own, with the evidence of the rows. A step with
--- prompts has it too: its decodes run the same kernels. The excess is priced on a monotone grid, so that more never
--- costs less. It is mostly a constant of each layer: kernels of the index and of the selection that no part prices.
---
--- Rows of prompts are not used: those of DSA were timed eagerly (a layer of 128 tokens takes 3.7 ms), and all of them
--- have hardly a context before the prompt. Rows of DeepSeek-V4 and MiniMax-M3 agree with the sum of the parts
--- (tests/scripts/modules_test.lua), which therefore stays.
local cost = require "rooflua.cost"
local monotone = require "steps.kernels.monotone"
local ops = require "steps.kernels.ops"

local modules = {}
modules.__index = modules

local max = math.max

--- The question to the rows of a kind's whole module; nil where no such rows are read.
local function query_of(steps, kind, deployment)
  if kind.kind ~= "latent_sparse" or not kind.index.own then return nil end
  if not steps.database:measures "dsa_module_decode" then return nil end
  return { op = "dsa_module_decode", dtype = deployment.formats.attention, hidden_size = steps.model.hidden_size,
           heads = kind.heads, tp = deployment.tp, kv_dtype = deployment.kv, batch = 16, context_tokens = 8192 }
end

--- @param steps steps.Kernels
--- @param attention steps.kernels.Attention the same kind, whose decodes this excess is added to
--- @param parts table operations of cost.layers that a module's rows contain beside attention
--- @return table|false
function modules.of(steps, attention, kind, deployment, parts)
  local query = query_of(steps, kind, deployment)
  if not query or not pcall(steps.database.lookup, steps.database, query) then return false end
  local self = setmetatable({ steps = steps, attention = attention, query = query, layers = attention.layers,
                              name = (attention.decode_name:gsub("decode", "module")) }, modules)
  self.projections = self:price_projections(parts)
  self.calls = monotone.of(function(n, tokens) return self:excess(n, tokens) end, 1)
  return self
end

--- Time of a layer's projections and small kernels, at the numbers of requests of the grid. It is no part of the step:
--- the ledger does not see it.
function modules:price_projections(parts)
  local out = {}
  for i, n in ipairs(monotone.requests) do
    out[i] = cost.explain(function()
      local time_s = 0
      for _, op in ipairs(parts) do time_s = time_s + ops.price(self.steps, op, n) end
      return time_s
    end).time_s / self.layers
  end
  return out
end

--- What n decodes with so many tokens together take beyond the parts, in one layer.
function modules:excess(n, tokens)
  local query, attention, index = self.query, self.attention, self.attention.index
  query.batch, query.context_tokens = n, tokens / n
  local _, estimate = self.steps.database:lookup(query)
  local module_s, evidence = estimate.latency_s, estimate.evidence
  local parts_s = self.projections[monotone.place(n)] + attention.decode_calls:at(n, math.min(tokens, n * index.topk))
  if tokens > n * index.topk then parts_s = parts_s + index:time(tokens, tokens) end
  return max(0, module_s - self.steps.module_eager_s - parts_s), evidence
end

--- @param n integer decodes
--- @param all number tokens of their contexts
function modules:decode(n, all)
  local excess_s, evidence = self.calls:at(n, all)
  local note = monotone.note(n, all)
  return cost.record(self.name, excess_s, evidence, self.layers, 0, 0, 0, "memory", note, self.query.op)
end

return modules
