--- What a whole attention module takes beyond its parts, where rows time the module of a kind: projections, norms,
--- rope, cache write, index, selection and attention of one layer (dsa_module_decode; cost/entries/declared.cpp).
---
---     excess(n, tokens) = module(n, tokens) - module_eager_s - projections(n) - attention - index      at least 0
---
--- A decode costs its parts, and the excess as an operation of its own, with the evidence of the rows. A step with
--- prompts has it too: its decodes run the same kernels. The excess is priced on a monotone grid, so that more never
--- costs less. It is mostly a constant of each layer: kernels of the index and of the selection that no part prices.
---
--- Prompts: rows of DSA (dsa_module_prefill) were timed eagerly, so that short prompts take the host's time (a layer of
--- 128 tokens 1.2 to 3.7 ms), and they have hardly a context before the prompt. Of prompts of 16,384 tokens the GPU's
--- time is seen. There a layer takes two to four times the sum of its parts, and from 8,192 to 32,768 tokens the excess
--- of a token stays within 10 %: sparse attention gathers other keys for each query, and pads the few heads of a rank.
---
---     excess(t, p) = tokens of the chunk after the first `topk` x excess(16,384, 0) / (16,384 - topk)
---
--- A prompt of at most topk tokens computes with all of them, and has no excess. Layers that use the selection of
--- another layer have it too. Rows of DeepSeek-V4 and MiniMax-M3 agree with the sum of the parts
--- (tests/scripts/steps/modules_test.lua), which therefore stays.
local cost = require "rooflua.cost"
local monotone = require "steps.kernels.monotone"
local ops = require "steps.kernels.ops"

local modules = {}
modules.__index = modules

local max = math.max
local prompt_tokens = 16384            -- of the row that tells the excess of prompts
local measured_prompts = { 4096, 32768 }  -- between these the rows show the GPU's time

--- The question to the rows of a kind's whole module; nil where no such rows are read.
local function query_of(steps, kind, deployment)
  if kind.kind ~= "latent_sparse" or not kind.index.own then return nil end
  if not steps.database:measures "dsa_module_decode" then return nil end
  return { op = "dsa_module_decode", dtype = deployment.formats.attention, hidden_size = steps.model.hidden_size,
           heads = kind.heads, tp = deployment.tp, kv_dtype = deployment.kv, batch = 16, context_tokens = 8192 }
end

--- @param steps steps.Kernels
--- @param attention steps.kernels.Attention the same kind, whose decodes this excess is added to
--- @param parts table operations of cost.layers that a module's rows contain besides attention
--- @return table|false
local function module_of(steps, attention, kind, deployment, parts)
  local query = query_of(steps, kind, deployment)
  if not query or not pcall(steps.database.lookup, steps.database, query) then return false end
  local self = setmetatable({ steps = steps, attention = attention, query = query, layers = attention.layers,
                              name = (attention.decode_name:gsub("decode", "module")), parts = parts }, modules)
  self.projections = self:price_projections(monotone.requests) -- by number of decodes
  self.calls = monotone.of(function(n, tokens) return self:excess(n, tokens) end, 1)
  return self
end

--- Gives every kind of sparse latent layers the rows of prompts: its own, or those of the kind whose selection it uses.
--- @param kinds table[] attention of each kind of layers
local function share(kinds, model)
  local own
  for _, each in ipairs(kinds) do own = own or each.module end
  for _, each in ipairs(kinds) do
    each.prompt_module = model.attention[each.op.kind].kind == "latent_sparse" and (each.module or own) or false
    each.module_prefill_name = each.prefill_name:gsub("prefill", "module_prefill")
  end
end

--- Finds the rows of whole modules, which contain all operations of their kind of layers.
--- @param kinds table[] attention of each kind of layers
--- @param tokens table[] operations of cost.layers that see all tokens
function modules.bind(steps, kinds, tokens, deployment)
  for _, each in ipairs(kinds) do
    local parts = {}
    for _, op in ipairs(tokens) do
      if op.kind == each.op.kind and op.count == each.layers then parts[#parts + 1] = op end
    end
    each.module = module_of(steps, each, steps.model.attention[each.op.kind], deployment, parts)
  end
  share(kinds, steps.model)
end

--- Time of a layer's projections and small kernels, by number of tokens. It is no part of the step: the ledger does
--- not see it.
function modules:price_projections(rows)
  local out = {}
  for _, n in ipairs(rows) do
    out[n] = cost.explain(function()
      local time_s = 0
      for _, op in ipairs(self.parts) do time_s = time_s + ops.price(self.steps, op, n) end
      return time_s
    end).time_s / self.layers
  end
  return out
end

--- The last point of an axis of the grid at or before n.
local function point_at(n)
  if n < 4 then return math.floor(n) end
  local _, exponent = math.frexp(n)
  local gap = 2 ^ (exponent - 3)
  return math.floor(n / gap) * gap
end

--- What n decodes with so many tokens together take beyond the parts, in one layer.
function modules:excess(n, tokens)
  local query, attention, index = self.query, self.attention, self.attention.index
  query.batch, query.context_tokens = n, tokens / n
  local _, estimate = self.steps.database:lookup(query)
  local module_s, evidence = estimate.latency_s, estimate.evidence
  local parts_s = self.projections[point_at(n)] + attention.decode_calls:at(n, math.min(tokens, n * index.topk))
  if tokens > n * index.topk then parts_s = parts_s + index:time(tokens, tokens) end
  return max(0, module_s - self.steps.module_eager_s - parts_s), evidence
end

--- @param n integer decodes
--- @param all number tokens of their contexts
function modules:decode(n, all)
  local excess_s, evidence = self.calls:at(n, all)
  local note = self.calls:note(n, all)
  return cost.record(self.name, excess_s, evidence, self.layers, 0, 0, 0, "memory", note, self.query.op)
end

--- What a prompt's token after the first topk takes beyond the parts, in one layer; 0 without rows of prompts.
function modules:prompt_excess()
  local steps, attention, query = self.steps, self.attention, {}
  if not steps.database:measures "dsa_module_prefill" then return 0, "modelled" end
  for name, value in pairs(self.query) do query[name] = value end
  query.op, query.batch, query.context_tokens, query.new_tokens = "dsa_module_prefill", 1, 0, prompt_tokens
  local found, _, estimate = pcall(steps.database.lookup, steps.database, query)
  if not found then return 0, "modelled" end
  local parts_s = self:price_projections({ prompt_tokens })[prompt_tokens] + cost.explain(function()
    return (attention:prefill_parts(prompt_tokens, 0, 0))
  end).time_s / self.layers
  local excess_s = max(0, estimate.latency_s - steps.module_eager_s - parts_s)
  local evidence = estimate.evidence == "measured" and "interpolated" or estimate.evidence
  return excess_s / (prompt_tokens - attention.index.topk), evidence
end

--- @param t integer new tokens of a chunk
--- @param p integer tokens before them
--- @param attention table the layers that it is for, of this kind or of one that uses this kind's selection
function modules:prefill(t, p, attention)
  local behind = t + p - max(p, self.attention.index.topk)
  if behind <= 0 then return 0 end
  if not self.prompt_token_s then self.prompt_token_s, self.prompt_evidence = self:prompt_excess() end
  local evidence = self.prompt_evidence
  if t + p < measured_prompts[1] or t + p > measured_prompts[2] then evidence = "extrapolated" end
  return cost.record(attention.module_prefill_name, behind * self.prompt_token_s, evidence, attention.layers, 0, 0, 0,
                     "memory", "excess of rows of 16,384 tokens, per token", "dsa_module_prefill")
end

return modules
