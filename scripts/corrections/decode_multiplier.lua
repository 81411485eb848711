--- One factor on decode attention: batches whose contexts differ, scattered KV blocks.
local policy = require "rooflua.policy"

---@class corrections.DecodeMultiplier
---@field multiplier number
local DecodeMultiplier = policy.define {
  name = "decode_multiplier",
  doc = "Multiplies the time of decode attention.",
  params = {
    multiplier = {
      default = 1.0, unit = "1", min = 0,
      doc = "1 changes nothing; 1.7 to 2 is what paged KV read at half bandwidth would cost.",
    },
  },
}

function DecodeMultiplier:op(op, time_s)
  if op.kind ~= "attention_decode" and op.kind ~= "mla_decode" then return time_s end
  return time_s * self.multiplier
end

return DecodeMultiplier
