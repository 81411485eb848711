--- Work that the file of a kind of layers declares (ask.compute, ask.read): sums of a step's symbols, whose factors
--- cost.layers gives. No Lua of the file runs here.
---
---     tokens, requests   of the step
---     pairs              of a new token and a token that it computes with, as far as the bound goes (pairs.lua)
---     context            tokens that are read of the caches: of a decode its pairs, of a prompt its bound and chunk
---
--- No table measures such kernels. Flop run at the operation's own mfu, or else at state_space_mfu, bytes move at the
--- bandwidth of small kernels, or over the link of the host, and a launch is added. The evidence is assumed.
local cost = require "rooflua.cost"
local pairs_of = require "steps.kernels.pairs"

local declared = {}
declared.__index = declared

local min = math.min

--- Counts of a bound: tokens that the decodes of a batch compute with, pairs of a chunk, and tokens that it reads.
local function counts_of(bound)
  local form, n = bound.form, bound.tokens
  if form == "chunk" then
    return function(batch) return (batch:chunk_tokens(n)) end, function(t, p) return pairs_of.chunk(t, p, n) end,
      function(t, p) return min(t + p, n + t) end
  elseif form == "none" then
    return function(batch) return batch.decode_context_tokens + batch.decodes end, pairs_of.full,
      function(t, p) return t + p end
  end
  return function(batch) return (batch:bounded_tokens(n)) end, function(t, p) return pairs_of.window(t, p, n) end,
    function(t, p) return min(t + p, n + t) end
end

--- @param steps steps.Kernels
--- @param op table one of cost.layers
function declared.of(steps, op)
  local self = setmetatable({ steps = steps, op = op }, declared)
  self.decode_tokens, self.pairs, self.read_tokens = counts_of(op.bound)
  self.mfu = op.mfu > 0 and op.mfu or steps.state_space_mfu
  self.peak = steps.bounds:peak(op.dtype)
  self.bandwidth = op.from_host and steps.bounds:host_bandwidth(op.name)
    or steps.hardware.memory_bytes_per_s * steps.small_kernel_bandwidth
  self.note = op.from_host and "bytes over the link of the host" or op.mfu > 0 and "mfu of the kind's file"
    or "state_space_mfu"
  return self
end

local function value(sum, tokens, requests, pairs, context)
  return sum.one + sum.tokens * tokens + sum.requests * requests + sum.pairs * pairs + sum.context * context
end

--- Time of all layers of the kind in a step.
function declared:batch_time(batch)
  local op, tokens, pairs, context = self.op, batch.decode_tokens, 0, 0
  local prefills, decodes = batch.prefills, batch.decodes
  if decodes > 0 then
    context = self.decode_tokens(batch)
    pairs = context * (batch.decode_tokens / decodes)
  end
  for i = 1, #prefills do
    local t, p = prefills[i].new_tokens, prefills[i].context_tokens
    tokens, pairs, context = tokens + t, pairs + self.pairs(t, p), context + self.read_tokens(t, p)
  end
  local requests = decodes + #prefills
  local flop = value(op.flop, tokens, requests, pairs, context)
  local bytes = value(op.bytes, tokens, requests, pairs, context)
  local time_s, bound = cost.roofline(flop, bytes, self.peak, self.mfu, self.bandwidth)
  time_s, bound = time_s + self.steps.small_kernel_s, op.from_host and "link" or bound
  local shape = cost.shapes_wanted()
    and ("tokens=%.14g requests=%.14g pairs=%.14g context=%.14g"):format(tokens, requests, pairs, context) or nil
  return (cost.record(op.name, time_s, "assumed", op.count, flop, bytes, flop / (time_s * self.peak), bound, self.note,
                      "linear_attention", shape))
end

return declared
