--- InferSim on a serving batch: the layer of its static model prices each prefill by itself, and all decodes
--- together at their mean context.
---
---     prefill of t tokens after p:   attention 4 h D t (p+t) / divisor at the prefill MFU of t, at
---                                    least its KV load; projections at m = t
---     n decodes:                     attention at the decode MFU of (n, mean context), at least the
---                                    KV load; projections at m = n, or their tokens where they bring drafts
---     the step:                      one FFN over all tokens, at least one layer's weights over
---                                    bandwidth; an all-reduce where tp > 1
---
--- The sum is multiplied by the layers; 30 ms are added with a prefill, else 5 ms.
--- Source: the design plan that brought InferSim's tables into inference-sim (487017bc); docs/MODELS.md.
local cost = require "rooflua.cost"
local gemms = require "steps.infersim.gemms"
local lookups = require "steps.infersim.lookups"
local static = require "steps.infersim.static"

local serving = {}
serving.__index = serving

--- The shape as `explain` prints it; nil where it is not read.
local function text(format, ...)
  if cost.shapes_wanted() then return format:format(...) end
end

--- @param run infersim.Run prepared
--- @param layers integer layers that a step counts
function serving.new(run, layers)
  local self = setmetatable({ run = run, layers = layers }, serving)
  local shape = run.shape
  local whole = shape.layers / layers  -- where the plan counts one layer, it also divides bytes by the layers
  run.kv_bytes_per_layer, run.expert_bytes = run.kv_bytes_per_layer / whole, run.expert_bytes / whole
  self.prefill_core_asked, self.decode_core_asked = lookups.core_of(run, false), lookups.core_of(run, true)
  self.projection_time = cost.memoize(function(m)
    local asked = run.prefill_asked
    local mfu = asked:ask(m, 1)
    return cost.record("projections", gemms.projections(run, mfu, m, {}), asked:evidence "o", layers,
                       m * gemms.flop_per_row(run), nil, nil, "compute", nil, "gemm", text("m=%.14g", m))
  end)
  self.ffn_time = {}
  for _, phase in ipairs { "prefill", "decode" } do
    local asked = run[phase .. "_asked"]
    self.ffn_time[phase] = cost.memoize(function(m)
      local mfu = asked:ask(m, 1)
      local out = run[phase]
      local time_s = static.ffn(run, out, mfu, m)
      return cost.record("ffn", time_s, asked:evidence "experts", layers, m * run.expert_gflop_per_token * 1e9,
                         out.experts_traffic_s * run.memory_bytes_per_s, out.experts_mfu,
                         out.experts_traffic_s > out.experts_arithmetic_s and "memory" or "compute", nil,
                         shape.moe and "grouped_gemm" or "gemm", text("tokens=%.14g", m))
    end)
  end
  return self
end

--- Attention core of one chunk, all layers.
function serving:prefill_core(t, p)
  local run, asked = self.run, self.prefill_core_asked
  local all = asked:ask(0, t)
  local mfu = all.core
  local gflop = run.prefill_gflop_per_pair * t * (p + t)
  local arithmetic = gflop / run.literals.causal_divisor / (run.core_gflop_per_s * mfu)
  local bytes = run.kv_bytes_per_layer * (p + t)
  local traffic = bytes / run.memory_bytes_per_s
  local time_s = cost.record("attention_prefill", math.max(arithmetic, traffic), asked:evidence "core",
                             self.layers, gflop * 1e9, bytes, mfu, traffic > arithmetic and "memory" or "compute", nil,
                             "attention_prefill", text("new=%.14g context=%.14g", t, p))
  return time_s
end

--- Attention core of all decodes, all layers.
--- @param tokens integer new ones of all decodes
function serving:decode_core(n, context_tokens, tokens)
  local run, asked = self.run, self.decode_core_asked
  local context = math.max(1, math.floor(context_tokens / n))
  local mfu = asked:ask(n, context)
  local core_s = static.decode_core(run, run.decode, mfu.core, n, context, tokens / n)
  local out = run.decode
  local time_s = cost.record("attention_decode", core_s, asked:evidence "core", self.layers,
                             tokens * context * run.decode_gflop_per_pair * 1e9, n * context * run.kv_bytes_per_layer,
                             out.core_mfu, out.core_traffic_s > out.core_arithmetic_s and "memory" or "compute", nil,
                             "attention_decode", text("batch=%.14g context=%.14g", n, context))
  return time_s
end

function serving:time(batch)
  local prefills, decodes, tokens = batch.prefills, batch.decodes, batch.tokens
  local run, time_s = self.run, 0
  local prefilling = #prefills > 0
  for i = 1, #prefills do
    local prefill = prefills[i]
    local t = prefill.new_tokens
    time_s = time_s + self:prefill_core(t, prefill.context_tokens) + self.projection_time(t)
  end
  if decodes > 0 then
    local new_tokens = batch.decode_tokens
    time_s = time_s + self:decode_core(decodes, batch.decode_context_tokens, new_tokens)
      + self.projection_time(new_tokens)
  end
  time_s = time_s + self.ffn_time[prefilling and "prefill" or "decode"](tokens)
  local all_reduce_s = tokens * run.all_reduce_s
  if all_reduce_s > 0 then
    time_s = time_s + cost.record("all_reduce", all_reduce_s, "modelled", self.layers, nil, nil, nil, "link")
  end
  local overhead_ms = prefilling and run.literals.prefill_overhead_ms or run.literals.decode_overhead_ms
  return time_s + cost.record("overhead", overhead_ms / 1000, "assumed")
end

return serving
