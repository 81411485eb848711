--- One factor on decode attention, for contexts that differ within a batch and scattered KV blocks.
local policy = require "rooflua.policy"

---@class corrections.DecodeMultiplier
---@field multiplier number
local DecodeMultiplier = policy.define {
  name = "decode_multiplier",
  doc = "Multiplies the time of decode attention.",
  params = {
    multiplier = {
      default = 1.0, unit = "1", min = 0,
      doc = "Factor; 1 changes nothing, 1.7 to 2 is the cost of reading paged KV at half the bandwidth.",
    },
  },
}

DecodeMultiplier.reads_work = false -- of an operation: shape, flop, bytes, mfu and bound are not made

function DecodeMultiplier:op(op, time_s)
  if op.kind ~= "attention_decode" and op.kind ~= "mla_decode" then return time_s end
  return time_s * self.multiplier
end

return DecodeMultiplier
