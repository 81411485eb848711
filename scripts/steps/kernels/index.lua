--- The scores of an index, which selects the tokens that sparse attention computes with: two flop per head, element
--- and token before a new one, and every entry of the index is read, one for each token, or for `ratio` tokens of a
--- compressed cache. The projections in front of it are GEMMs of cost.layers.
---
---     latent_sparse, compressed   entries of FP8 with an fp32 scale; fp32 scores, written once and read twice
---     block_sparse                entries of 16 bit, whatever the KV cache is; a block keeps its largest score only
---
--- Scores run at index_mfu, traffic at the efficiency of modelled kernels. Published rows of whole modules agree: the
--- bytes per token that they grow by, at full bandwidth, are 170 to 210 of DeepSeek-V3.2 (here 164) and 275 to 310 of
--- MiniMax-M3 (here 291), on H200 and B200 (tests/scripts/steps/kind_constants_test.lua).
--- Nothing is scored while every token is selected, as far as contexts are known one by one: of a batch whose contexts
--- are known in sum only, all are scored. No table measures the scores alone.
local cost = require "rooflua.cost"

local index = {}
index.__index = index

local score_bytes = 3 * 4

--- @param steps steps.Kernels
--- @param kind table one of model.attention
--- @return table|false
function index.of(steps, kind, layers, suffix)
  local own = kind.index
  if not own or not own.own then return false end
  local blocks = kind.kind == "block_sparse"
  local ratio = kind.compression and kind.compression.ratio or 1
  return setmetatable({
    steps = steps, layers = layers, name = "index_scores" .. suffix, topk = own.topk * (blocks and own.block or ratio),
    flop_per_token = 2 * own.heads * own.head_dim / ratio,
    bytes_per_token = (blocks and 2 * own.head_dim or own.head_dim + 4) / ratio,
    bytes_per_pair = blocks and 0 or score_bytes / ratio, dtype = blocks and "bf16" or "fp8",
    bandwidth = steps.hardware.memory_bytes_per_s * steps.hardware.constants.memory_efficiency,
  }, index)
end

--- Time of a layer, and what it computes and reads.
--- @param pairs number scores: of a new token with a token before it
--- @param tokens number tokens whose entries are read
function index:time(pairs, tokens)
  local steps = self.steps
  local flop, bytes = pairs * self.flop_per_token, tokens * self.bytes_per_token + pairs * self.bytes_per_pair
  local time_s, bound = cost.roofline(flop, bytes, steps.bounds:peak(self.dtype), steps.index_mfu, self.bandwidth)
  return time_s + 2 * steps.small_kernel_s, bound, flop, bytes
end

function index:price(pairs, tokens)
  local time_s, bound, flop, bytes = self:time(pairs, tokens)
  local mfu = flop / (time_s * self.steps.bounds:peak(self.dtype))
  return cost.record(self.name, time_s, "assumed", self.layers, flop, bytes, mfu, bound,
                     "index_mfu; scores, and the selection", "index")
end

--- @param all number tokens of the decodes together
function index:decode(batch, all)
  local selected, exact = batch:bounded_tokens(self.topk)
  if exact and selected >= all then return 0 end
  return self:price(all, all)
end

--- The same for requests that verify drafts: their entries are read once, every query scores its own pairs.
--- @param read number tokens of the requests together, their new ones among them
function index:verify(batch, read)
  local selected, exact = batch:bounded_tokens(self.topk)
  if exact and selected + batch.decode_tokens - batch.decodes >= read then return 0 end
  return self:price(batch.decode_pairs, read)
end

function index:prefill(t, p)
  if t + p <= self.topk then return 0 end
  return self:price(t * p + t * (t + 1) / 2, t + p)
end

return index
