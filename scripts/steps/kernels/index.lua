--- The scores of an index, which selects the tokens that sparse attention computes with: two flop per head, element
--- and token before a new one, in FP8, and every entry of the index is read. The projections in front of it are GEMMs
--- of cost.layers. Nothing is scored while every token is selected, as far as contexts are known one by one: of a batch
--- whose contexts are known in sum only, all are scored. No table measures the scores alone.
local cost = require "rooflua.cost"

local index = {}
index.__index = index

--- @param steps steps.Kernels
--- @param kind table one of model.attention
--- @return table|false
function index.of(steps, kind, layers, suffix)
  local own = kind.index
  if not own or not own.own then return false end
  local ratio = kind.compression and kind.compression.ratio or kind.kind == "block_sparse" and own.block or 1
  return setmetatable({
    steps = steps, layers = layers, name = "index_scores" .. suffix, topk = own.topk * (ratio > 1 and ratio or 1),
    flop_per_token = 2 * own.heads * own.head_dim / ratio, bytes_per_token = (own.head_dim + 4) / ratio,
    dtype = "fp8",
  }, index)
end

function index:price(flop, bytes)
  local steps = self.steps
  local time_s, bound = cost.roofline(flop, bytes, steps.bounds:peak(self.dtype), steps.index_mfu,
                                      steps.hardware.memory_bytes_per_s)
  return cost.record(self.name, time_s + 2 * steps.small_kernel_s, "assumed", self.layers, flop, bytes,
                     steps.index_mfu, bound, "index_mfu; scores, and the selection", "index")
end

--- @param all number tokens of the decodes together
function index:decode(batch, all)
  local selected, exact = batch:bounded_tokens(self.topk)
  if exact and selected >= all then return 0 end
  return self:price(all * self.flop_per_token, all * self.bytes_per_token)
end

function index:prefill(t, p)
  if t + p <= self.topk then return 0 end
  return self:price((t * p + t * (t + 1) / 2) * self.flop_per_token, (t + p) * self.bytes_per_token)
end

return index
