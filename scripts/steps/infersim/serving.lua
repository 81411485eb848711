--- InferSim on a serving batch: the layer of its static model, seen by prefills one by one and by all
--- decodes at their mean context.
---
---     prefill of t tokens behind p:  attention 4 h D t (p+t) / divisor at the prefill MFU of t, at
---                                    least its KV load; projections at m = t
---     n decodes:                     attention at the decode MFU of (n, mean context), at least the
---                                    KV load; projections at m = n
---     the step:                      one FFN over all tokens, at least one layer's weights over
---                                    bandwidth; an all-reduce where tp > 1
---
--- times layers, plus 30 ms with a prefill, else 5 ms.
--- Source: the plan that brought InferSim into a serving simulator; docs/MODELS.md.
local cost = require "rooflua.cost"
local static = require "steps.infersim.static"

local serving = {}
serving.__index = serving

local GiB = 1024 * 1024 * 1024

--- @param layers integer how many layers a step counts
function serving.new(shape, gpu, args, lookups, literals, layers)
  local run = static.prepare(shape, gpu, args, lookups, literals)
  local self = setmetatable({ run = run, layers = layers }, serving)
  local whole = shape.layers / layers  -- the plan divided bytes by this where it counted one layer
  run.kv_bytes_per_layer = run.kv_bytes_per_layer / whole
  run.expert_bytes = run.expert_bytes / whole
  self.projection_time = cost.memoize(function(m)
    local time_s = static.projections(run, m, static.projection_labels.decode)
    return cost.record("projections", time_s, lookups:evidence(), layers, nil, nil, nil, "compute", nil, "gemm")
  end)
  self.ffn_time = {}
  for phase, decode in pairs { prefill = false, decode = true } do
    self.ffn_time[phase] = cost.memoize(function(m)
      local time_s = static.ffn(run, m, decode, static.ffn_labels[phase])
      return cost.record("ffn", time_s, lookups:evidence(), layers, nil, nil, nil, nil, nil,
                         shape.moe and "grouped_gemm" or "gemm")
    end)
  end
  return self
end

--- Attention core of one chunk, all layers.
function serving:prefill_core(t, p)
  local run = self.run
  local s, tp = run.shape, run.args.tp
  local flop_per_pair, mfu
  if s.mla then
    flop_per_pair = 2 * s.heads * (s.nope + s.rope + s.v_head_dim)
    mfu = run.lookups:mla_prefill(s.heads, s.nope, s.rope, t, tp)
  else
    flop_per_pair = 4 * run.heads * s.head_dim
    mfu = run.lookups:attention_prefill(s.heads, s.kv_heads, s.head_dim, t, tp)
  end
  local flop = flop_per_pair * t * (p + t)
  local arithmetic = flop / 1e9 / run.literals.causal_divisor / (run.core_gflop_per_s * mfu)
  local traffic = run.kv_bytes_per_layer * (p + t) / GiB / run.gpu.memory_gib_per_s
  return cost.record("attention_prefill", math.max(arithmetic, traffic), run.lookups:evidence(), self.layers, flop,
                     run.kv_bytes_per_layer * (p + t), mfu, traffic > arithmetic and "memory" or "compute")
end

--- Attention core of all decodes, all layers.
function serving:decode_core(n, context_tokens)
  local run = self.run
  run.batch = n
  run.average_context = math.max(1, math.floor(context_tokens / n))
  local time_s = static.decode_core(run)
  return cost.record("attention_decode", time_s, run.lookups:evidence(), self.layers, nil, nil,
                     run.values["decode/Attn core MFU"])
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
    time_s = time_s + self:decode_core(decodes, batch.decode_context_tokens) + self.projection_time(decodes)
  end
  time_s = time_s + self.ffn_time[prefilling and "prefill" or "decode"](tokens)
  local all_reduce_s = static.all_reduce(run, tokens)
  if all_reduce_s > 0 then
    time_s = time_s + cost.record("all_reduce", all_reduce_s, "modelled", self.layers, nil, nil, nil, "link")
  end
  local overhead_ms = prefilling and run.literals.prefill_overhead_ms or run.literals.decode_overhead_ms
  return time_s + cost.record("overhead", overhead_ms / 1000, "assumed")
end

return serving
